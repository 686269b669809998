public import Foundation
public import TenureAppStore
public import TenureCore
package import TenureStore

/// The complete configuration of the service for one app. This type reads no environment variables and no globals: the
/// command `tenure serve` reads settings from files, the environment and options, and sets these properties.
public struct ServiceConfiguration: Sendable {
    /// The address to listen on. Beyond loopback the service needs an admin key, and TLS or a declared proxy.
    public var host = "127.0.0.1"
    /// The TCP port; 0 for any free port.
    public var port = 8080
    /// The path of the SQLite file, or the URL of a database server, which may contain a password. A missing file is
    /// created; its folder must exist.
    public var databasePath: String {
        get { database.revealed }
        set { database = Secret(newValue) }
    }
    private var database: Secret<String>
    /// Whether to create the database although keys exist already. If false, keys without a database are an error,
    /// because the database was probably moved or deleted. If true, an existing database is an error.
    public var createsDatabase = false
    /// The folder of the signing key and of the access tokens' secret. Nil means the folder of the SQLite file.
    /// Required with PostgreSQL (`noKeysFolder`).
    public var keysFolder: String?

    /// The policy that decides until another one is published.
    public var policy: Policy
    /// The app for which artifacts must be signed; by default the policy's app.
    public var app: AppIdentity
    /// The trusted roots of each accepted environment. A service with a root that isn't Apple's is a test service.
    public var anchors: [AppStoreEnvironment: TrustAnchors] = [.production: .apple, .sandbox: .apple]
    /// Whether `anchors` may have test authorities although other machines can reach the service. Anyone with a test
    /// authority's key can get every entitlement.
    public var allowsTestAnchorsBeyondLoopback = false

    /// The key for the admin API, from `tenure admin-key generate`; nil if no key is configured.
    public var adminKey: String? {
        get { adminKeySecret?.revealed }
        set { adminKeySecret = newValue.map { Secret($0) } }
    }
    private var adminKeySecret: Secret<String>?
    /// The certificate for TLS; nil for plain HTTP.
    public var certificateFiles: CertificateFiles?
    /// The proxies in front of the service. The proxies speak TLS with clients, and the service trusts their
    /// `X-Forwarded-For`.
    public var proxies: [AddressBlock] = []
    /// Which clients may read `/metrics`.
    public var metrics = MetricsAccess.guarded

    /// The key for the App Store Server API; nil if the service doesn't use it.
    public var appStore: AppStoreSettings?
    /// The seconds until the service searches again for customers with a missing history, after a search found none.
    package var appStoreIdle: TimeInterval = 5
    /// The share of Apple's rate limits that the service uses. Only a local App Store allows a share above 1.
    package var appStoreRateShare: Double = 1

    /// Asset packs for customers who bought them; nil if the service delivers no content.
    public var content: ContentSettings?
    /// How many downloads a customer may have in progress.
    package var downloadsPerCustomer = defaultDownloadsPerCustomer
    static let defaultDownloadsPerCustomer = 16

    /// The webhook endpoints. If no endpoint is configured, the service stores no messages.
    public var webhooks: [Webhook] = []
    /// What the webhooks have in common, such as how long messages are kept.
    public var webhookSettings = WebhookSettings()
    /// How webhooks are sent; tests set it.
    var webhookDelivery = WebhookDelivery()

    /// What happens if an acquisition (one Apple Account getting the app) that is linked to one user of the app is
    /// linked to another user.
    package var transfer = Transfer.never

    /// The limits of requests and connections.
    public var limits = Limits()
    /// How long the service waits for slow clients.
    public var timeouts = Timeouts()
    /// How often one client may send requests.
    public var rateLimits = RateLimits()
    /// How long entitlement tokens and access tokens are valid.
    public var tokenLifetimes = TokenLifetimes()
    /// The number of devices of one customer above which the service stores an event for support. It has no other
    /// effect.
    public var deviceLimit = 20

    /// Which clients may read `/metrics`.
    public enum MetricsAccess: String, Sendable, Hashable, CaseIterable {
        /// Clients on loopback, and clients with the admin key.
        case guarded
        /// Every client that reaches the service, without a key.
        case open
        /// There is no `/metrics`.
        case off
    }

    /// The limits of requests and connections.
    public struct Limits: Sendable, Hashable {
        /// The largest body of a request, in bytes. The response to a larger body is 413.
        public var bodySize = 4 * 1024 * 1024
        /// The maximum number of transactions in a sync.
        public var transactions = 2000
        /// The maximum number of renewal infos in a sync.
        public var renewalInfos = 500
        /// The maximum number of concurrent connections, never more than the process may open. If there are more, the
        /// service closes the least important one; see `Connections`.
        public var connections = 16_384
        /// The maximum number of connections from one IPv4 address or one /64 of IPv6. A /48 may have four times as
        /// many, but at most half of `connections`. Connections from loopback and from declared proxies have no such
        /// limit. Behind a declared proxy, the number limits the concurrent requests of one client instead. The default
        /// is high, because a mobile carrier may use one address for all of its customers.
        public var connectionsPerAddress = 256
        /// The bytes per second that a client must send of a body, over the last `Timeouts.body` seconds; 0 for no
        /// limit. The default is the same as in Apache's `mod_reqtimeout`.
        public var bodyRate = 500

