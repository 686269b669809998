/// Every mistake of a policy, each with its place.
public struct InvalidPolicy: Error, Sendable, Hashable {
    public let mistakes: [PolicyMistake]

    public init(mistakes: [PolicyMistake]) {
        self.mistakes = mistakes
    }
}

public struct PolicyMistake: Sendable, Hashable {
    /// A step from a policy's root to the place of a mistake.
    public enum Step: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
        case key(String)
        case index(Int)

        public init(stringLiteral value: String) { self = .key(value) }
        public init(integerLiteral value: Int) { self = .index(value) }
    }

    public let path: [Step]
    /// What is wrong, and what to write instead.
    public let message: String
    /// Stable; `mistake` where the linter has no rule of its own for it. Docs/policy-check.md has them all.
    public let code: String

    public init(_ path: [Step], _ message: String, code: String = "mistake") {
        self.path = path
        self.message = message
        self.code = code
    }
}
