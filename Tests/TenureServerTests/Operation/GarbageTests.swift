import CommandRunner
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import TenureAPI
import TenureAppStore
import Testing

@testable import TenureServer

/// Throws rubbish at every route that the document names: what comes back is always an answer that it describes.
@Suite struct garbage {
    private static let rounds = ProcessInfo.processInfo.environment["TENURE_SOAK"] == nil ? 50 : 2000

    @Test func `on every route is answered with a problem, never with a failure`() async throws {
        let document = try InterfaceDocument()
        let seed = UInt64.random(in: .min ... .max)
        try await withService({
            $0.metrics = .open
            $0.limits.bodySize = 100_000
        }) { client in
            var rubbish = Rubbish(seed: seed)
            for operation in document.operations {
                // Where nothing is read but a head, less can go wrong.
                let takesMore = operation.fields["requestBody"] != nil || operation.path.contains("{")
                for _ in 0..<(takesMore ? Self.rounds : Self.rounds / 5) {
                    let (path, headers, body) = rubbish.request(for: operation, in: document)
                    let method = try #require(HTTPRequest.Method(operation.method))
                    let response = try await client.http.execute(
                        uri: path, method: method, headers: headers, body: body
                    ) { $0 }
                    let told = "seed \(seed): \(operation.name) \(path) gave \(response.status)"
                    #expect(response.status.code < 500, "\(told)")
                    #expect(response.status.kind == .successful || response.status.kind == .clientError, "\(told)")
                    #expect(document.mistakes(of: response, to: operation) == [], "\(told)")
                }
            }
        }
    }

    @Test(arguments: [
        "\r\n\r\n", "\u{0}\u{1}\u{2}\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
        "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}",
        "GET / HTTP/1.1\r\nA: " + String(repeating: "a", count: 200_000) + "\r\n\r\n",
        "GET / HTTP/1.1\r\n" + String(repeating: "A: a\r\n", count: 2000) + "\r\n",
        "POST /v1/sync HTTP/1.1\r\nContent-Length: -1\r\n\r\n{}",
        "POST /v1/sync HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
        "POST /v1/sync HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "POST /v1/sync HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFF\r\n",
        "GET /\u{0} HTTP/1.1\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "CONNECT example.com:443 HTTP/1.1\r\n\r\n",
    ])
    func `that is no HTTP ends its connection, and nobody else's`(bytes: String) async throws {
        try await withLiveService({
            $0.timeouts.head = 1
            $0.timeouts.body = 1
            $0.timeouts.idle = 1
        }) { _, port in
            let connection = try RawConnection(port: port)
            connection.send(bytes)
            let answer = try #require(await connection.received(), "it hangs")
            #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4"), "\(answer)")
            let other = try RawConnection(port: port)
            other.send("GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            #expect(await other.received()?.contains("200 OK") == true)
        }
    }

    @Test func `with a method that a route does not take is a problem`() async throws {
        let document = try InterfaceDocument()
        try await withService { client in
            for path in Set(document.operations.map(\.path)) where !path.contains("{") {
                for method in [HTTPRequest.Method.get, .put, .post, .delete, .patch] {
                    let known = document.operations.contains { $0.path == path && $0.method == method.rawValue }
                    guard !known else { continue }
                    let response = try await client.http.execute(uri: path, method: method) { $0 }
                    #expect([.notFound, .methodNotAllowed].contains(try client.problem(response).code), "\(path)")
                }
            }
        }
    }
}

/// Requests that nobody should send, made from the document and a seed.
private struct Rubbish {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func request(
        for operation: InterfaceDocument.Operation, in document: InterfaceDocument
    ) -> (path: String, headers: HTTPFields, body: ByteBuffer?) {
        let path = operation.path.split(separator: "/", omittingEmptySubsequences: false).map { part in
            part.hasPrefix("{") ? pathPart() : String(part)
        }.joined(separator: "/")
        let query = one(in: 3) ? "?" + (0..<2).map { _ in pathPart() + "=" + pathPart() }.joined(separator: "&") : ""
        var headers = HTTPFields()
        if one(in: 2) { headers[.authorization] = pick(["Bearer ", "bearer ", "Basic ", "", "Bearer  "]) + text() }
        var body: ByteBuffer?
        if let described = operation.fields["requestBody"]?["content"]?.object?.members.first {
            headers[.contentType] = one(in: 8) ? pick(["text/plain", "", "*/*", "application/jsonx"]) : described.name
            let schema = described.value["schema"] ?? .boolean(true)
            body = ByteBuffer(bytes: bytes(under: schema, in: document))
            if one(in: 10) { headers[.contentLength] = pick(["-1", "x", "99999999999999999999", "0"]) }
        } else if one(in: 4) {
            body = ByteBuffer(bytes: noise())
        }
        if one(in: 5), let name = HTTPField.Name(pick(["X-Request-Id", "X-Forwarded-For", "Forwarded", "Range"])) {
            headers[name] = text()
        }
        return (path + query, headers, body)
    }

