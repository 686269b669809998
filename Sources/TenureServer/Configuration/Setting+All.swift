import TenureCore
import TenureStore

/// All settings. A setting to which other code refers is a constant here. All other settings appear only in `all`.
extension Setting {
    package static let config = Setting(
        "config", .path, \.config, isForCommandOnly: true, "a configuration file, in YAML or JSON")
    package static let policy = Setting(
        "policy", .path, \.policy, isOfApp: true, "the policy, in YAML or JSON; required")
    package static let database = Setting(
        "database", .path, \.configuration.databasePath, isOfApp: true,
        "the database: an SQLite file or a PostgreSQL URL; created if missing")
    package static let keys = Setting(
        "keys", .path, \.configuration.keysFolder, isOfApp: true,
        "the folder with the service's key files, each of mode 600; by default the folder of the SQLite file; required with PostgreSQL"
    )
    package static let trust = Setting(
        "trust", listOf: .trust, \.trust, isOfApp: true,
        "certificates to trust in addition to Apple's roots; for xcode, the certificate of your Xcode")
    package static let adminKeyFile = Setting(
        "adminKeyFile", .path, \.adminKeyFile, isOfApp: true,
        "a file with the admin key, made by `tenure admin-key generate`; mode 600")
    package static let issuerID = Setting(
        "appStore.issuerID", .text("UUID"), \.appStore.issuerID, isOfApp: true,
        "for calls to the App Store: the issuer ID in App Store Connect")
    package static let keyID = Setting(
        "appStore.keyID", .text("id"), \.appStore.keyID, isOfApp: true,
        "the ID of the In-App Purchase key in App Store Connect")
    package static let privateKeyFile = Setting(
        "appStore.privateKeyFile", .path, \.appStore.privateKeyFile, isOfApp: true,
        "the `.p8` file of the In-App Purchase key")
    package static let productionHost = Setting(
        "appStore.hosts.production", .text("URL"), \.productionHost, isOfApp: true,
        "another server in place of Apple's for production, such as a local App Store")
    package static let sandboxHost = Setting(
        "appStore.hosts.sandbox", .text("URL"), \.sandboxHost, isOfApp: true,
        "another server in place of Apple's for the sandbox")
    package static let clock = Setting(
        "clock", .path, \.clock,
        "for tests on loopback with a test authority: a file with the current instant, such as a local App Store's")
    package static let contentFolder = Setting(
        "content.folder", .path, \.content.folder, isOfApp: true,
        "the folder where `tenure content publish` puts asset packs; see Docs/content.md")
    package static let linkLifetime = Setting(
        "content.linkLifetime", 1...31_536_000, fallback: "24h", \.content.linkLifetime, isOfApp: true,
        "how long a download link works; with S3 at most 7d")
    package static let webhooks = Setting(
        "webhooks", .structure, isOfApp: true, "endpoints that receive events; see Docs/webhooks.md")
    package static let apps = Setting(
        "apps", .structure, "several apps in one service, by name, each with its own policy, database and keys")
    package static let appsDefault = Setting(
        "apps.default", .text("app"), \.defaultApp, "which of several apps also answers the routes without `/apps/NAME`"
    )
    static let shutdownTimeout = Setting(
        "timeouts.shutdown", 0...3600, \.configuration.timeouts.shutdown,
        "seconds to finish accepted requests after SIGTERM")

