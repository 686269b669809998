import TenureJSON

/// Reads the fields of one object by their names in Apple's JSON, as in `let price: Int64? = try read("price")`. The
/// type of the result determines the expected JSON type.
struct FieldReader {
    // The parsed JSON, and the index of the object in it.
    let tape: JSONTape
    let index: Int
    /// The path of the object in the payload, for messages; empty for the payload itself.
    var path = ""
    /// Lists the fields instead of reading them: each call adds its field and returns nil. Nil while values are read.
    var recorder: FieldRecorder?

    /// Returns all fields that `init(reading:)` of a type reads, in the same order.
    static func fields<Object>(of read: (FieldReader) throws(Rejection) -> Object) -> [FieldDescription] {
        let recorder = FieldRecorder()
        // No value is read here, so nothing can be rejected.
        _ = try? read(FieldReader(tape: .emptyObject, index: 0, recorder: recorder))
        return recorder.fields
    }

    /// Reads a field; nil if it is missing or null. Throws `malformed` if its value has the wrong type.
    func callAsFunction<Value: FieldValue>(_ name: StaticString) throws(Rejection) -> Value? {
        guard let position = valueIndex(name, Value.shape) else { return nil }
        guard let value = Value(tape, at: position) else { throw mistyped(name, Value.shape) }
        return value
    }

    /// Reads an ID. An empty string is treated as missing. Otherwise all artifacts with an empty ID would seem to
    /// belong together.
    func callAsFunction(identifier name: StaticString) throws(Rejection) -> String? {
        guard let id: String = try self(name), !id.isEmpty else { return nil }
        return id
    }

    /// Reads a field with an object; nil if it is missing or null.
    func callAsFunction<Object: FieldObject>(object name: StaticString) throws(Rejection) -> Object? {
        guard let position = valueIndex(name, Object.shape) else { return nil }
        guard tape.nodes[position].kind == .object else { throw mistyped(name, Object.shape) }
        return try Object(reading: FieldReader(tape: tape, index: position, path: path + name.description + "."))
    }

    /// Reads a field with an array of objects; nil if it is missing or null.
    func callAsFunction<Object: FieldObject>(objects name: StaticString) throws(Rejection) -> [Object]? {
        guard let list = valueIndex(name, .list(Object.shape)) else { return nil }
        guard tape.nodes[list].kind == .array else { throw mistyped(name, .list(Object.shape)) }
        var objects: [Object] = []
        // The first element follows the array's node. `next` is the index after a node and all nodes in it.
        var element = list + 1
        while element < Int(tape.nodes[list].next) {
            guard tape.nodes[element].kind == .object else { throw mistyped(name, .list(Object.shape)) }
            let path = "\(path)\(name)[\(objects.count)]."
            objects.append(try Object(reading: FieldReader(tape: tape, index: element, path: path)))
            element = Int(tape.nodes[element].next)
        }
        return objects
    }

    /// Returns the index of a field's value on the tape; nil if the value is missing or null. With a recorder, records
    /// the field and returns nil.
    private func valueIndex(_ name: StaticString, _ shape: @autoclosure () -> FieldShape) -> Int? {
        if let recorder {
            recorder.fields.append(FieldDescription(name: name.description, shape: shape()))
            return nil
        }
        guard let value = tape.value(named: name, inObjectAt: index), tape.nodes[value].kind != .null
        else { return nil }
        return value
    }

    private func mistyped(_ name: StaticString, _ shape: FieldShape) -> Rejection {
        Rejection(.malformed, "`\(path)\(name)` must be \(shape.phrase)")
    }
}

/// An object in a payload, or a payload itself.
protocol FieldObject: Sendable {
    /// Reads every field of the object, in Apple's order. `FieldReader.fields(of:)` also calls this initializer, to
    /// list the fields.
    init(reading read: FieldReader) throws(Rejection)
}

extension FieldObject {
    fileprivate static var shape: FieldShape { .object(FieldReader.fields(of: Self.init(reading:))) }
}

/// The list of fields that `FieldReader.fields(of:)` returns. A class, because the copies of a reader share the list.
final class FieldRecorder { var fields: [FieldDescription] = [] }
