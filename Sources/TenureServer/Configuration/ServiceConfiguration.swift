package import Foundation
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
    /// The path of the SQLite file, or the URL of a database server, which may contain a password. The file's
    /// folder must exist.
    public var databasePath: String {
        get { database.revealed }
        set { database = Secret(newValue) }
    }
    private var database: Secret<String>
    /// Whether to create the database although a signing key exists. If false, a missing database is created only if
    /// no such key exists; otherwise it was probably moved or deleted. If true, an existing database is an error.
    public var createsDatabase = false
    /// The folder of the signing key and of the access tokens' secret. Nil means the folder of the SQLite file.
    /// Required with PostgreSQL (`noKeysFolder`).
    public var keysFolder: String?

    /// The policy that decides until another one is published.
    public var policy: Policy
    /// The app for which artifacts must be signed; by default the policy's app.
    public var app: AppIdentity
    /// The trusted roots of each accepted environment. A root that isn't Apple's is a *test authority*.
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

    /// The asset packs, files that a purchase unlocks; nil if the service delivers no content.
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

    /// What happens if an acquisition (one Apple Account getting the app) is linked to a second user of the app.
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

    /// The maximum number of connections: at most two thirds of the files that the process may open, because a download
    /// needs an open file in addition to its connection.
    var connectionLimit: Int { min(limits.connections, OpenFiles.available * 2 / 3) }

    /// Whether the service listens on loopback only.
    var isLoopback: Bool { Self.isLoopback(host) }

    /// Whether a host name or address is on this machine only.
    static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || host == "::1" || (host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." })
    }

    /// Whether the folder of keys has a signing key. The first start creates one.
    package var hasSigningKey: Bool { SigningKeyStore(folder: folderOfKeys).exists }

    /// Returns a verifier of App Store artifacts with the configured trust anchors.
    func verifier() throws(ServiceError) -> AppStoreVerifier {
        guard let trust = try? TrustConfiguration(anchors: anchors) else { throw .noEnvironment }
        return AppStoreVerifier(app: app, trust: trust)
    }
}
