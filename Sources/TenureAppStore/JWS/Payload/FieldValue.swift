package import Foundation
import TenureJSON

/// A type that a field of a payload can have, and how its values are read from JSON. `FieldReader` uses it.
protocol FieldValue: Sendable {
    /// How a value of this type is written in JSON.
    static var shape: FieldShape { get }
    /// Reads the JSON value at this index of the tape; nil if it has the wrong type.
    init?(_ tape: JSONTape, at index: Int)
}

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
        // The first element follows the array's node. `next` is the index after a node and all nodes in it.
        var element = index + 1
        while element < Int(node.next) {
            guard let value = Element(tape, at: element) else { return nil }
            append(value)
            element = Int(tape.nodes[element].next)
        }
    }
}
