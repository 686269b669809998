/// Why nothing was minted.
public struct MintingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// One sentence with the facts; lower case, without a final period.
    public let description: String

    package init(_ description: String) {
        self.description = description
    }
}
