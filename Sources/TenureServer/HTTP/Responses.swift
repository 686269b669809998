import Foundation
import HTTPTypes
import Hummingbird
import TenureAPI
import TenureJSON

/// The responses that routes return, with their headers.
extension Response {
    /// A response with JSON that no cache may store, because the response belongs to one customer and changes.
    static func json(
        _ json: borrowing JSONWriter, status: HTTPResponse.Status = .ok, mediaType: String = "application/json"
    ) -> Response {
        json.withBytes { answer(ByteBuffer(bytes: $0), status: status, mediaType: mediaType) }
    }

    /// A response with the JSON that `body` writes, which no cache may store.
    static func json(capacity: Int = 1024, _ body: (inout JSONWriter) -> Void) -> Response {
        var json = JSONWriter(capacity: capacity)
        body(&json)
        return .json(json)
    }

    /// A response with a JSON object of the fields that `body` writes, which no cache may store.
    static func jsonObject(capacity: Int = 1024, _ body: (inout JSONWriter) -> Void) -> Response {
        json(capacity: capacity) { $0.object(body) }
    }

    /// A response with the JSON of a value, which no cache may store. The names are sorted.
    static func encoded(_ value: some Encodable) throws -> Response { .json(try JSONEncoder.sorted.encode(value)) }

    /// A response with finished JSON, which no cache may store.
    static func json(_ bytes: some Sequence<UInt8>) -> Response {
        answer(ByteBuffer(bytes: bytes), status: .ok, mediaType: "application/json")
    }

    private static func answer(_ body: ByteBuffer, status: HTTPResponse.Status, mediaType: String) -> Response {
        var headers = HTTPFields()
        headers.reserveCapacity(3)
        headers.append(HTTPField(name: .contentType, value: mediaType))
        headers.append(HTTPField(name: .cacheControl, value: "no-store"))
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: body))
    }

    /// A response with text of this media type, which no cache may store.
    static func text(_ text: String, mediaType: String) -> Response {
        answer(ByteBuffer(string: text), status: .ok, mediaType: mediaType)
    }

    /// A response with a problem as its body, and with the problem's status and headers.
    static func problem(_ problem: Problem) -> Response {
        var json = JSONWriter()
        json.value(problem)
        var response = Response.json(
            json, status: HTTPResponse.Status(code: problem.code.status), mediaType: Problem.mediaType)
        if problem.code == .notAuthenticated { response.headers[.wwwAuthenticate] = "Bearer" }
        if let seconds = problem.retryAfter { response.headers[.retryAfter] = String(seconds) }
        return response
    }
}
