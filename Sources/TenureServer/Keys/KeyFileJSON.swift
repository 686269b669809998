import Foundation
import TenureCore

extension JSONEncoder {
    /// An encoder that sorts the names in each object, so that equal values have equal bytes.
    static var sorted: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    /// Returns the bytes of a key file: JSON with sorted names and indentation, and a newline at the end. The JSON
    /// contains the secrets, so it may only be written to the file.
    static func keyFile(of value: some Encodable) throws -> [UInt8] {
        let encoder = sorted
        encoder.outputFormatting.insert(.prettyPrinted)
        if let key = KeyFileSecret.isRevealed { encoder.userInfo[key] = true }
        return Array(try encoder.encode(value)) + [UInt8(ascii: "\n")]
    }
}

/// A secret in a key file. Only `JSONEncoder.keyFile` writes it. Every other encoder writes `<redacted>`, as for each
/// `Secret`.
@propertyWrapper struct KeyFileSecret: Hashable, Sendable {
    var wrappedValue: Secret<String>

    /// The key of the entry in `userInfo` that only the encoders of key files have.
    fileprivate static let isRevealed = CodingUserInfoKey(rawValue: "isRevealed")
}

extension KeyFileSecret: Codable {
    init(from decoder: any Decoder) throws {
        wrappedValue = Secret(try decoder.singleValueContainer().decode(String.self))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        let isRevealed = Self.isRevealed.map { encoder.userInfo[$0] != nil } ?? false
        try container.encode(isRevealed ? wrappedValue.revealed : wrappedValue.description)
    }
}
