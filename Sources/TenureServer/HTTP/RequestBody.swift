import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import TenureAPI
import TenureJSON

/// Reads the body of a request, with limits on its size and on the memory of all bodies.
extension Request {
    /// The maximum number of names in a JSON body. The largest valid bodies have some dozens. Checking and decoding
    /// hundreds of thousands would occupy a thread for half a second.
    private static let maximumNames = 1000

    /// Reads a JSON body of at most `limit` bytes: UTF-8, without duplicate names or NULs, and with at most
    /// 1000 names.
    ///
    /// Throws a problem if the body has another media type, is compressed, is too large or isn't such JSON. Also throws
    /// `busy` if all bodies together take too much memory (`BodyBudget`).
    ///
    /// - Parameter isNotification: Whether the App Store sends the body. Its media type is then checked leniently, and
    ///   its memory is limited like the memory of a small body.
    func json(upTo limit: Int, in context: ServiceContext, isNotification: Bool = false) async throws -> Data {
        guard headers.saysJSON(isLenient: isNotification) else {
            throw Problem(
                .unsupportedMediaType, "the media type isn't supported; send `Content-Type: application/json`")
        }
        // A small compressed body can expand to more bytes than the limit. So no compressed body is accepted.
        if let encoding = headers[.contentEncoding], encoding.lowercased() != "identity" {
            throw Problem(.unsupportedMediaType, "the body is compressed; send it without `Content-Encoding`")
        }
        if let coding = headers[.transferEncoding], coding.lowercased() != "chunked" {
            throw Problem(
                .unsupportedMediaType,
                "the body may be compressed; send it with `Transfer-Encoding: chunked`, or without that header")
        }
        let tooLarge = Problem(.tooLarge, "the body is too large; send at most \(limit) bytes")
        // If the header says that the body is too large, the service doesn't have to read the body.
        if let length = headers[.contentLength].flatMap({ UInt64($0) }), length > limit { throw tooLarge }
        var buffer = ByteBuffer()
        let (budget, channel) = (context.bodies, context.channel)
        let reservation = budget.open(for: context.peer?.address?.ofClient, isNotification: isNotification) {
            channel.closeTransport()
        }
        defer { budget.close(reservation) }
        // A client that waits for status 100 gets it only now, because a refused body must not be sent.
        if headers[.expect] != nil { channel.triggerUserOutboundEvent(BodyWanted(), promise: nil) }
        for try await chunk in body {
            let count = chunk.readableBytes
            guard buffer.readableBytes + count <= limit else { throw tooLarge }
            guard budget.reserve(count, for: reservation) else {
                throw Problem(.busy, "the service is receiving too much data; send the request again", retryAfter: 1)
            }
            buffer.writeImmutableBuffer(chunk)
        }
        if let error = StrictJSON.error(in: buffer.readableBytesView, maximumNames: Self.maximumNames) {
            let form = isNotification ? "a notification of version 2" : "a JSON object"
            throw Problem(.malformedRequest, "the body must be \(form): \(error)")
        }
        return Data(buffer.readableBytesView)
    }

    /// Reads a JSON body of this type. If a field is invalid, missing or unknown, throws a problem with the field's
    /// name.
    func decoded<Body: AdminRequest>(
        _ type: Body.Type, upTo limit: Int, in context: ServiceContext
    ) async throws -> Body {
        let data = try await json(upTo: limit, in: context)
        do {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .custom { decoder in
                let container = try decoder.singleValueContainer()
                guard let date = Date(rfc3339: try container.decode(String.self)) else {
                    throw DecodingError.dataCorruptedError(in: container, debugDescription: "not as in RFC 3339")
                }
                return date
            }
            return try decoder.decode(Exact<Body>.self, from: data).body
        } catch let problem as Problem {
            throw problem
        } catch DecodingError.keyNotFound(let key, let context) {
            throw Problem(.malformedRequest, "`\((context.codingPath + [key]).text)` is missing; add it")
        } catch let DecodingError.typeMismatch(type, context), let DecodingError.valueNotFound(type, context) {
            throw Problem(wrongType: type, at: context.codingPath)
        } catch DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty {
            let fix = "write dates such as 2026-11-20T12:00:00Z, and numbers without a fraction"
            throw Problem(.malformedRequest, "`\(context.codingPath.text)` is invalid; \(fix)")
        } catch {
            throw Problem(.malformedRequest, "the body must be a JSON object")
        }
    }
}

extension HTTPFields {
    /// Whether the body's media type is JSON, with any parameters (RFC 9110, section 8.3).
    ///
    /// - Parameter isLenient: Whether to accept a missing type too, and all types that begin with `application/json`.
    ///   The App Store chooses the type of its notifications, and a refused notification may be lost.
    fileprivate func saysJSON(isLenient: Bool) -> Bool {
        guard let field = self[.contentType] else { return isLenient }
        let type = field.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
        return type == "application/json" || (isLenient && type.hasPrefix("application/json"))
    }
}

/// The body of a request to the admin API. Unknown fields are mistakes: for example, without this rule, a grant with
/// the misspelled field `untill` would be permanent.
protocol AdminRequest: Decodable {
    associatedtype CodingKeys: CodingKey & CaseIterable
}

/// Decodes a body, and rejects fields that the body's type doesn't have.
private struct Exact<Body: AdminRequest>: Decodable {
    let body: Body

    init(from decoder: any Decoder) throws {
        let fieldNames = Body.CodingKeys.allCases.map(\.stringValue)
        let sentNames = try decoder.container(keyedBy: AnyCodingKey.self).allKeys.map(\.stringValue)
        if let unknown = sentNames.sorted().first(where: { !fieldNames.contains($0) }) {
            let fields = fieldNames.map { "`\($0)`" }.joined(separator: ", ")
            throw Problem(.malformedRequest, "there is no field `\(unknown.prefix(64))`; the fields are \(fields)")
        }
        body = try Body(from: decoder)
    }
}
