import TenureAppStore
import TenureJSON

/// A JSON object in a response of the App Store. Only the signed data in it can be trusted.
///
/// Each method reads the field with the given name. The method throws `unreadable` if the field has another type, or if
/// a field is missing that is neither optional nor a list.
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

    func text(_ name: String) throws(AppStoreFailure) -> String {
        guard let text = try optionalText(name) else { throw missing(name) }
        return text
    }

    func optionalText(_ name: String) throws(AppStoreFailure) -> String? {
        switch object[name] {
        case nil, .null?: return nil
        case .string(let text)?: return text
        default: throw mistyped(name, "a string")
        }
    }

    func flag(_ name: String) throws(AppStoreFailure) -> Bool {
        switch object[name] {
        case nil, .null?: throw missing(name)
        case .boolean(let flag)?: return flag
        default: throw mistyped(name, "true or false")
        }
    }

    func optionalInteger(_ name: String) throws(AppStoreFailure) -> Int64? {
        switch object[name] {
        case nil, .null?: return nil
        case .number(let digits)?:
            guard let value = Int64(digits) else { throw mistyped(name, "an integer") }
            return value
        default: throw mistyped(name, "an integer")
        }
    }

    /// Returns an empty array for a missing field: the App Store leaves out empty lists.
    func texts(_ name: String) throws(AppStoreFailure) -> [String] {
        var texts: [String] = []
        for value in try list(name) {
            guard case .string(let text) = value else { throw mistyped(name, "an array of strings") }
            texts.append(text)
        }
        return texts
    }

    /// Returns an empty array for a missing field.
    func objects(_ name: String) throws(AppStoreFailure) -> [AppStoreReply] {
        var objects: [AppStoreReply] = []
        for value in try list(name) {
            guard case .object(let object) = value else { throw mistyped(name, "an array of objects") }
            objects.append(AppStoreReply(object, at: "\(path)\(name)[\(objects.count)]."))
        }
        return objects
    }

    private func list(_ name: String) throws(AppStoreFailure) -> [JSONValue] {
        switch object[name] {
        case nil, .null?: return []
        case .array(let values)?:
            guard values.count <= Self.maximumListLength else {
                throw .unreadable(
                    "`\(path)\(name)` has \(values.count) elements; at most \(Self.maximumListLength) are allowed")
            }
            return values
        default: throw mistyped(name, "an array")
        }
    }

    private func missing(_ name: String) -> AppStoreFailure { .unreadable("`\(path)\(name)` is missing") }

    private func mistyped(_ name: String, _ wanted: String) -> AppStoreFailure {
        .unreadable("`\(path)\(name)` must be \(wanted)")
    }
}
