import TenureJSON

/// The name and the type of a field, for code that sets or shows all fields.
public struct FieldDescription: Sendable, Hashable {
    /// Apple's name in the JSON.
    public let name: String
    /// How the value is written in JSON.
    public let shape: FieldShape
}

/// How the value of a field is written in JSON.
public indirect enum FieldShape: Sendable, Hashable {
    case text
    case integer
    /// Milliseconds since 1970-01-01T00:00:00Z. In artifacts from Xcode, the number may have a fraction.
    case instant
    case boolean
    case object([FieldDescription])
    case list(FieldShape)
}

/// A type that a field can have.
protocol FieldValue: Sendable {
    static var shape: FieldShape { get }
    /// Reads the value. Nil if the JSON value has the wrong type.
    init?(_ tape: JSONTape, at index: Int)
}

/// An object in a payload, or a payload itself.
protocol FieldObject: Sendable {
    /// Reads every field of the object, in Apple's order. `FieldReader.fields(of:)` also calls it, to list the fields.
    init(reading read: FieldReader) throws(Rejection)
}

extension FieldObject {
    fileprivate static var shape: FieldShape { .object(FieldReader.fields(of: Self.init(reading:))) }
}

/// Reads the fields of one object by their names in Apple's JSON. The type of the result determines the expected JSON
/// type.
struct FieldReader {
    let tape: JSONTape
    let index: Int
    /// The path of the object in the payload, for messages; empty for the payload itself.
    var path = ""
    /// If it isn't nil, each call adds the field to it instead of reading the value, and returns nil.
    private var recorder: FieldRecorder?

    init(tape: JSONTape, index: Int, path: String = "") {
        self.tape = tape
        self.index = index
        self.path = path
    }

    /// Returns all fields that `init(reading:)` of a type reads, in the same order.
    static func fields<Object>(of read: (FieldReader) throws(Rejection) -> Object) -> [FieldDescription] {
        let recorder = FieldRecorder()
        var reader = FieldReader(tape: .emptyObject, index: 0)
        reader.recorder = recorder
        // No value is read here, so nothing can be rejected.
        _ = try? read(reader)
        return recorder.fields
    }

    /// Reads a field. Nil if it is missing or null. Throws `malformed` if its value has the wrong type.
    func callAsFunction<Value: FieldValue>(_ name: StaticString) throws(Rejection) -> Value? {
        guard let value = present(name, Value.shape) else { return nil }
        guard let read = Value(tape, at: value) else { throw mistyped(name, Value.shape) }
        return read
    }

    /// Reads an ID. An empty text is treated as missing. Otherwise all artifacts with an empty ID would seem to belong
    /// together.
    func callAsFunction(identifier name: StaticString) throws(Rejection) -> String? {
        guard let id: String = try self(name), !id.isEmpty else { return nil }
        return id
    }

    func callAsFunction<Object: FieldObject>(object name: StaticString) throws(Rejection) -> Object? {
        guard let value = present(name, Object.shape) else { return nil }
        guard tape.nodes[value].kind == .object else { throw mistyped(name, Object.shape) }
        return try Object(reading: FieldReader(tape: tape, index: value, path: path + name.description + "."))
    }

    func callAsFunction<Object: FieldObject>(objects name: StaticString) throws(Rejection) -> [Object]? {
        guard let list = present(name, .list(Object.shape)) else { return nil }
        guard tape.nodes[list].kind == .array else { throw mistyped(name, .list(Object.shape)) }
        var objects: [Object] = []
        var element = list + 1
        while element < Int(tape.nodes[list].next) {
            guard tape.nodes[element].kind == .object else { throw mistyped(name, .list(Object.shape)) }
            let path = "\(path)\(name)[\(objects.count)]."
            objects.append(try Object(reading: FieldReader(tape: tape, index: element, path: path)))
            element = Int(tape.nodes[element].next)
        }
        return objects
    }

    private func present(_ name: StaticString, _ shape: @autoclosure () -> FieldShape) -> Int? {
        if let recorder {
            recorder.fields.append(FieldDescription(name: name.description, shape: shape()))
            return nil
        }
        guard let value = tape.value(named: name, inObjectAt: index), tape.nodes[value].kind != .null else {
            return nil
        }
        return value
    }

    private func mistyped(_ name: StaticString, _ shape: FieldShape) -> Rejection {
        Rejection(.malformed, "`\(path)\(name)` must be \(shape.article)")
    }
}

private final class FieldRecorder {
    var fields: [FieldDescription] = []
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
