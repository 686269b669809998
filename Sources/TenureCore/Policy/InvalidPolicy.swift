/// The error for an invalid policy, with all of its mistakes.
public struct InvalidPolicy: Error, Sendable, Hashable {
    /// The mistakes, at least one, in the order in which they were found.
    public let mistakes: [PolicyMistake]
}

/// One mistake in a policy: where it is, and how to correct it.
public struct PolicyMistake: Sendable, Hashable {
    /// A key or an index on the path from the top of a policy to a mistake.
    public enum Step: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
        /// A key of a mapping, such as `entitlements`.
        case key(String)
        /// The index of an element in a list, from 0.
        case index(Int)

        /// Lets a path be written as `["eras", 0, "name"]`.
        public init(stringLiteral value: String) { self = .key(value) }
        /// Lets a path be written as `["eras", 0, "name"]`.
        public init(integerLiteral value: Int) { self = .index(value) }
    }

    /// The keys and indexes from the top of the policy to the mistake.
    public let path: [Step]
    /// What is wrong, and what to write instead.
    public let message: String
    /// A stable code from Docs/policy-check.md; `mistake` if the linter has no rule for it.
    public let code: String

    /// - Parameter message: the problem, then the fix, such as "the name is empty; give the era one, such as `paid`".
    public init(_ path: [Step], _ message: String, code: String = "mistake") {
        self.path = path
        self.message = message
        self.code = code
    }
}
