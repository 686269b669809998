/// Why nothing was minted.
package struct MintingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// One sentence with the facts; lower case, without a final period.
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
