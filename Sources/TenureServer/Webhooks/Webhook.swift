import Foundation
import TenureCore
import TenureJSON
import TenureStore

/// One of the developer's endpoints, which gets a message for each change of a customer's entitlements.
public struct Webhook: Sendable, Hashable {
    /// The endpoint's name in logs and in the database. Renaming it creates a new endpoint and abandons the messages
    /// that wait for the old name.
    public var name: String
    /// The URL, `https://…`. Its path may contain a password of the receiver.
    public var url: String {
        get { address.revealed }
        set { address = Secret(newValue) }
    }
    private var address: Secret<String>
    /// The secrets that sign messages: one, or two while the secret is being changed, the new secret first. Each has at
    /// least 16 bytes of UTF-8.
    public var secrets: [String] {
        get { signingSecrets.revealed }
        set { signingSecrets = Secret(newValue) }
    }
    private var signingSecrets: Secret<[String]>
    /// The types of messages to send; empty for all types.
    public var events: [String]
    /// Whether the endpoint gets a message about each customer that a publication of a policy affects. If false, the
    /// endpoint gets only the message `policy.published` about a publication, and the developer's server reads
    /// customers from the admin API when it needs them.
    public var eachCustomer: Bool
    /// Whether the endpoint's host may be in a private network, or on this machine without TLS.
    public var allowsPrivate: Bool

    /// Creates an endpoint that gets all types of messages by default.
    public init(
        name: String, url: String, secrets: [String], events: [String] = [], eachCustomer: Bool = true,
        allowsPrivate: Bool = false
    ) {
        self.name = name
        address = Secret(url)
        signingSecrets = Secret(secrets)
        self.events = events
        self.eachCustomer = eachCustomer
        self.allowsPrivate = allowsPrivate
    }

    /// The minimum length of a secret, in bytes of UTF-8.
    static let minimumSecretLength = 16

    /// The endpoint as it is registered in the database, without URL and secrets.
    var endpoint: Endpoint {
        Endpoint(
            name: name, kinds: events.isEmpty ? nil : Set(events.compactMap { Message.Kind(rawValue: $0) }),
            eachCustomer: eachCustomer)
    }

    /// The first mistake in the settings of this webhook; nil if there is no mistake.
    var mistake: ServiceError? {
        let detail: String
        if name.isEmpty {
            detail = "the name is missing; give the webhook a name, which logs and the database use"
        } else if case .failure(let mistake) = target {
            detail = mistake.detail
        } else if let unknown = events.first(where: { Message.Kind(rawValue: $0) == nil }) {
            let allEvents = Message.Kind.allCases.map(\.rawValue).joined(separator: ", ")
            detail = "there is no event `\(unknown)`; use one or more of \(allEvents)"
        } else if !eachCustomer, !events.isEmpty, !events.contains(Message.Kind.policyPublished.rawValue) {
            detail = """
                with `eachCustomer: false`, the webhook gets no message about a publication; add `policy.published` to `events`
                """
        } else if secrets.isEmpty || secrets.count > 2 {
            detail = """
                the secret file has \(secrets.count) secrets; write one secret, or the new and the old secret while \
                you change it
                """
        } else if secrets.contains(where: { $0.utf8.count < Self.minimumSecretLength }) {
            detail = "a secret is too short; use at least \(Self.minimumSecretLength) random characters"
        } else {
            return nil
        }
        return .webhook(name: name, detail: detail)
    }

    /// The parsed URL, or the mistake in it.
    var target: Result<WebhookTarget, WebhookTarget.Mistake> {
        Result { () throws(WebhookTarget.Mistake) in try WebhookTarget(url, allowsPrivate: allowsPrivate) }
    }
}

/// The settings for all webhooks of a service.
public struct WebhookSettings: Sendable, Hashable {
    /// How many days before the end of an entitlement the message `entitlement.expiring` is sent.
    public var expiringDays = 7
    /// After how many days delivered and abandoned messages are removed.
    public var retentionDays = 30
    /// The maximum number of concurrent deliveries to one endpoint from one process.
    public var concurrency = 8

    /// The defaults of `tenure serve`.
    public init() {}
}

extension Webhook {
    /// Sends one message of the type `test`. The message is signed and sent like any other message, but isn't stored,
    /// and is sent only once.
    ///
    /// - Returns: Whether the message was delivered, and a description of the result for people.
    /// - Throws: `ServiceError.webhook` if the webhook's settings have a mistake.
    public func test(app bundleID: String? = nil) async throws(ServiceError) -> (isDelivered: Bool, summary: String) {
        if let mistake { throw mistake }
        let target = try target.mapError { ServiceError.webhook(name: name, detail: $0.detail) }.get()
        let event = PublicID.event.random()
        let json = JSONWriter.object { json in
            json.field("id", event)
            json.field("type", "test")
            json.field("time", Date())
            json.field("app", ifPresent: bundleID)
        }
        let headers = WebhookSignature.headers(of: json, event: event, at: Date(), secrets: secrets)
        switch await (try WebhookSender()).send(json, headers: headers, to: target) {
        case .status(let status, _) where (200..<300).contains(status):
            return (true, "delivered: the endpoint answered \(status)")
        case .status(let status, _) where (300..<400).contains(status):
            return (
                false,
                "the endpoint redirects (\(status)), and redirects aren't followed; configure the URL to which it redirects"
            )
        case .status(let status, _): return (false, "the endpoint answered \(status) instead of 2xx")
        case .noResponse(let detail): return (false, detail)
        }
    }

    /// Reads the secrets of a file, one on each line, the newest first.
    ///
    /// Throws `keyFile` if the file can't be read, or if users other than its owner can read it.
    package static func secrets(in path: String) throws(ServiceError) -> [String] {
        let contents = try SecretFile(path: path).existingContents()
        return String(decoding: contents, as: UTF8.self).split(whereSeparator: \.isNewline)
            .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}
