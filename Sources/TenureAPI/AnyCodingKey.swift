/// The name of any field, to read an object before its fields are known.
package struct AnyCodingKey: CodingKey {
    package let stringValue: String
    package var intValue: Int? { nil }

    package init?(intValue: Int) { nil }

    package init(stringValue: String) { self.stringValue = stringValue }
}
