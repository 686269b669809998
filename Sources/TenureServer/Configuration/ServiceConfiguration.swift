public import Foundation
public import TenureAppStore
public import TenureCore
package import TenureStore

/// All that decides how the service runs. Nothing else does: no environment variable, no global.
public struct ServiceConfiguration: Sendable {
    /// Beyond loopback the service starts only with an admin key, and with TLS or behind a declared proxy.
    public var host = Defaults.host
    /// 0: any free one.
    public var port = Defaults.port
    /// The SQLite file, made where there is none, whose folder must exist; or a URL, which may hold a password.
    public var databasePath: String {
        get { database.revealed }
        set { database = Secret(newValue) }
    }
    private var database: Secret<String>
    /// The folder of the signing key and the access tokens' secret; nil: beside the database.
    public var keysFolder: String?

    public var policy: Policy
    /// Whose artifacts count; from the policy unless set.
    public var app: AppIdentity
    /// By environment; one that is missing is not accepted. An anchor that is no root of Apple makes a test service.
    public var anchors: [AppStoreEnvironment: TrustAnchors] = [.production: .apple, .sandbox: .apple]
    /// Whoever can sign under a test anchor owns everything, so that beyond loopback they need this word.
    public var allowsTestAnchorsBeyondLoopback = false

    /// Opens the admin interface: a key that `tenure key generate` made.
    public var adminKey: String? {
        get { operatorKey?.revealed }
        set { operatorKey = newValue.map { Secret($0) } }
    }
    private var operatorKey: Secret<String>?
    /// The service's own TLS; nil: it speaks plain HTTP.
    public var certificateFiles: CertificateFiles?
    /// The proxies in front of it, which speak TLS with the clients and whose `X-Forwarded-For` counts.
    public var proxies: [AddressBlock] = []
    /// Who may read `/metrics`.
    public var metrics = Defaults.metrics

    /// With which key the App Store is asked; nil: never, and the service knows what it was sent.
    public var appStore: AppStoreSettings?
    /// Seconds between two looks for customers whose history is to be asked for, after none was found.
    package var appStoreIdle: TimeInterval = 5
    /// Of Apple's rates; more than 1 only in a rehearsal.
    package var appStoreRateShare: Double = 1

    /// Asset packs for customers who bought them; nil: the service delivers none.
    public var content: ContentSettings?
    /// How many downloads a customer may have at once.
    package var downloadsPerCustomer = Downloads.usualLimitPerCustomer

    /// Who is told what became true; empty: nobody, and nothing is kept for it.
    public var webhooks: [Webhook] = []
    public var webhookTerms = WebhookTerms()
    /// How webhooks are sent; tests set it.
    var webhookDelivery = WebhookDelivery()

    /// What happens where an acquisition that is linked to one of the app's users is linked to another.
    package var transfer = Defaults.transfer

    public var limits = Limits()
    public var timeouts = Timeouts()
    public var rateLimits = RateLimits()
    public var terms = Terms()
    /// One acquisition on more devices than that is noted in the record, and nothing else happens.
    public var deviceLimit = Defaults.deviceLimit

    /// What holds where nobody says otherwise; the table of settings says the same from here.
    enum Defaults {
        static let host = "127.0.0.1"
        static let port = 8080
        static let database = "tenure.sqlite"
        static let metrics = MetricsAccess.guarded
        static let transfer = Transfer.never
        static let deviceLimit = 20
        static let limits = Limits()
        static let timeouts = Timeouts()
        static let rateLimits = RateLimits()
        static let webhookTerms = WebhookTerms()
    }

    public enum MetricsAccess: String, Sendable, Hashable {
        /// Loopback, and whoever has the admin key.
        case guarded
        case open
        case off
    }

    /// What one request may hold.
    public struct Limits: Sendable, Hashable {
        /// Bytes of a body.
        public var bodySize = 4 * 1024 * 1024
        public var transactions = 2000
        public var renewalInfos = 500
        /// Connections at once, and never more than the process may open. When there are more, the one that can best be
        /// spared is closed; see `Connections`.
        public var connections = 16_384
        /// Connections from one IPv4 address or one /64 of IPv6; a /48 may have four times as many. Not from loopback and
        /// declared proxies: there it is the requests at once of one client. Generous: one address may be a whole carrier's.
        public var connectionsPerAddress = 256
        /// Bytes per second that a client must send of a body, over the last `Timeouts.body` seconds; 0: no limit. Apache's
        /// `mod_reqtimeout` asks for as much.
        public var bodyRate = 500

        public init() {}
    }

    /// For how long a client may take, in seconds.
    public struct Timeouts: Sendable, Hashable {
        /// Until a new connection's first request has begun, TLS included.
        public var head = 10
        /// Over which the rate of a body is measured; one that is complete within that time is never too slow.
        public var body = 10
        /// In which a client must take a part of an answer, however small.
        public var response = 60
        /// Until a connection without requests is closed.
        public var idle = 75
        /// To finish what was accepted, once told to stop.
        public var shutdown = 30

        public init() {}
    }

