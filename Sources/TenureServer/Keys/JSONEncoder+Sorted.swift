import Foundation

extension JSONEncoder {
    /// An encoder that sorts names, so that equal values have equal bytes.
    static var sorted: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}
