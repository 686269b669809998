import TenureAppStore
import TenureJSON

/// A JSON object in a response of the App Store. Only the signed data in it can be trusted.
///
/// Each method reads the field with the given name. A field with the value `null` counts as missing. The method throws
/// `unreadable` if the field has another type, if a required field is missing, or if a list is too long.
struct AppStoreReply: Sendable {
    private let object: JSONObject
    /// The path of the object in the response, for error messages; empty for the whole response.
    private let path: String

    /// Reads the body of a response. Throws `unreadable` if it isn't a JSON object.
    init(_ body: [UInt8]) throws(AppStoreFailure) {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: body)
        } catch {
            throw .unreadable("\(error)")
        }
        guard case .object(let object) = value else { throw .unreadable("the body must be a JSON object") }
        self.init(object, at: "")
    }

    private init(_ object: JSONObject, at path: String) {
        self.object = object
        self.path = path
    }

    /// The most elements of a list. The App Store's pages have up to 20.
    private static let maximumListLength = 1000

    func text(_ name: String) throws(AppStoreFailure) -> String { try present(optionalText(name), name) }

    func optionalText(_ name: String) throws(AppStoreFailure) -> String? {
        try field(name, "a string") { if case .string(let text) = $0 { text } else { nil } }
    }

    func flag(_ name: String) throws(AppStoreFailure) -> Bool {
        let flag: Bool? = try field(name, "true or false") { if case .boolean(let flag) = $0 { flag } else { nil } }
        return try present(flag, name)
    }

    func optionalInteger(_ name: String) throws(AppStoreFailure) -> Int64? {
        try field(name, "an integer") { if case .number(let digits) = $0 { Int64(digits) } else { nil } }
    }

    /// Returns an empty array for a missing field, because the App Store leaves out empty lists.
    func texts(_ name: String) throws(AppStoreFailure) -> [String] {
        try list(name).map { value throws(AppStoreFailure) in
            guard case .string(let text) = value else { throw mistyped(name, "an array of strings") }
            return text
        }
    }

    /// Returns an empty array for a missing field, because the App Store leaves out empty lists.
    func objects(_ name: String) throws(AppStoreFailure) -> [AppStoreReply] {
        try list(name).enumerated().map { index, value throws(AppStoreFailure) in
            guard case .object(let object) = value else { throw mistyped(name, "an array of objects") }
            return AppStoreReply(object, at: "\(path)\(name)[\(index)].")
        }
    }

    private func list(_ name: String) throws(AppStoreFailure) -> [JSONValue] {
        let elements: [JSONValue]? = try field(name, "an array") { if case .array(let list) = $0 { list } else { nil } }
        let values = elements ?? []
        guard values.count <= Self.maximumListLength else {
            throw .unreadable(
                "`\(path)\(name)` has \(values.count) elements; at most \(Self.maximumListLength) are allowed")
        }
        return values
    }

    /// Returns the field's value; nil if the field is missing. `read` returns nil for a value of another type than
    /// `wanted`.
    private func field<Value>(
        _ name: String, _ wanted: String, _ read: (JSONValue) -> Value?
    ) throws(AppStoreFailure) -> Value? {
        guard let json = object[name], json != .null else { return nil }
        guard let value = read(json) else { throw mistyped(name, wanted) }
        return value
    }

    private func present<Value>(_ value: Value?, _ name: String) throws(AppStoreFailure) -> Value {
        guard let value else { throw .unreadable("`\(path)\(name)` is missing") }
        return value
    }

    private func mistyped(_ name: String, _ wanted: String) -> AppStoreFailure {
        .unreadable("`\(path)\(name)` must be \(wanted)")
    }
}
