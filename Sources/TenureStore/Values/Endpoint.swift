/// Whom to tell what.
package struct Endpoint: Sendable, Hashable {
    package let name: String
    /// Nil: everything, also what later releases tell.
    package let kinds: Set<Message.Kind>?

    package init(name: String, kinds: Set<Message.Kind>? = nil) {
        self.name = name
        self.kinds = kinds
    }

    /// As the column `types` holds it.
    var types: String { kinds.map { $0.map(\.rawValue).sorted().joined(separator: " ") } ?? "*" }
}

/// An endpoint of some process.
package struct NamedEndpoint: Sendable, Hashable {
    package let name: String
    /// Another one each time that a process says that it serves it; nil: none ever did.
    package let sign: String?
}

/// An endpoint that is told no more.
package struct ForgottenEndpoint: Sendable, Hashable {
    package let name: String
    /// Messages that waited for it, and were given up.
    package let waiting: Int

    package init(name: String, waiting: Int) {
        self.name = name
        self.waiting = waiting
    }
}
