/// A webhook endpoint, and the kinds of messages that it receives.
package struct Endpoint: Sendable, Hashable {
    let name: String
    /// The kinds of messages; nil for all kinds, including new kinds of later releases.
    let kinds: Set<Message.Kind>?
    /// Whether the endpoint also gets a message about each customer that a published policy affects.
    let eachCustomer: Bool

    package init(name: String, kinds: Set<Message.Kind>? = nil, eachCustomer: Bool = true) {
        self.name = name
        self.kinds = kinds
        self.eachCustomer = eachCustomer
    }

    /// The kinds as the column `types` contains them: separated by spaces, or `*` for all.
    var types: String { kinds.map { $0.map(\.rawValue).sorted().joined(separator: " ") } ?? "*" }
}

/// The name of a registered endpoint, with its last heartbeat.
package struct NamedEndpoint: Sendable, Hashable {
    package let name: String
    /// A random text that changes each time a process reports that it serves the endpoint. Nil if no process has
    /// reported that.
    let heartbeat: String?
}

/// An endpoint that was removed and gets no more messages.
package struct RemovedEndpoint: Sendable, Hashable {
    package let name: String
    /// The number of messages that waited for the endpoint and were abandoned.
    package let waiting: Int

    package init(name: String, waiting: Int) {
        self.name = name
        self.waiting = waiting
    }
}
