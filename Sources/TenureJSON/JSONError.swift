/// The first error in a JSON text.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The offset of the byte at which the error is.
    public let offset: Int
    /// What is wrong, such as ``expected `:` after the name``.
    public let reason: String

    /// The error as text, with the position in bytes.
    public var description: String { "invalid JSON at byte \(offset): \(reason)" }

    static let unterminatedString = "a string isn't closed; write `\"` where it ends"
    static let unpairedSurrogate = "unpaired surrogate; characters beyond U+FFFF need two `\\u` escapes"

    /// The error for a text with offsets that don't fit into the 32 bits of a `JSONTape` node.
    static func tooLarge(_ count: Int) -> JSONError {
        JSONError(offset: 0, reason: "the text has \(count) bytes; at most \(Int32.max - 1) can be parsed")
    }
}