    /// How often one client may ask. Generous: one address may be a whole carrier's.
    public struct RateLimits: Sendable, Hashable {
        /// By address, an IPv6 address by its /64; nil: no limit.
        public var perAddress: Rate? = Rate(perSecond: 5000, burst: 50_000)
        /// By access token; nil: no limit.
        public var perToken: Rate? = Rate(perSecond: 1000, burst: 10_000)

        public init() {}
    }

    /// `burst` at once, and `perSecond` in the long run.
    public struct Rate: Sendable, Hashable {
        public var perSecond: Double
        public var burst: Double

        public init(perSecond: Double, burst: Double) {
            self.perSecond = perSecond
            self.burst = burst
        }
    }

    /// For how long what the service signs is good, in seconds.
    public struct Terms: Sendable, Hashable {
        /// An entitlement token, whatever it says of single entitlements.
        public var entitlementToken: TimeInterval = 365 * 86_400
        /// An entitlement token for a request without a nonce, and every right in it.
        public var entitlementTokenWithoutNonce: TimeInterval = 3600
        /// After that time a device asks again for rights that have no end of their own.
        public var refresh: TimeInterval = 14 * 86_400
        /// An access token; only proof that is bound to the device gets one.
        public var accessToken: TimeInterval = 3600
        /// An access token for proof that anybody may have found. It opens a record of that proof alone.
        public var unboundAccessToken: TimeInterval = 600

        public init() {}
    }

    /// The memory for request bodies; tests set it.
    var bodies = BodyBudget.process

    /// For so long what another process publishes may go unnoticed here; tests set it.
    var policyStaleness = PolicyBook.usualStaleness

    /// For so long a change of the signing keys may go unnoticed; tests set it.
    var signingKeyStaleness = SigningKeys.usualStaleness

    /// For so long a new content catalog may go unnoticed; tests set it.
    var contentStaleness = ContentFolder.usualStaleness

    /// The present; tests set it.
    package var now: @Sendable () -> Date = { Date() }
    /// In a rehearsal: whose time it is. Only beside test anchors on loopback: who turns it decides what has ended.
    public var clock: RehearsalClock? {
        didSet { if let clock { now = { clock.now } } }
    }

    public init(databasePath: String, policy: Policy) {
        database = Secret(databasePath)
        self.policy = policy
        app = AppIdentity(bundleID: policy.app.bundleID, appAppleID: policy.app.appleID)
    }

    var folderOfKeys: String {
        if let keysFolder { return keysFolder }
        let folder = (databasePath as NSString).deletingLastPathComponent
        return folder.isEmpty ? "." : folder
    }

    /// nil where the record is not a file.
    var databaseFile: String? { databasePath.contains("://") ? nil : databasePath }

    var isLoopback: Bool { Self.isLoopback(host) }

    static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || host == "::1" || (host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." })
    }

    /// All that is wrong with it, as far as can be told without looking at any file; empty where nothing is.
    ///
    /// In the order in which the mistakes would matter.
    public var mistakes: [ServiceError] {
        var mistakes: [ServiceError] = []
        if anchors.isEmpty { mistakes.append(.noEnvironment) }
        if !(0...65_535).contains(port) { mistakes.append(.invalidPort(port)) }
        if anchors[.production] != nil, app.appAppleID == nil { mistakes.append(.productionNeedsAppleID) }
        if let mistake = mistakeOfWebhooks { mistakes.append(mistake) }
        if let mistake = appStore?.mistake { mistakes.append(mistake) }
        mistakes += content?.mistakes ?? []
        if databaseFile == nil, keysFolder == nil { mistakes.append(.noKeysFolder) }
        if let mistake = mistakeOfClock { mistakes.append(mistake) }
        if let adminKey, KeySecret(adminKey) == nil { mistakes.append(.invalidAdminKey) }
        // What a proxy is in front of is reached from beyond loopback, whatever address it has itself.
        guard !isLoopback || !proxies.isEmpty else { return mistakes }
        if !testAuthorities.isEmpty, !allowsTestAnchorsBeyondLoopback {
            mistakes.append(.testAnchorsBeyondLoopback(host: host))
        }
        if adminKey == nil { mistakes.append(.noAdminKey(host: host)) }
        if proxies.isEmpty, certificateFiles == nil { mistakes.append(.noTransportSecurity(host: host)) }
        return mistakes
    }

    public var hasSigningKey: Bool { SigningKeyStore(folder: folderOfKeys).exists }

    /// The names of the authorities that are trusted beside Apple's.
    public var testAuthorities: [String] { Set(anchors.values.flatMap(Self.testAuthorities)).sorted() }

    /// Even with `allowsTestAnchorsBeyondLoopback`: a clock that stands still lets every token live for ever.
    private var mistakeOfClock: ServiceError? {
        guard clock != nil else { return nil }
        guard isLoopback, proxies.isEmpty else { return .clock("it is for rehearsals on 127.0.0.1, without a proxy") }
        guard anchors.values.allSatisfy({ !Self.testAuthorities(in: $0).isEmpty }) else {
            return .clock("it is for rehearsals; name the test authority that signs in them by `trust`")
        }
        return nil
    }

    private static func testAuthorities(in anchors: TrustAnchors) -> [String] {
        anchors.summaries.filter { !AppleAnchors.contain(fingerprint: $0.fingerprint) }.map(\.subject)
    }
}
