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
}