    /// All settings, in the order of the documentation.
    package static let all: [Setting] = [
        config,
        Setting(
            "check", \.isCheck, isForCommandOnly: true,
            "print every mistake in the configuration, or what the service would do, and exit"),
        Setting(
            "newDatabase", \.configuration.createsDatabase, isForCommandOnly: true,
            "create an empty database although there is a signing key already; without this option, a service that has a signing key doesn't start if its database is missing; fails if the database exists"
        ),
        policy, database, keys,
        Setting("host", .text("address"), \.configuration.host, "the address to listen on"),
        Setting("port", 0...65_535, \.configuration.port, "the port to listen on; 0 takes any free port"),
        Setting(
            "environments", listOf: .choice(["production", "sandbox", "xcode"]), \.environments,
            flag: "environment", isOfApp: true, "the App Store environments from which the service accepts data"),
        trust, adminKeyFile,
        Setting(
            "tls.certificate", .path, \.certificate,
            "a PEM file with the server's certificate, then its intermediate certificates"),
        Setting("tls.key", .path, \.tlsKey, "a PEM file with the private key of `tls.certificate`"),
        Setting(
            "behindProxy", listOf: .text("address"), \.proxies,
            "addresses or networks (10.0.0.0/8) of the proxies that terminate TLS in front of the service"),
        Setting(
            "testAnchorsBeyondLoopback", \.configuration.allowsTestAnchorsBeyondLoopback,
            "accept test authorities in `trust` although other machines can reach the service; anyone with a test authority's private key can get every entitlement"
        ),
        Setting(
            "transfer", \.configuration.transfer, isOfApp: true,
            "what a link to a second user does with an acquisition: `never` refuses it, `newest` moves the acquisition, `share` makes both users one customer"
        ),
        Setting(
            "deviceLimit", 1...1_000_000, \.configuration.deviceLimit, isOfApp: true,
            "the number of devices of one customer above which the event `manyDevices` is stored; no sync is refused"
        ),
        issuerID, keyID, privateKeyFile, productionHost, sandboxHost, clock, contentFolder, linkLifetime,
        Setting(
            "content.s3.endpoint", .text("URL"), \.s3.endpoint, isOfApp: true,
            "the S3-compatible server with the files; by default AWS's server of the region"),
        Setting(
            "content.s3.region", .text("region"), \.s3.region, isOfApp: true,
            "the region of the bucket, such as `eu-central-1`"),
        Setting("content.s3.bucket", .text("name"), \.s3.bucket, isOfApp: true, "the bucket with the published files"),
        Setting(
            "content.s3.prefix", .text("text"), \.s3.prefix, isOfApp: true,
            "the folder of the published files in the bucket"),
        Setting(
            "content.s3.accessKeyID", .text("id"), \.s3.accessKeyID, isOfApp: true,
            "the ID of an access key that may read the bucket"),
        Setting(
            "content.s3.secretAccessKeyFile", .path, \.s3.secretAccessKeyFile, isOfApp: true,
            "a file with the secret of the access key; mode 600"),
        Setting(
            "content.s3.sessionTokenFile", .path, \.s3.sessionTokenFile, isOfApp: true,
            "a file with the session token of temporary credentials; mode 600"),
        Setting(
            "content.s3.urlStyle", \.s3.urlStyle, isOfApp: true,
            "whether a URL names the bucket in its path or in its host"),
        webhooks,
        Setting(
            "expiringDays", 0...365, \.configuration.webhookSettings.expiringDays, isOfApp: true,
            "days before the end of a right at which `entitlement.expiring` is sent"),
        Setting(
            "webhookRetentionDays", 4...3650, \.configuration.webhookSettings.retentionDays, isOfApp: true,
            "days for which sent messages are kept"),
        apps, appsDefault,
        Setting(
            "metrics", \.configuration.metrics,
            "who may read `/metrics`: `guarded` allows loopback and the admin key, `open` everyone, `off` no client"),
        Setting(
            "logLevel", .choice(["trace", "debug", "info", "notice", "warning", "error"]), \.logLevel,
            "the least severe level that is logged"),
        Setting(
            "logFormat", .choice(["auto", "text", "json"]), \.logFormat,
            "one JSON object a line, or text; auto is text on a terminal and JSON elsewhere"),
        Setting(
            "rateLimits.perAddress", 0...1_000_000, \.configuration.rateLimits.perAddress.perSecond, isOfApp: true,
            "requests per second from one address (IPv6: from one /64); 0 means no limit"),
        Setting(
            "rateLimits.addressBurst", 1...10_000_000, \.configuration.rateLimits.perAddress.burst, isOfApp: true,
            "requests that one address may send at once"),
        Setting(
            "rateLimits.perToken", 0...1_000_000, \.configuration.rateLimits.perToken.perSecond, isOfApp: true,
            "requests per second with one access token; 0 means no limit"),
        Setting(
            "rateLimits.tokenBurst", 1...10_000_000, \.configuration.rateLimits.perToken.burst, isOfApp: true,
            "requests that may be sent at once with one access token"),
        Setting(
            "limits.bodySize", 1024...1_073_741_824, \.configuration.limits.bodySize, isOfApp: true,
            "the largest request body, in bytes"),
        Setting(
            "limits.bodyRate", 0...1_073_741_824, \.configuration.limits.bodyRate,
            "the lowest rate of a request body, in bytes per second; 0 means no limit"),
        Setting(
            "limits.connections", 1...1_000_000, \.configuration.limits.connections,
            "connections at once, never more than the process may open; at the limit, a new connection replaces the longest idle one"
        ),
        Setting(
            "limits.connectionsPerAddress", 1...1_000_000, \.configuration.limits.connectionsPerAddress,
            "connections at once from one address (IPv6: from one /64); for a client behind a proxy, its requests in progress"
        ),
        Setting(
            "timeouts.head", 1...3600, \.configuration.timeouts.head,
            "seconds within which a new connection must send the head of its first request, including the TLS handshake"
        ),
        Setting(
            "timeouts.body", 1...3600, \.configuration.timeouts.body, "seconds over which `limits.bodyRate` is measured"
        ),
        Setting(
            "timeouts.response", 1...3600, \.configuration.timeouts.response,
            "seconds within which a client must read a part of a response"),
        Setting(
            "timeouts.idle", 1...3600, \.configuration.timeouts.idle,
            "seconds until a connection without requests is closed"),
        shutdownTimeout,
    ]

    /// The settings that each of several apps has.
    package static let ofApp = all.filter(\.isOfApp)

    /// The settings that a running service with several apps can't change.
    package static let fixed = all.filter { !$0.isOfApp && !$0.isForCommandOnly && $0.name != appsDefault.name }

    /// The settings of the S3 bucket that has the files of asset packs in place of `content.folder`.
    package static let s3 = all.filter { $0.name.hasPrefix("content.s3.") }

    /// The settings that a file may contain and, unless they are structures, the environment.
    package static let configurable = all.filter { !$0.isForCommandOnly }
}