        /// The defaults of `tenure serve`.
        public init() {}
    }

    /// The timeouts for clients, in seconds.
    public struct Timeouts: Sendable, Hashable {
        /// The time in which a new connection must send the head of its first request, including the TLS handshake.
        public var head = 10
        /// The time over which the rate of a body is measured. A body that is complete by then is never too slow.
        public var body = 10
        /// The time in which a client must read at least one byte of a response.
        public var response = 60
        /// The time until a connection without requests is closed.
        public var idle = 75
        /// The time to complete accepted requests after a signal to stop.
        public var shutdown = 30

        /// The defaults of `tenure serve`.
        public init() {}
    }

    /// How often one client may send requests. A mobile carrier may use one address for all of its customers.
    public struct RateLimits: Sendable, Hashable {
        /// The rate for one IPv4 address or one /64 of IPv6. The response to further requests is 429 with
        /// `Retry-After`.
        public var perAddress = Rate(perSecond: 5000, burst: 50_000)
        /// The rate for one access token, from any address.
        public var perToken = Rate(perSecond: 1000, burst: 10_000)

        /// The defaults of `tenure serve`.
        public init() {}
    }

    /// The size of a token bucket: how many requests a client may send on average, and at once.
    public struct Rate: Sendable, Hashable {
        /// A rate without a limit.
        public static let unlimited = Rate(perSecond: 0, burst: 0)

        /// The average number of requests per second; 0 for no limit.
        public var perSecond: Double
        /// The number of requests that may come at once after a pause; a number below 1 is used as 1.
        public var burst: Double

        /// Creates a rate. There is no limit if `perSecond` is 0.
        public init(perSecond: Double, burst: Double) {
            self.perSecond = perSecond
            self.burst = burst
        }
    }

    /// The lifetimes of tokens, in seconds.
    public struct TokenLifetimes: Sendable, Hashable {
        /// The longest lifetime of an entitlement token. Rights in it may end earlier.
        public var entitlementToken: TimeInterval = SigningKeyFile.defaultTokenLife
        /// The lifetime of an entitlement token for a request without a nonce, and of every right in it.
        public var entitlementTokenWithoutNonce: TimeInterval = 3600
        /// The time after which a device asks again about permanent rights.
        public var refresh: TimeInterval = 14 * 86_400
        /// The lifetime of an access token for bound artifacts: they prove that they belong to the device that sent
        /// them.
        public var accessToken: TimeInterval = 3600
        /// The lifetime of an access token for unbound artifacts, which came without such proof. The token gives access
        /// only to the data of these artifacts.
        public var unboundAccessToken: TimeInterval = 600

        /// The defaults of `tenure serve`.
        public init() {}
    }

    /// The memory for request bodies; tests set it.
    var bodies = BodyBudget.process

    /// How long a policy that another process published may go unnoticed. Tests set it.
    var policyStaleness = ActivePolicy.defaultStaleness

    /// How long a change of the signing keys may go unnoticed. Tests set it.
    var signingKeyStaleness = SigningKeys.defaultStaleness

    /// How long a new content catalog may go unnoticed. Tests set it.
    var contentStaleness = defaultStaleness
    static let defaultStaleness = Swift.Duration.seconds(1)

    /// The current time. Tests set it.
    package var now: @Sendable () -> Date = { Date() }
    /// A clock that replaces the system's clock in tests with a local App Store. This clock is allowed only on loopback
    /// and with test authorities in `anchors`, because anyone who sets the clock decides which rights have ended.
    public var clock: FileClock? {
        didSet { if let clock { now = { clock.now } } }
    }

    /// Creates a configuration with the defaults of `tenure serve`.
    public init(databasePath: String, policy: Policy) {
        database = Secret(databasePath)
        self.policy = policy
        app = AppIdentity(bundleID: policy.app.bundleID, appAppleID: policy.app.appleID)
    }

    /// The folder with the signing keys and the secret of access tokens, as set or by default.
    var folderOfKeys: String {
        if let keysFolder { return keysFolder }
        let folder = (databasePath as NSString).deletingLastPathComponent
        return folder.isEmpty ? "." : folder
    }

