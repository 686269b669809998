/// Why an artifact or an authority couldn't be created.
package struct MintingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason as one sentence in lower case, without a final period.
    package let description: String

    package init(_ description: String) { self.description = description }
}
