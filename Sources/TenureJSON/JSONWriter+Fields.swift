package import Foundation

/// Functions that write a key and its value in one call, or leave both out.
extension JSONWriter {
    package mutating func field(_ name: String, _ text: String) {
        key(name)
        value(text)
    }

    /// Leaves the field out if the string is nil.
    package mutating func field(_ name: String, ifPresent text: String?) { if let text { field(name, text) } }

    package mutating func field(_ name: String, ifPresent number: (some BinaryInteger)?) {
        if let number { field(name, number) }
    }

    /// Writes null if the string is nil.
    package mutating func field(_ name: String, orNull text: String?) {
        key(name)
        if let text { value(text) } else { null() }
    }

    package mutating func field(_ name: String, orNull number: (some BinaryInteger)?) {
        key(name)
        if let number { value(number) } else { null() }
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

    package mutating func field(_ name: String, _ number: Double) {
        key(name)
        value(number)
    }

    package mutating func field(_ name: String, _ texts: [String]) {
        key(name)
        value(texts)
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

    /// Writes an object with sorted names.
    package mutating func field(_ name: String, _ counts: [String: Int]) {
        object(name) { json in
            for (name, count) in counts.sorted(by: { $0.key < $1.key }) { json.field(name, count) }
        }
    }

    @inlinable package mutating func field<Element>(
        _ name: String, _ elements: some Collection<Element>, _ body: (inout JSONWriter, Element) -> Void
    ) {
        key(name)
        array(elements, body)
    }

    package mutating func object(_ name: String, _ body: (inout JSONWriter) -> Void) {
        key(name)
        object(body)
    }

    /// Writes an array of objects. `body` writes the fields of one element.
    @inlinable package mutating func objects<Element>(
        _ name: String, _ elements: some Collection<Element>, _ body: (inout JSONWriter, Element) -> Void
    ) {
        field(name, elements) { json, element in json.object { body(&$0, element) } }
    }

    // The same functions with a `CodingKey` instead of a name. They are inlinable because a generic function of another
    // module is slow.

    @inlinable package mutating func field(_ key: some CodingKey, _ text: String) { field(key.stringValue, text) }

    @inlinable package mutating func field(_ key: some CodingKey, _ number: some BinaryInteger) {
        field(key.stringValue, number)
    }

    @inlinable package mutating func field(_ key: some CodingKey, ifPresent text: String?) {
        field(key.stringValue, ifPresent: text)
    }

    @inlinable package mutating func field(_ key: some CodingKey, ifPresent number: (some BinaryInteger)?) {
        field(key.stringValue, ifPresent: number)
    }

    @inlinable package mutating func field(_ key: some CodingKey, _ date: Date?) { field(key.stringValue, date) }

    @inlinable package mutating func field(_ key: some CodingKey, _ flag: Bool) { field(key.stringValue, flag) }

    @inlinable package mutating func field<Element>(
        _ key: some CodingKey, _ elements: some Collection<Element>, _ body: (inout JSONWriter, Element) -> Void
    ) { field(key.stringValue, elements, body) }
}
