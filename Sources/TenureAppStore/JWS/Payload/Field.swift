package import Foundation
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
    /// A string.
    case text
    /// A whole number of at most 64 bits.
    case integer
    /// Milliseconds since 1970-01-01T00:00:00Z. In artifacts from Xcode, the number may have a fraction.
    case instant
    /// `true` or `false`.
    case boolean
    /// An object with these fields.
    case object([FieldDescription])
    /// An array with elements of this shape.
    case list(FieldShape)

    /// The name for messages, such as "an integer".
    fileprivate var phrase: String {
        switch self {
        case .text: "a string"
        case .integer: "an integer"
        case .instant: "a number of milliseconds since 1970"
        case .boolean: "true or false"
        case .object: "an object"
        case .list: "an array with elements of the documented type"
        }
    }
}

/// A type that a field can have.
protocol FieldValue: Sendable {
    /// How a value of this type is written in JSON.
    static var shape: FieldShape { get }
    /// Reads the JSON value at this index of the tape; nil if it has the wrong type.
    init?(_ tape: JSONTape, at index: Int)
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

/// Reads the fields of one object by their names in Apple's JSON. The type of the result determines the expected JSON
/// type.
struct FieldReader {
    /// The parsed JSON, and the index of the object in it.
    let tape: JSONTape
    let index: Int
    /// The path of the object in the payload, for messages; empty for the payload itself.
    var path = ""
    /// The list of fields to fill; nil while values are read. With a recorder, each call adds its field to the list and
    /// returns nil.
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
        guard let value = valueIndex(name, Value.shape) else { return nil }
        guard let read = Value(tape, at: value) else { throw mistyped(name, Value.shape) }
        return read
    }

    /// Reads an ID. An empty string is treated as missing. Otherwise all artifacts with an empty ID would seem to
    /// belong together.
    func callAsFunction(identifier name: StaticString) throws(Rejection) -> String? {
        guard let id: String = try self(name), !id.isEmpty else { return nil }
        return id
    }

    /// Reads a field with an object; nil if it is missing or null.
    func callAsFunction<Object: FieldObject>(object name: StaticString) throws(Rejection) -> Object? {
        guard let value = valueIndex(name, Object.shape) else { return nil }
        guard tape.nodes[value].kind == .object else { throw mistyped(name, Object.shape) }
        return try Object(reading: FieldReader(tape: tape, index: value, path: path + name.description + "."))
    }

    /// Reads a field with an array of objects; nil if it is missing or null.
    func callAsFunction<Object: FieldObject>(objects name: StaticString) throws(Rejection) -> [Object]? {
        guard let list = valueIndex(name, .list(Object.shape)) else { return nil }
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

    /// Returns the index of a field's value on the tape; nil if the value is missing or null. With a recorder, adds the
    /// field to its list and returns nil.
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

/// A list of fields that copies of a reader share.
final class FieldRecorder { var fields: [FieldDescription] = [] }

// MARK: Types of fields

// The types that a field of a payload can have, and how each is read from JSON.

extension String: FieldValue {
    static var shape: FieldShape { .text }

    init?(_ tape: JSONTape, at index: Int) {
        guard let text = tape.string(at: index) else { return nil }
        self = text
    }
}

extension Int64: FieldValue {
    static var shape: FieldShape { .integer }

    /// Reads all digits exactly, because IDs may be larger than 2^53.
    init?(_ tape: JSONTape, at index: Int) {
        guard tape.nodes[index].kind == .number else { return nil }
        self.init(tape.withText(at: index) { String(decoding: $0, as: UTF8.self) })
    }
}

extension Bool: FieldValue {
    static var shape: FieldShape { .boolean }

    init?(_ tape: JSONTape, at index: Int) {
        switch tape.nodes[index].kind {
        case .true: self = true
        case .false: self = false
        default: return nil
        }
    }
}

extension Date: FieldValue {
    static var shape: FieldShape { .instant }

    /// The largest accepted number of milliseconds before or after 1970: 100,000,000 days, the range of dates in
    /// ECMAScript.
    package static let maximumMilliseconds = 8.64e15

    init?(_ tape: JSONTape, at index: Int) {
        guard tape.nodes[index].kind == .number else { return nil }
        if let milliseconds = Int64(tape, at: index) {
            guard abs(Double(milliseconds)) <= Self.maximumMilliseconds else { return nil }
            self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
        } else {
            // Xcode signs fractions of a millisecond.
            guard let milliseconds = Double(tape.withText(at: index) { String(decoding: $0, as: UTF8.self) }),
                abs(milliseconds) <= Self.maximumMilliseconds
            else { return nil }
            self.init(timeIntervalSince1970: milliseconds.rounded() / 1000)
        }
    }
}

extension Array: FieldValue where Element: FieldValue {
    static var shape: FieldShape { .list(Element.shape) }

    init?(_ tape: JSONTape, at index: Int) {
        let node = tape.nodes[index]
        guard node.kind == .array else { return nil }
        self = []
        var element = index + 1
        while element < Int(node.next) {
            guard let value = Element(tape, at: element) else { return nil }
            append(value)
            element = Int(tape.nodes[element].next)
        }
    }
}
