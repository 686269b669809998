public import Foundation
public import TenureAppStore
public import TenureCore

/// All that decides how the service runs. Nothing else does: no environment variable, no global.
public struct ServiceConfiguration: Sendable {
    /// Beyond loopback the service starts only with an admin key and behind a declared proxy.
    public var host = "127.0.0.1"
    /// 0: any free one.
    public var port = 8080
    /// The SQLite file, made where there is none. Its folder must exist.
    public var databasePath: String
    /// Where the certificate's key and the access tokens' secret lie; nil: beside the database.
    public var keysFolder: String?

    public var policy: Policy
    /// Whose artifacts count; from the policy unless set.
    public var app: AppIdentity
    /// By environment; one that is missing is not accepted. An anchor that is no root of Apple makes a test service.
    public var anchors: [AppStoreEnvironment: TrustAnchors] = [.production: .apple, .sandbox: .apple]
    /// Whoever can sign under a test anchor owns everything, so that beyond loopback they need this word.
    public var allowsTestAnchorsBeyondLoopback = false

    /// Opens the admin interface.
    public var adminKey: String?
    /// That a proxy in front of it speaks TLS with the clients.
    public var isBehindProxy = false

    public var limits = Limits()
    public var terms = Terms()
    /// One acquisition on more devices than that is noted in the record, and nothing else happens.
    public var deviceLimit = 20

    /// What one request may hold.
    public struct Limits: Sendable, Hashable {
        /// Bytes of a body.
        public var bodySize = 4 * 1024 * 1024
        public var transactions = 2000
        public var renewalInfos = 500

        public init() {}
    }

    /// For how long what the service signs is good, in seconds.
    public struct Terms: Sendable, Hashable {
        /// A certificate, whatever it says of single entitlements.
        public var certificate: TimeInterval = 365 * 86_400
        /// After that time a device asks again for rights that have no end of their own.
        public var refresh: TimeInterval = 14 * 86_400
        /// An access token; only proof that is bound to the device gets one.
        public var accessToken: TimeInterval = 3600
        /// An access token for proof that anybody may have found. It opens a record of that proof alone.
        public var unboundAccessToken: TimeInterval = 600

        public init() {}
    }

    /// The present; tests set it.
    package var now: @Sendable () -> Date = { Date() }

    public init(databasePath: String, policy: Policy) {
        self.databasePath = databasePath
        self.policy = policy
        app = AppIdentity(bundleID: policy.app.bundleID, appAppleID: policy.app.appleID)
    }

    var folderOfKeys: String {
        if let keysFolder { return keysFolder }
        let folder = (databasePath as NSString).deletingLastPathComponent
        return folder.isEmpty ? "." : folder
    }

    var isLoopback: Bool {
        host == "localhost" || host == "::1" || (host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." })
    }

    /// What is wrong with it, as far as can be told without starting; nil where nothing is.
    ///
    /// In the order in which the mistakes would matter.
    public var mistake: ServiceError? {
        guard !anchors.isEmpty else { return .noEnvironment }
        guard (0...65_535).contains(port) else { return .invalidPort(port) }
        if anchors[.production] != nil, app.appAppleID == nil { return .productionNeedsAppleID }
        // What a proxy is in front of is reached from beyond loopback, whatever address it has itself.
        guard !isLoopback || isBehindProxy else { return nil }
        if hasTestAnchors, !allowsTestAnchorsBeyondLoopback { return .testAnchorsBeyondLoopback(host: host) }
        guard let adminKey, !adminKey.isEmpty else { return .noAdminKey(host: host) }
        guard adminKey.utf8.count >= Self.shortestAdminKey else { return .weakAdminKey(length: Self.shortestAdminKey) }
        return isBehindProxy ? nil : .noTransportSecurity(host: host)
    }

    /// Characters: 128 bits in hexadecimal.
    static let shortestAdminKey = 32

    private var hasTestAnchors: Bool {
        anchors.values.contains { $0.summaries.contains { !AppleAnchors.contain(fingerprint: $0.fingerprint) } }
    }
}
