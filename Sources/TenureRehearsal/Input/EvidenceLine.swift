import TenureAppStore
import TenureJSON

/// The contents of one line, not yet verified. The format is in `Docs/rehearsal.md`.
struct EvidenceLine {
    enum Content {
        case jws
        case receipt
        case appTransaction
        case transaction
        case renewalInfo
    }

    struct Part {
        let content: Content
        /// Usually a part of the input, without a copy.
        let bytes: ArraySlice<UInt8>
        /// Its path in the line; nil for the whole line.
        let name: String?
    }

    private(set) var parts: [Part] = []
    /// The exporter's ID of the customer.
    private(set) var id: String?
    /// Whether it has all purchases of its customer; nil if it doesn't say.
    private(set) var purchasesAreComplete: Bool?

    /// The longest line: a receipt of the largest size, and as many transactions beside it.
    static let maximumSize = 8 << 20
    private static let longestID = 256

    /// Throws if the line doesn't have the form of a customer's artifacts.
    init(_ line: ArraySlice<UInt8>) throws(LineFault) {
        switch line.first {
        case UInt8(ascii: "{"): try readObject(line)
        case UInt8(ascii: "\""): try readText(line)
        default: add(line)
        }
    }

    private mutating func add(_ bytes: ArraySlice<UInt8>) {
        // Base64 has no period.
        let isJWS = bytes.first(UInt8(ascii: "."), from: bytes.startIndex) != nil
        parts = [Part(content: isJWS ? .jws : .receipt, bytes: bytes, name: nil)]
    }

    private mutating func readText(_ line: ArraySlice<UInt8>) throws(LineFault) {
        guard case .string(let text) = try Self.json(line) else { throw LineFault(.wrongShape, "it isn't text") }
        add(Array(text.utf8)[...])
    }

    private mutating func readObject(_ line: ArraySlice<UInt8>) throws(LineFault) {
        guard case .object(let object) = try Self.json(line) else { throw LineFault(.wrongShape, "it isn't an object") }
        for member in object.members where member.value != .null {
            switch member.name {
            case "id": id = try Self.id(member.value)
            case "purchasesAreComplete":
                guard case .boolean(let flag) = member.value else {
                    throw LineFault(.wrongShape, "`purchasesAreComplete` must be `true` or `false`")
                }
                purchasesAreComplete = flag
            case "appTransaction": try add(member.value, as: .appTransaction, named: member.name)
            case "receipt": try add(member.value, as: .receipt, named: member.name)
            case "transactions": try addAll(member.value, as: .transaction, named: member.name)
            case "renewalInfos": try addAll(member.value, as: .renewalInfo, named: member.name)
            // Unknown fields are ignored, as in `POST /v1/sync`.
            default: break
            }
        }
        guard !parts.isEmpty else {
            throw LineFault(
                .nothingSigned, "it holds none of `appTransaction`, `transactions`, `renewalInfos` and `receipt`")
        }
    }

    private static func json(_ line: ArraySlice<UInt8>) throws(LineFault) -> JSONValue {
        do {
            return try JSONValue(parsing: Array(line))
        } catch {
            throw LineFault(.invalidJSON, "\(error)")
        }
    }

    private static func id(_ value: JSONValue) throws(LineFault) -> String? {
        let text: String
        switch value {
        case .string(let string): text = string
        case .number(let digits): text = digits
        default: throw LineFault(.wrongShape, "`id` must be a text or a number")
        }
        guard text.utf8.count <= longestID else {
            throw LineFault(.wrongShape, "`id` has more than \(longestID) bytes")
        }
        return text.isEmpty ? nil : text
    }

    private mutating func add(_ value: JSONValue, as content: Content, named name: String) throws(LineFault) {
        guard case .string(let text) = value else { throw LineFault(.wrongShape, "`\(name)` is a text") }
        parts.append(Part(content: content, bytes: Array(text.utf8)[...], name: name))
    }

    private mutating func addAll(_ value: JSONValue, as content: Content, named name: String) throws(LineFault) {
        guard case .array(let values) = value else { throw LineFault(.wrongShape, "`\(name)` is a list of texts") }
        for (index, value) in values.enumerated() { try add(value, as: content, named: "\(name)[\(index)]") }
    }
}

extension LineFault: Error {}
