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
    var phrase: String {
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