    /// The path of the SQLite file; nil if the database isn't a file.
    package var databaseFile: String? {
        databasePath.contains("://") || ConnectionString.matches(databasePath) ? nil : databasePath
    }

    /// The maximum number of connections. A download needs an open file in addition to its connection.
    var connectionLimit: Int { min(limits.connections, OpenFiles.available * 2 / 3) }

    /// Whether the service listens on loopback only.
    var isLoopback: Bool { Self.isLoopback(host) }

    /// Whether a host name or address is on this machine only.
    static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || host == "::1" || (host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." })
    }

    /// The mistakes that can be found without reading a file, the most important one first.
    public var mistakes: [ServiceError] {
        var mistakes: [ServiceError] = []
        if anchors.isEmpty { mistakes.append(.noEnvironment) }
        if !(0...65_535).contains(port) { mistakes.append(.invalidPort(port)) }
        if anchors[.production] != nil, app.appAppleID == nil { mistakes.append(.productionNeedsAppleID) }
        if let mistake = mistakeOfWebhooks { mistakes.append(mistake) }
        if let mistake = appStore?.mistake { mistakes.append(mistake) }
        mistakes += content?.mistakes ?? []
        if ConnectionString.matches(databasePath) {
            mistakes.append(.database(ConnectionString.objection))
        } else if databaseFile == nil, !["postgres://", "postgresql://"].contains(where: databasePath.hasPrefix) {
            // The URL may contain a password.
            let detail = "the database is a URL of an unknown kind; write `postgres://…`, or the path of an SQLite file"
            mistakes.append(.database(detail))
        }
        if databaseFile == nil, keysFolder == nil { mistakes.append(.noKeysFolder) }
        if let mistake = mistakeOfClock { mistakes.append(mistake) }
        if let adminKey, KeySecret(adminKey) == nil { mistakes.append(.invalidAdminKey) }
        // Behind a proxy, the service is reachable from beyond loopback, even if it listens on loopback.
        guard !isLoopback || !proxies.isEmpty else { return mistakes }
        if !testAuthorities.isEmpty, !allowsTestAnchorsBeyondLoopback {
            mistakes.append(.testAnchorsBeyondLoopback(host: host))
        }
        if adminKey == nil { mistakes.append(.noAdminKey(host: host)) }
        if proxies.isEmpty, certificateFiles == nil { mistakes.append(.noTransportSecurity(host: host)) }
        return mistakes
    }

    /// Whether the folder of keys has a signing key. The first start creates one.
    package var hasSigningKey: Bool { SigningKeyStore(folder: folderOfKeys).exists }

    /// The names of the trusted authorities other than Apple.
    package var testAuthorities: [String] { Set(anchors.values.flatMap(Self.testAuthorities)).sorted() }

    /// The mistake if a clock is set where it isn't allowed. `allowsTestAnchorsBeyondLoopback` makes no exception,
    /// because a stopped clock would make every token permanent.
    private var mistakeOfClock: ServiceError? {
        guard clock != nil else { return nil }
        guard isLoopback, proxies.isEmpty else {
            return .clock(
                "the clock is only for tests on this machine; set `host` to 127.0.0.1, and remove `behindProxy`")
        }
        guard anchors.values.allSatisfy({ !Self.testAuthorities(in: $0).isEmpty }) else {
            return .clock(
                "the clock is only for tests; set `trust` to the test authority that signs the tests' artifacts")
        }
        return nil
    }

    /// The names of the authorities other than Apple in these anchors.
    private static func testAuthorities(in anchors: TrustAnchors) -> [String] {
        anchors.summaries.filter { !AppleAnchors.contains(fingerprint: $0.fingerprint) }.map(\.subject)
    }

    /// Returns a verifier of App Store artifacts with the configured trust anchors.
    func verifier() throws(ServiceError) -> AppStoreVerifier {
        guard let trust = try? TrustConfiguration(anchors: anchors) else { throw .noEnvironment }
        return AppStoreVerifier(app: app, trust: trust)
    }

    /// The first mistake in the webhooks; nil if there is no mistake.
    private var mistakeOfWebhooks: ServiceError? {
        for webhook in webhooks {
            if let mistake = webhook.mistake { return mistake }
            guard webhooks.filter({ $0.name == webhook.name }).count == 1 else {
                return .webhook(name: webhook.name, detail: "two webhooks have this name; use different names")
            }
        }
        let ranges = [
            ("expiringDays", webhookSettings.expiringDays, 0...365),
            ("retentionDays", webhookSettings.retentionDays, 4...3650),
            ("concurrency", webhookSettings.concurrency, 1...100),
        ]
        for (name, value, range) in ranges where !range.contains(value) {
            return .failed(
                "`webhookSettings.\(name)` must be from \(range.lowerBound) to \(range.upperBound); found \(value)")
        }
        return nil
    }
}
