/// The developer's statement that one finding of the linter is intended. It changes no decision.
public struct Acknowledgment: Sendable, Hashable {
    /// The finding's rule, such as `right-lost`.
    public let code: String
    /// The finding's place, as `tenure policy check` writes it: `eras/freemium/begins/iOS`.
    public let at: String
    /// Why it is intended, for whoever reads the policy later.
    public let reason: String

    public init(code: String, at: String, reason: String) {
        self.code = code
        self.at = at
        self.reason = reason
    }
}
