package import Foundation

/// A key and its value in one call.
extension JSONWriter {
    package mutating func field(_ name: String, _ text: String) {
        key(name)
        value(text)
    }

    /// Leaves the field out if there is no text.
    package mutating func field(_ name: String, ifPresent text: String?) {
        if let text { field(name, text) }
    }

    package mutating func field(_ name: String, _ number: some BinaryInteger) {
        key(name)
        value(number)
    }

    /// Writes null if there is no date.
    package mutating func field(_ name: String, _ date: Date?) {
        key(name)
        value(date)
    }

    package mutating func field(_ name: String, _ flag: Bool) {
        key(name)
        value(flag)
    }

    package mutating func field(_ name: String, _ texts: [String: String]) {
        key(name)
        value(texts)
    }

    /// Writes an object with sorted names.
    package mutating func value(_ texts: [String: String]) {
        object { json in
            for (name, text) in texts.sorted(by: { $0.key < $1.key }) { json.field(name, text) }
        }
    }

    package mutating func field<Element>(
        _ name: String, _ elements: some Collection<Element>, _ body: (inout JSONWriter, Element) -> Void
    ) {
        key(name)
        array(elements, body)
    }
}
