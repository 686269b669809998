import NIOSSL

/// How webhooks are sent: name resolution, trust, timeouts and retries. Only tests change these values.
struct WebhookDelivery: Sendable {
    var resolver = HostResolver.system
    /// The trusted certificate authorities; nil for the system's authorities.
    var trustRoots: NIOSSLTrustRoots?
    var timeouts = WebhookSender.Timeouts()
    var schedule = RetrySchedule()
    /// The time between two reads of the outbox, which has the waiting messages. Also the time between two reads of the
    /// customers to compare.
    var interval = Duration.seconds(1)
}
