/// A value that must not appear in logs or messages, such as a key or a password.
///
/// `print`, `dump`, `Mirror`, string interpolation and encoders show `<redacted>`, even if the secret is part of
/// another value or of an error. Libraries log whole values, so a plain string in such a value would reach the log.
package struct Secret<Value: Sendable>: Sendable {
    @usableFromInline let value: Value

    @inlinable package init(_ value: Value) { self.value = value }

    /// The value itself, for the code that uses it. Never pass it to a log or a message.
    @inlinable package var revealed: Value { value }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

extension Secret: Encodable {
    package func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}

extension Secret: Equatable where Value: Equatable {}
extension Secret: Hashable where Value: Hashable {}
