import TenureJSON

/// One field of a signed payload: its name in Apple's JSON, and the type that says how the value is written.
/// Each payload declares its fields once, in `Fields`. The verifier reads by them and the minter writes by them.
struct Field<Value: FieldValue>: Sendable {
    let key: StaticString

    init(_ key: StaticString) {
        self.key = key
    }

    var name: String { key.description }

    var description: FieldDescription {
        FieldDescription(name: name, shape: Value.shape)
    }
}

/// A field as data, for code that sets or shows fields by their names.
public struct FieldDescription: Sendable, Hashable {
    /// Apple's name in the JSON.
    public let name: String
    public let shape: FieldShape
}

/// How the value of a field is written in JSON.
public indirect enum FieldShape: Sendable, Hashable {
    case text
    case integer
    /// Milliseconds since 1970-01-01T00:00:00Z; Xcode signs fractions of them.
    case instant
    case boolean
    case object([FieldDescription])
    case list(FieldShape)
}

/// A type that a field can have.
protocol FieldValue: Sendable {
    static var shape: FieldShape { get }
    /// Nil where the JSON value is of another type.
    init?(_ tape: JSONTape, at index: Int)
}

/// An object with a table of fields.
protocol FieldObject: FieldValue {
    static var fields: [FieldDescription] { get }
    init(reading read: FieldReader) throws(Rejection)
}

/// Reads the fields of one object.
struct FieldReader {
    let tape: JSONTape
    let index: Int
    /// The path of the object in the payload, for messages; empty for the payload itself.
    var path = ""

    /// Nil where the field is absent or null. Throws `malformed` where its value is of the wrong type.
    func callAsFunction<Value: FieldValue>(_ field: Field<Value>) throws(Rejection) -> Value? {
        guard let value = present(field.key) else { return nil }
        guard let read = Value(tape, at: value) else { throw mistyped(field) }
        return read
    }

    /// An id that is empty names nothing, and is nil as an absent one: else all artifacts without one would share it.
    func callAsFunction(identifier field: Field<String>) throws(Rejection) -> String? {
        guard let id = try self(field), !id.isEmpty else { return nil }
        return id
    }

    func callAsFunction<Object: FieldObject>(_ field: Field<Object>) throws(Rejection) -> Object? {
        guard let value = present(field.key) else { return nil }
        guard tape.nodes[value].kind == .object else { throw mistyped(field) }
        return try Object(reading: FieldReader(tape: tape, index: value, path: path + field.name + "."))
    }

    func callAsFunction<Object: FieldObject>(_ field: Field<[Object]>) throws(Rejection) -> [Object]? {
        guard let list = present(field.key) else { return nil }
        guard tape.nodes[list].kind == .array else { throw mistyped(field) }
        var objects: [Object] = []
        var element = list + 1
        while element < Int(tape.nodes[list].next) {
            guard tape.nodes[element].kind == .object else { throw mistyped(field) }
            let path = "\(path)\(field.name)[\(objects.count)]."
            objects.append(try Object(reading: FieldReader(tape: tape, index: element, path: path)))
            element = Int(tape.nodes[element].next)
        }
        return objects
    }

    private func present(_ key: StaticString) -> Int? {
        guard let value = tape.value(named: key, inObjectAt: index), tape.nodes[value].kind != .null else { return nil }
        return value
    }

    private func mistyped<Value>(_ field: Field<Value>) -> Rejection {
        Rejection(.malformed, "`\(path)\(field.name)` must be \(Value.shape.article)")
    }
}

extension FieldShape {
    fileprivate var article: String {
        switch self {
        case .text: "a string"
        case .integer: "an integer"
        case .instant: "a number of milliseconds since 1970"
        case .boolean: "true or false"
        case .object: "an object"
        case .list: "an array of the documented kind"
        }
    }
}
