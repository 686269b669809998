/// A coding key with any name, for objects with field names that aren't known in advance.
package struct AnyCodingKey: CodingKey {
    package let stringValue: String
    package var intValue: Int? { nil }

    package init?(intValue: Int) { nil }

    package init(stringValue: String) { self.stringValue = stringValue }
}
