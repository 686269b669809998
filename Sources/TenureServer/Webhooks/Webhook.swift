import TenureCore
package import TenureStore

/// An endpoint of the developer's own, to which the service tells what became true.
public struct Webhook: Sendable, Hashable {
    /// Stands in logs and in the record: renaming it makes another endpoint.
    public var name: String
    /// `https://…`; its path may hold a password of the receiver.
    public var url: String {
        get { address.revealed }
        set { address = Secret(newValue) }
    }
    private var address: Secret<String>
    /// One, or two while the secret is changed: the new one first. At least 16 characters each.
    public var secrets: [String] {
        get { signingSecrets.revealed }
        set { signingSecrets = Secret(newValue) }
    }
    private var signingSecrets: Secret<[String]>
    /// Which types; empty: all.
    public var events: [String]
    /// That this host may lie in a private network, or be reached without TLS on loopback.
    public var allowsPrivate: Bool

    public init(name: String, url: String, secrets: [String], events: [String] = [], allowsPrivate: Bool = false) {
        self.name = name
        address = Secret(url)
        signingSecrets = Secret(secrets)
        self.events = events
        self.allowsPrivate = allowsPrivate
    }

    static let shortestSecret = 16

    package var endpoint: Endpoint {
        Endpoint(name: name, kinds: events.isEmpty ? nil : Set(events.compactMap { Message.Kind(rawValue: $0) }))
    }

    /// What is wrong with it; nil where nothing is.
    var mistake: ServiceError? {
        let detail: String
        if name.isEmpty {
            detail = "it has no name; give it one, for logs and for the record"
        } else if let mistake = mistakeOfURL {
            detail = mistake
        } else if let unknown = events.first(where: { Message.Kind(rawValue: $0) == nil }) {
            let known = Message.Kind.allCases.map(\.rawValue).joined(separator: ", ")
            detail = "there is no event `\(unknown)`; the events are \(known)"
        } else if secrets.isEmpty || secrets.count > 2 {
            detail = "its secret file holds \(secrets.count) secrets; write one, or two while you change it"
        } else if secrets.contains(where: { $0.utf8.count < Self.shortestSecret }) {
            detail = "its secret is too short; use at least \(Self.shortestSecret) random characters"
        } else {
            return nil
        }
        return .webhook(name: name, detail: detail)
    }

    private var mistakeOfURL: String? {
        do {
            _ = try WebhookTarget(url, allowsPrivate: allowsPrivate)
            return nil
        } catch {
            return error.detail
        }
    }
}

/// What holds for all webhooks.
public struct WebhookTerms: Sendable, Hashable {
    /// So many days before a right ends, `entitlement.expiring` is told.
    public var expiringDays = 7
    /// After so many days what was delivered, or given up, is forgotten.
    public var retentionDays = 30
    /// Deliveries at once to one endpoint, from one process.
    public var concurrency = 8

    public init() {}
}
