import Foundation

extension JSONEncoder {
    /// An encoder that sorts the names in each object, so that equal values have equal bytes.
    static var sorted: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    /// Returns the bytes of a key file: JSON with sorted names and indentation, and a newline at the end.
    static func keyFile(of value: some Encodable) throws -> [UInt8] {
        let encoder = sorted
        encoder.outputFormatting.insert(.prettyPrinted)
        return Array(try encoder.encode(value)) + [UInt8(ascii: "\n")]
    }
}
