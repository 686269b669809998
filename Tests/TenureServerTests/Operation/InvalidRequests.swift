import Foundation
import HTTPTypes
import NIOCore
import TenureAppStore
import TenureJSON
import TenureMint

@testable import TenureServer

/// Generates random requests for each route from the OpenAPI document. Most of them are invalid. The same seed gives
/// the same requests.
struct InvalidRequests {
    private var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// Returns a random request, which is probably invalid. With a valid `key`, requests reach the code behind the
    /// check of the key.
    mutating func request(
        for operation: InterfaceDocument.Operation, in document: InterfaceDocument, key: String? = nil
    ) -> (path: String, headers: HTTPFields, body: ByteBuffer?) {
        let path = operation.path.split(separator: "/", omittingEmptySubsequences: false).map { part in
            part.hasPrefix("{") ? pathPart() : String(part)
        }.joined(separator: "/")
        let query = one(in: 3) ? "?" + (0..<2).map { _ in pathPart() + "=" + pathPart() }.joined(separator: "&") : ""
        var headers = HTTPFields()
        if let key {
            headers[.authorization] = "Bearer \(key)"
        } else if one(in: 2) {
            headers[.authorization] = pick(["Bearer ", "bearer ", "Basic ", "", "Bearer  "]) + text()
        }
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

    /// Returns random bytes, a damaged document, or a document with invalid values.
    private mutating func bytes(under schema: JSONValue, in document: InterfaceDocument) -> [UInt8] {
        switch number(below: 6) {
        case 0: return noise()
        case 1: return Array(String(repeating: pick(["[", "{\"a\":"]), count: number(below: 40_000)).utf8)
        case 2:
            var bytes = value(under: schema, in: document, depth: 0).bytes
            for _ in 0..<(1 + number(below: 3)) where !bytes.isEmpty {
                bytes[number(below: bytes.count)] = UInt8(truncatingIfNeeded: random.next())
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
        // Names may occur twice: some readers accept that, others refuse it.
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
        (0..<number(below: 500)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }

    private mutating func pick(_ choices: [String]) -> String { choices[number(below: choices.count)] }
    private mutating func one(in count: Int) -> Bool { number(below: count) == 0 }
    private mutating func number(below bound: Int) -> Int { bound > 0 ? Int(random.next() % UInt64(bound)) : 0 }
}
