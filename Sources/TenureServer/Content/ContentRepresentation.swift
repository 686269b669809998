import Foundation
import HTTPTypes
import Hummingbird
import TenureAPI
import TenureContent

/// The HTTP responses for a published file, with conditions and ranges as in RFC 9110.
struct ContentRepresentation {
    let file: ContentLink.File
    let digest: ContentDigest
    let size: Int64

    private var tag: EntityTag { EntityTag("\"\(digest)\"") }

    /// Returns the response to a request, and which bytes of the file the caller must send as its body. If the response
    /// has no bytes of the file, `bytes` is nil; otherwise `Content-Length` is set.
    ///
    /// Evaluates the conditions in the order of RFC 9110, section 13.2.2. Files have no modification date, so
    /// conditions on dates are ignored.
    func answer(to request: Request) -> (response: Response, bytes: Range<Int64>?) {
        if let list = request.headers[.ifMatch], !tag.stronglyMatches(list) {
            let problem = Problem(
                .preconditionFailed, "the file at this path has the entity tag \(tag.text); download it from its start")
            return (withFields(.problem(problem)), nil)
        }
        if tag.weaklyMatches(request.headers[.ifNoneMatch]) {
            return (withFields(Response(status: .notModified)), nil)
        }
        switch range(of: request) {
        case .all: return (response(.ok, length: size), 0..<size)
        case .part(let range):
            var response = response(.partialContent, length: Int64(range.count))
            response.headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
            return (response, range)
        case .unsatisfiable:
            let problem = Problem(
                .rangeNotSatisfiable, "the file has \(size) bytes, and none in this range; ask for an earlier range")
            var response = withFields(.problem(problem))
            response.headers[.contentRange] = "bytes */\(size)"
            return (response, nil)
        }
    }

    /// The bytes that the request asks for. `If-Range` with another tag means that the client has a part of another
    /// file, so the client gets the whole file.
    private func range(of request: Request) -> ByteRange {
        // Ranges are for GET only.
        guard request.method == .get else { return .all }
        if let condition = request.headers[.ifRange], condition != tag.text { return .all }
        return ByteRange(request.headers[.range], size: size)
    }

    private func response(_ status: HTTPResponse.Status, length: Int64) -> Response {
        var response = withFields(Response(status: status))
        response.headers[.contentType] = file == .manifest ? "application/json" : "application/x-tar"
        response.headers[.contentLength] = String(length)
        if let field = Self.representationDigest {
            response.headers[field] = "sha-256=:\(Data(digest.bytes).base64EncodedString()):"
        }
        return response
    }

    /// Adds the header fields that every response about a file has.
    private func withFields(_ response: Response) -> Response {
        var response = response
        response.headers[.eTag] = tag.text
        response.headers[.acceptRanges] = "bytes"
        // A shared cache would send the file to the customer even after a refund.
        response.headers[.cacheControl] = "private"
        return response
    }

    /// The digest of the whole file, even in a response with a part of it (RFC 9530).
    private static let representationDigest = HTTPField.Name("Repr-Digest")
}
