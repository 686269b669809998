import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import TenureAPI

extension Request {
    /// A body that says it is JSON, of at most that many bytes.
    ///
    /// Throws a problem: another media type, too large.
    func json(upTo limit: Int) async throws -> Data {
        if let type = headers[.contentType], !type.lowercased().hasPrefix("application/json") {
            throw Problem(.unsupportedMediaType, "send `application/json`")
        }
        let tooLarge = Problem(.tooLarge, "the body is larger than \(limit) bytes")
        // Who says so beforehand need not send it.
        if let length = headers[.contentLength].flatMap({ Int($0) }), length > limit { throw tooLarge }
        do {
            let buffer = try await body.collect(upTo: limit)
            return Data(buffer.readableBytesView)
        } catch is NIOTooManyBytesError {
            throw tooLarge
        }
    }

    /// Reads a body of that shape. Throws a problem that names the field that is wrong.
    func decoded<Body: Decodable>(_ type: Body.Type, upTo limit: Int) async throws -> Body {
        let data = try await json(upTo: limit)
        do {
            return try JSONDecoder().decode(Body.self, from: data)
        } catch DecodingError.keyNotFound(let key, let context) {
            throw Problem(.malformedRequest, "`\((context.codingPath + [key]).text)` is missing")
        } catch let DecodingError.typeMismatch(_, context), let DecodingError.valueNotFound(_, context) {
            throw Problem(.malformedRequest, "`\(context.codingPath.text)` has the wrong shape")
        } catch DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty {
            throw Problem(.malformedRequest, "`\(context.codingPath.text)` cannot be read")
        } catch {
            throw Problem(.malformedRequest, "the body is no JSON object")
        }
    }
}
