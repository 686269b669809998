import TenureAppStore
import TenureCore
import TenureJSON

/// The unverified contents of one line of an evidence file: the signed artifacts of one customer. `Docs/rehearsal.md`
/// describes the format.
struct EvidenceLine {
    /// The kind of an artifact, as the line states it.
    enum Kind {
        /// A JWS of unknown kind: the line has only the artifact itself.
        case jws
        case receipt
        case appTransaction
        case transaction
        case renewalInfo
    }

    /// One artifact in the line.
    struct Part {
        let kind: Kind
        /// The artifact's bytes, usually a slice of the input.
        let bytes: ArraySlice<UInt8>
        /// The artifact's path in the line's JSON, such as `transactions[3]`; nil if the artifact is the whole line.
        let name: String?

        /// Whether the artifact may contain a purchase in the app, even if it was rejected.
        var mayContainPurchase: Bool {
            switch kind {
            case .appTransaction, .renewalInfo: false
            case .transaction, .receipt: true
            case .jws: (try? AppStoreArtifact(recognizing: Array(bytes)))?.mayContainPurchase ?? true
            }
        }
    }

    /// The artifacts in the line, in order.
    private(set) var parts: [Part] = []
    /// The `id` in the line: the customer's ID in the system that exported the file. Nil if the line has no `id`.
    private(set) var id: String?
    /// Whether the line has all purchases of its customer; nil if the line has no `purchasesAreComplete`.
    private(set) var purchasesAreComplete: Bool?

    /// The maximum length of a line in bytes: enough for the largest receipt and as many bytes of transactions.
    static let maximumSize = 8 << 20
    /// The maximum length of an `id` in bytes.
    private static let maximumIDLength = 256

    /// Parses a line. Throws if it doesn't have the format of a customer's artifacts.
    init(_ line: ArraySlice<UInt8>) throws(LineFault) {
        switch line.first {
        case UInt8(ascii: "{"), UInt8(ascii: "\""):
            switch try Self.json(line) {
            case .object(let object): try read(object)
            case .string(let text): add(Array(text.utf8)[...])
            default: throw LineFault(.wrongShape, "the line is neither a JSON object nor a JSON string")
            }
        default: add(line)
        }
    }

    /// Adds the only artifact of a line: a JWS, or a receipt in Base64.
    private mutating func add(_ bytes: ArraySlice<UInt8>) {
        // Base64 has no period.
        let isJWS = bytes.firstIndex(of: UInt8(ascii: "."), from: bytes.startIndex) != nil
        parts = [Part(kind: isJWS ? .jws : .receipt, bytes: bytes, name: nil)]
    }

    /// Reads a JSON object with the artifacts of one customer.
    private mutating func read(_ object: JSONObject) throws(LineFault) {
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
                .nothingSigned, "the line has no `appTransaction`, `transactions`, `renewalInfos` or `receipt`; add one"
            )
        }
    }

    /// Parses the line as JSON.
    private static func json(_ line: ArraySlice<UInt8>) throws(LineFault) -> JSONValue {
        do {
            return try JSONValue(parsing: Array(line))
        } catch {
            throw LineFault(.invalidJSON, "\(error)")
        }
    }

    /// Reads an `id`, which may be a number. An empty `id` is nil.
    private static func id(_ value: JSONValue) throws(LineFault) -> String? {
        let text: String
        switch value {
        case .string(let string): text = string
        case .number(let digits): text = digits
        default: throw LineFault(.wrongShape, "`id` must be a string or a number")
        }
        guard text.utf8.count <= maximumIDLength else {
            throw LineFault(.wrongShape, "`id` must have at most \(maximumIDLength) bytes; found \(text.utf8.count)")
        }
        return text.isEmpty ? nil : text
    }

    /// Adds the artifact in a field.
    private mutating func add(_ value: JSONValue, as kind: Kind, named name: String) throws(LineFault) {
        guard case .string(let text) = value else { throw LineFault(.wrongShape, "`\(name)` must be a string") }
        parts.append(Part(kind: kind, bytes: Array(text.utf8)[...], name: name))
    }

    /// Adds the artifacts in a field with an array.
    private mutating func addAll(_ value: JSONValue, as kind: Kind, named name: String) throws(LineFault) {
        guard case .array(let values) = value else {
            throw LineFault(.wrongShape, "`\(name)` must be an array of strings")
        }
        for (index, value) in values.enumerated() { try add(value, as: kind, named: "\(name)[\(index)]") }
    }
}
