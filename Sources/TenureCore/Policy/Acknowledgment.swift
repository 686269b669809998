/// The developer's statement that one finding of `tenure policy check` is intended. An acknowledgment changes no
/// decision.
public struct Acknowledgment: Sendable, Hashable {
    /// The code of the rule that reported the finding, such as `right-lost`.
    public let code: String
    /// Where the finding is in the policy, as `tenure policy check` prints it: `eras/freemium/begins/iOS`.
    public let at: String
    /// Why the finding is intended, for later readers of the policy.
    public let reason: String

    /// - Parameter reason: not empty.
    public init(code: String, at: String, reason: String) {
        self.code = code
        self.at = at
        self.reason = reason
    }
}
