import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import TenureAPI
import TenureAppStore
import TenureJSON

extension Request {
    /// A body that says it is JSON and is, of at most that many bytes: UTF-8, without duplicate names or NULs.
    ///
    /// Throws a problem: another media type, too large, too slow when too much is sent at once, or no such JSON.
    func json(upTo limit: Int, in context: ServiceContext, isNotification: Bool = false) async throws -> Data {
        if let type = headers[.contentType], !type.lowercased().hasPrefix("application/json") {
            throw Problem(.unsupportedMediaType, "send `application/json`")
        }
        let tooLarge = Problem(.tooLarge, "the body is larger than \(limit) bytes")
        // Who says so beforehand need not send it.
        if let length = headers[.contentLength].flatMap({ Int($0) }), length > limit { throw tooLarge }
        var buffer = ByteBuffer()
        let (budget, channel) = (context.bodies, context.channel)
        let held = budget.open(for: context.peer?.address?.ofClient, isNotification: isNotification) {
            channel.close(promise: nil)
        }
        defer { budget.close(held) }
        for try await chunk in body {
            let count = chunk.readableBytes
            guard buffer.readableBytes + count <= limit else { throw tooLarge }
            guard budget.take(count, for: held) else {
                throw Problem(.busy, "too much is being sent at once; send it again", retryAfter: 1)
            }
            buffer.writeImmutableBuffer(chunk)
        }
        if let error = StrictJSON.error(in: buffer.readableBytesView) {
            throw Problem(.malformedRequest, "the body must be a JSON object: \(error)")
        }
        return Data(buffer.readableBytesView)
    }

    /// Reads a body of this type. Throws a problem that names the invalid, missing or unknown field.
    func decoded<Body: AdminRequest>(
        _ type: Body.Type, upTo limit: Int, in context: ServiceContext
    ) async throws -> Body {
        let data = try await json(upTo: limit, in: context)
        do {
            return try JSONDecoder().decode(Exact<Body>.self, from: data).body
        } catch let problem as Problem {
            throw problem
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

/// The body of a request to the admin API. Unknown fields are mistakes: `untill` would make a grant permanent.
protocol AdminRequest: Decodable {
    associatedtype CodingKeys: CodingKey & CaseIterable
}

/// Rejects fields that the body doesn't have.
private struct Exact<Body: AdminRequest>: Decodable {
    let body: Body

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        let known = Body.CodingKeys.allCases.map(\.stringValue)
        let names = try decoder.container(keyedBy: Name.self).allKeys.map(\.stringValue)
        if let unknown = names.sorted().first(where: { !known.contains($0) }) {
            let fields = known.map { "`\($0)`" }.joined(separator: ", ")
            throw Problem(.malformedRequest, "there is no field `\(unknown.prefix(64))`; there are \(fields)")
        }
        body = try Body(from: decoder)
    }
}
