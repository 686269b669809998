import HTTPTypes
import Hummingbird
import TenureAPI
import TenureJSON

/// Responds with 404 to every spelling of a path except the canonical spelling.
///
/// Hummingbird ignores repeated and trailing slashes. A proxy that blocks `/v1/admin` compares strings, so `//v1/admin`
/// would get past it.
struct PathSpelling: ServiceMiddleware {
    func handle(_ request: Request, context: ServiceContext, next: Next) async throws -> Response {
        let target = (request.head.path ?? "").utf8
        // The HTTP parser rejects an unescaped NUL.
        guard !Self.escapes(of: target).contains(0) else {
            throw Problem(.malformedRequest, "the path or query contains a NUL (`%00`); remove it")
        }
        // `OPTIONS *` is about the whole service (RFC 9112, section 3.2.4). `RequestHeadCheck` accepts `*` only with
        // OPTIONS, which no route supports.
        if target.elementsEqual("*".utf8) { return .methodNotAllowed(use: HTTPRequest.Method.ofRoutes) }
        guard Self.isCanonical(target.prefix { $0 != UInt8(ascii: "?") }) else { throw HTTPError(.notFound) }
        return try await next(request, context)
    }

    /// Whether a path begins with a slash, has no empty or dot segment, escapes only characters that must be escaped,
    /// and escapes them with uppercase digits (RFC 3986, section 2.1).
    static func isCanonical(_ path: some Collection<UInt8>) -> Bool {
        guard path.first == UInt8(ascii: "/") else { return false }
        let segments = path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard segments.allSatisfy({ !$0.isEmpty && !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8) }) else {
            return false
        }
        return !path.contains(UInt8(ascii: "%"))
            || !escapes(of: path).contains(where: \.isUnreserved) && !hasLowercaseEscape(path)
    }

    /// Whether the path has an escape with a lowercase digit, such as `%2f`.
    private static func hasLowercaseEscape(_ path: some Collection<UInt8>) -> Bool {
        let parts = path.split(separator: UInt8(ascii: "%"), omittingEmptySubsequences: false)
        return parts.dropFirst().contains { part in
            part.prefix(2).contains { (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) }
        }
    }

    /// The bytes that are written as `%` and two hexadecimal digits.
    private static func escapes(of text: some Collection<UInt8>) -> [UInt8] {
        guard text.contains(UInt8(ascii: "%")) else { return [] }
        let bytes = Array(text)
        return bytes.indices.compactMap { index in
            guard bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let high = HexDigit.value(bytes[index + 1]), let low = HexDigit.value(bytes[index + 2])
            else { return nil }
            return high << 4 | low
        }
    }
}
