import Foundation
import HTTPTypes
import Hummingbird
import TenureAPI
import TenureContent
import TenureCore

/// A published file as RFC 9110 sees it: what to answer to conditions and ranges.
struct ContentRepresentation {
    private let digest: ContentDigest
    private let size: Int64
    private let mediaType: String

    enum Answer {
        /// It has no bytes of the file.
        case without(Response)
        /// The body is still missing, and `Content-Length` says how long it is.
        case bytes(Range<Int64>, Response)
    }

    init(_ file: ContentLink.File, _ digest: ContentDigest, size: Int64) {
        self.digest = digest
        self.size = size
        mediaType =
            switch file {
            case .manifest: "application/json"
            case .archive: "application/x-tar"
            }
    }

    private var tag: EntityTag { EntityTag("\"\(digest)\"") }

    /// In the order of RFC 9110, section 13.2.2. There is no date of modification, so conditions on dates are ignored.
    func answer(to request: Request) -> Answer {
        if let list = request.headers[.ifMatch], !tag.stronglyMatches(list) {
            let problem = Problem(.preconditionFailed, "the file at this path has the entity tag \(tag.text)")
            return .without(withFields(.problem(problem)))
        }
        if tag.weaklyMatches(request.headers[.ifNoneMatch]) {
            return .without(withFields(Response(status: .notModified)))
        }
        switch range(of: request) {
        case .all:
            return .bytes(0..<size, response(.ok, length: size))
        case .part(let range):
            var response = response(.partialContent, length: Int64(range.count))
            response.headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
            return .bytes(range, response)
        case .unsatisfiable:
            let problem = Problem(.rangeNotSatisfiable, "the file has \(size) bytes, and none in this range")
            var response = withFields(.problem(problem))
            response.headers[.contentRange] = "bytes */\(size)"
            return .without(response)
        }
    }

    private func range(of request: Request) -> ByteRange {
        // Ranges are for GET only.
        guard request.method == .get else { return .all }
        if let condition = request.headers[.ifRange], condition != tag.text { return .all }
        return ByteRange(request.headers[.range], size: size)
    }

    private func response(_ status: HTTPResponse.Status, length: Int64) -> Response {
        var response = withFields(Response(status: status))
        response.headers[.contentType] = mediaType
        response.headers[.contentLength] = String(length)
        if let field = Self.representationDigest {
            response.headers[field] = "sha-256=:\(Data(digest.bytes).base64EncodedString()):"
        }
        return response
    }

    private func withFields(_ response: Response) -> Response {
        var response = response
        response.headers[.eTag] = tag.text
        response.headers[.acceptRanges] = "bytes"
        // A shared cache would hand it out after a refund.
        response.headers[.cacheControl] = "private"
        return response
    }

    /// RFC 9530: of the whole file, also in a part.
    private static let representationDigest = HTTPField.Name("Repr-Digest")
}
