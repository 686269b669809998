import TenureJSON

/// A field as data, for code that sets or shows fields by their names.
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

/// An object in a payload, or a payload itself.
protocol FieldObject: Sendable {
    /// Reads every field of the object, in Apple's order. `fields` comes from here too.
    init(reading read: FieldReader) throws(Rejection)
}

extension FieldObject {
    fileprivate static var shape: FieldShape { .object(FieldReader.fields(of: Self.init(reading:))) }
}

/// Reads the fields of one object by their names in Apple's JSON. The type of the result says how a value is written.
struct FieldReader {
    let tape: JSONTape
    let index: Int
    /// The path of the object in the payload, for messages; empty for the payload itself.
    var path = ""
    /// If set, each call adds its field here and returns nil.
    private var recorder: FieldRecorder?

    init(tape: JSONTape, index: Int, path: String = "") {
        self.tape = tape
        self.index = index
        self.path = path
    }

    /// Every field that `init(reading:)` of a type reads, in its order.
    static func fields<Object>(of read: (FieldReader) throws(Rejection) -> Object) -> [FieldDescription] {
        let recorder = FieldRecorder()
        var reader = FieldReader(tape: .emptyObject, index: 0)
        reader.recorder = recorder
        // Nothing is rejected, because nothing is read.
        _ = try? read(reader)
        return recorder.fields
    }

    /// Nil where the field is absent or null. Throws `malformed` where its value is of the wrong type.
    func callAsFunction<Value: FieldValue>(_ name: StaticString) throws(Rejection) -> Value? {
        guard let value = present(name, Value.shape) else { return nil }
        guard let read = Value(tape, at: value) else { throw mistyped(name, Value.shape) }
        return read
    }

    /// An ID that is empty names nothing, and is nil as an absent one: else all artifacts without one would share it.
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