    /// Noise, a damaged document, or one whose fields hold what they should not.
    private mutating func bytes(under schema: JSONValue, in document: InterfaceDocument) -> [UInt8] {
        switch number(below: 6) {
        case 0: return noise()
        case 1: return Array(String(repeating: pick(["[", "{\"a\":"]), count: number(below: 40_000)).utf8)
        case 2:
            var bytes = value(under: schema, in: document, depth: 0).bytes
            for _ in 0..<(1 + number(below: 3)) where !bytes.isEmpty {
                bytes[number(below: bytes.count)] = UInt8(truncatingIfNeeded: next())
            }
            return bytes
        case 3:
            let bytes = value(under: schema, in: document, depth: 0).bytes
            return Array(bytes.prefix(number(below: bytes.count + 1)))
        default: return value(under: schema, in: document, depth: 0).bytes
        }
    }

    private mutating func value(under schema: JSONValue, in document: InterfaceDocument, depth: Int) -> JSONValue {
        var schema = schema
        if case .string(let reference)? = schema["$ref"] { schema = document.schema.resolve(reference) ?? schema }
        guard depth < 6, !one(in: 5) else { return anything(depth: depth) }
        if let properties = schema["properties"]?.object {
            var members: [(name: String, value: JSONValue)] = []
            for property in properties.members where !one(in: 3) {
                members.append((property.name, value(under: property.value, in: document, depth: depth + 1)))
            }
            if one(in: 3) { members.append((text(), anything(depth: depth + 1))) }
            return object(members)
        }
        if let items = schema["items"] {
            return .array((0..<number(below: 4)).map { _ in value(under: items, in: document, depth: depth + 1) })
        }
        return one(in: 2) ? .string(text()) : anything(depth: depth)
    }

    private mutating func anything(depth: Int) -> JSONValue {
        switch number(below: depth < 4 ? 9 : 7) {
        case 0: .null
        case 1: .boolean(one(in: 2))
        case 2:
            .number(pick(["0", "-1", "1e999", "9007199254740993", "1e-400", "-0", "123456789012345678901234567890"]))
        case 7: .array((0..<number(below: 5)).map { _ in anything(depth: depth + 1) })
        case 8: object([(text(), anything(depth: depth + 1))])
        default: .string(text())
        }
    }

    private func object(_ members: [(name: String, value: JSONValue)]) -> JSONValue {
        var bytes = Array("{".utf8)
        for (index, member) in members.enumerated() {
            bytes += (index > 0 ? "," : "").utf8
            bytes += JSONValue.string(member.name).bytes + Array(":".utf8) + member.value.bytes
        }
        // Names may stand twice, which is read by some and refused by others.
        return (try? JSONValue(parsing: bytes + Array("}".utf8))) ?? .null
    }

    private mutating func text() -> String {
        switch number(below: 8) {
        case 0: ""
        case 1: String(repeating: "A", count: number(below: 3000))
        case 2: "eyJhbGciOiJFUzI1NiJ9.e30." + String(repeating: "A", count: 86)
        case 3: UUID().uuidString
        case 4: pick(["..", "../../etc/passwd", "' OR 1=1 --", "%00", "\u{202E}", "\u{1F4A9}", "null", "-1"])
        case 5: pick(["a.b.c", "....", "e30.e30.e30", "MIIB", "=====", "2026-02-30T25:00:00Z"])
        default: String((0..<number(below: 40)).map { _ in Character(Unicode.Scalar(UInt8(33 + number(below: 94)))) })
        }
    }

    private mutating func pathPart() -> String {
        pick([
            "a", "%2e%2e", "%00", "%", "%zz", "%F0%9F%92%A9", "0", "-1", "999999999999999999999", "*", "a%2Fb", "%20",
        ])
    }

    private mutating func noise() -> [UInt8] {
        (0..<number(below: 500)).map { _ in UInt8(truncatingIfNeeded: next()) }
    }

    private mutating func pick(_ choices: [String]) -> String { choices[number(below: choices.count)] }
    private mutating func one(in count: Int) -> Bool { number(below: count) == 0 }
    private mutating func number(below bound: Int) -> Int { bound > 0 ? Int(next() % UInt64(bound)) : 0 }

    /// SplitMix64.
    private mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}
