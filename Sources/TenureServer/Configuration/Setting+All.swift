import TenureStore

/// The one table of settings.
extension Setting {
    private typealias Defaults = ServiceConfiguration.Defaults

    package static let config = Setting(
        "config", .path, isForCommandOnly: true, "a configuration file, in YAML or JSON")
    package static let check = Setting(
        "check", .flag, isForCommandOnly: true,
        "print all that is wrong with the configuration, or what it would do, and exit")

    package static let policy = Setting("policy", .path, "the policy, in YAML or JSON; required")
    package static let database = Setting(
        "database", .path, fallback: Defaults.database,
        "the record: a file of SQLite, or a URL of PostgreSQL; made where there is none")
    package static let keys = Setting(
        "keys", .path,
        "the folder of the service's keys, mode 600; beside a record that is a file, unless it is said")
    package static let host = Setting("host", .text("address"), fallback: Defaults.host, "the address to listen on")
    package static let port = Setting("port", .number(0...65_535), fallback: "\(Defaults.port)", "0 takes any free one")
    package static let environments = Setting(
        "environments", .list(.choice(["production", "sandbox", "xcode"])), fallback: "production, sandbox",
        flag: "environment", "which environments count")
    package static let trust = Setting(
        "trust", .list(.trust), "certificates beside Apple's roots; for xcode, the very certificate of your Xcode")
    package static let adminKeyFile = Setting(
        "adminKeyFile", .path, "a file with the admin key, which `tenure key generate` makes; mode 600")
    package static let certificate = Setting(
        "tls.certificate", .path, "a PEM file with the server's certificate and those between it and a root")
    package static let certificateKey = Setting("tls.key", .path, "a PEM file with that certificate's private key")
    package static let behindProxy = Setting(
        "behindProxy", .list(.text("address")),
        "addresses or networks (10.0.0.0/8) of the proxies in front, which speak TLS with the clients")
    package static let testAnchorsBeyondLoopback = Setting(
        "testAnchorsBeyondLoopback", .flag, fallback: "false", "trust test anchors even beyond loopback")
    package static let transfer = Setting(
        "transfer", .choice(Transfer.allCases.map(\.rawValue)), fallback: Defaults.transfer.rawValue,
        "what becomes of an acquisition that is linked to one user, and now to another")
    package static let deviceLimit = Setting(
        "deviceLimit", .number(1...1_000_000), fallback: "\(Defaults.deviceLimit)",
        "devices of one acquisition beyond which it is noted")
    package static let issuerID = Setting(
        "appStore.issuerID", .text("UUID"), "for calls to the App Store: the issuer above the keys in App Store Connect"
    )
    package static let keyID = Setting("appStore.keyID", .text("id"), "the id beside the key")
    package static let privateKeyFile = Setting("appStore.privateKeyFile", .path, "the key's `.p8` file")
    package static let productionHost = Setting(
        "appStore.hosts.production", .text("URL"), "another App Store for production, such as a local one")
    package static let sandboxHost = Setting("appStore.hosts.sandbox", .text("URL"), "the same for the sandbox")
    package static let clock = Setting(
        "clock", .path,
        "for rehearsals, with test anchors on loopback: a file with the instant that it is, such as a local App Store's"
    )
    package static let expiringDays = Setting(
        "expiringDays", .number(0...365), fallback: "\(Defaults.webhookTerms.expiringDays)",
        "days before an end at which `entitlement.expiring` is told")
    package static let webhookRetentionDays = Setting(
        "webhookRetentionDays", .number(4...3650), fallback: "\(Defaults.webhookTerms.retentionDays)",
        "days for which delivered messages are kept")
    package static let contentFolder = Setting(
        "content.folder", .path, "the folder where `tenure content publish` puts asset packs; see Docs/content.md")
    package static let linkLifetime = Setting(
        "content.linkLifetime", .length(1...31_536_000), fallback: "24h",
        "how long a download link works; with S3 at most 7d")
    package static let s3Endpoint = Setting(
        "content.s3.endpoint", .text("URL"), "the S3-compatible server with the files; AWS's of the region if missing")
    package static let s3Region = Setting(
        "content.s3.region", .text("region"), "the region of the bucket, such as `eu-central-1`")
    package static let s3Bucket = Setting(
        "content.s3.bucket", .text("name"), "the bucket with the published files, to which links lead")
    package static let s3Prefix = Setting(
        "content.s3.prefix", .text("text"), "what the names of the objects begin with, before a slash")
    package static let s3AccessKeyID = Setting(
        "content.s3.accessKeyID", .text("id"), "the ID of an access key that may read the bucket")
    package static let s3SecretAccessKeyFile = Setting(
        "content.s3.secretAccessKeyFile", .path, "a file with that key's secret; mode 600")
    package static let s3SessionTokenFile = Setting(
        "content.s3.sessionTokenFile", .path, "a file with the session token of temporary credentials; mode 600")
    package static let s3URLStyle = Setting(
        "content.s3.urlStyle", .choice(S3Settings.URLStyle.allCases.map(\.rawValue)),
        fallback: S3Settings.URLStyle.path.rawValue, "where a URL names the bucket: in its path, or in its host")
    package static let webhooks = Setting("webhooks", .structure, "endpoints that receive events; see Docs/webhooks.md")
    package static let apps = Setting(
        "apps", .structure, "several apps in one service, by name, each with its own policy, database and keys")
    package static let metrics = Setting(
        "metrics", .choice(["guarded", "open", "off"]), fallback: Defaults.metrics.rawValue,
        "who may read `/metrics`: loopback and whoever has the admin key; everybody; nobody")
    package static let logLevel = Setting(
        "logLevel", .choice(["trace", "debug", "info", "notice", "warning", "error"]), fallback: "info",
        "what is logged")
    package static let logFormat = Setting(
        "logFormat", .choice(["auto", "text", "json"]), fallback: "auto",
        "one JSON object a line, or text; auto is text on a terminal")
    package static let addressRate = Setting(
        "rateLimits.perAddress", .number(0...1_000_000),
        fallback: "\(Int(Defaults.rateLimits.perAddress?.perSecond ?? 0))",
        "requests per second from one address (IPv6: from one /64); 0 is no limit")
    package static let addressBurst = Setting(
        "rateLimits.addressBurst", .number(1...10_000_000),
        fallback: "\(Int(Defaults.rateLimits.perAddress?.burst ?? 0))",
        "how many may come from there at once")
    package static let tokenRate = Setting(
        "rateLimits.perToken", .number(0...1_000_000), fallback: "\(Int(Defaults.rateLimits.perToken?.perSecond ?? 0))",
        "requests per second with one access token; 0 is no limit")
    package static let tokenBurst = Setting(
        "rateLimits.tokenBurst", .number(1...10_000_000), fallback: "\(Int(Defaults.rateLimits.perToken?.burst ?? 0))",
        "how many may come with it at once")
    package static let bodySize = Setting(
        "limits.bodySize", .number(1024...1_073_741_824), fallback: "\(Defaults.limits.bodySize)",
        "bytes of a request's body")
    package static let connections = Setting(
        "limits.connections", .number(1...1_000_000), fallback: "\(Defaults.limits.connections)",
        "connections at once, never more than the process may open; when there are more, the longest idle one is closed"
    )
    package static let connectionsPerAddress = Setting(
        "limits.connectionsPerAddress", .number(1...1_000_000), fallback: "\(Defaults.limits.connectionsPerAddress)",
        "connections at once from one address, behind a proxy requests; an IPv6 address counts by its /64")
    package static let bodyRate = Setting(
        "limits.bodyRate", .number(0...1_073_741_824), fallback: "\(Defaults.limits.bodyRate)",
        "bytes per second of a request's body, at least; 0 is no limit")
    package static let headTimeout = Setting(
        "timeouts.head", .number(1...3600), fallback: "\(Defaults.timeouts.head)",
        "seconds until a new connection's first request has begun")
    package static let bodyTimeout = Setting(
        "timeouts.body", .number(1...3600), fallback: "\(Defaults.timeouts.body)",
        "seconds over which that rate is measured")
    package static let responseTimeout = Setting(
        "timeouts.response", .number(1...3600), fallback: "\(Defaults.timeouts.response)",
        "seconds in which a client must take a part of an answer")
    package static let idleTimeout = Setting(
        "timeouts.idle", .number(1...3600), fallback: "\(Defaults.timeouts.idle)",
        "seconds until a connection without requests is closed")
    package static let shutdownTimeout = Setting(
        "timeouts.shutdown", .number(0...3600), fallback: "\(Defaults.timeouts.shutdown)",
        "seconds to finish what was accepted, once told to stop")

    /// In the order of the documentation.
    package static let all: [Setting] =
        [
            config, check, policy, database, keys, host, port, environments, trust, adminKeyFile, certificate,
            certificateKey,
            behindProxy, testAnchorsBeyondLoopback, transfer, deviceLimit, issuerID, keyID, privateKeyFile,
            productionHost,
            sandboxHost, clock,
        ] + content + [
            webhooks, expiringDays, webhookRetentionDays, apps, metrics, logLevel, logFormat,
            addressRate,
            addressBurst,
            tokenRate,
            tokenBurst, bodySize, bodyRate, connections, connectionsPerAddress, headTimeout, bodyTimeout,
            responseTimeout,
            idleTimeout, shutdownTimeout,
        ]

    /// Those that each of several apps has for itself; the others are of the address, and stand once.
    package static let ofApp: [Setting] =
        [
            policy, database, keys, environments, trust, transfer, deviceLimit, issuerID, keyID, privateKeyFile,
            productionHost, sandboxHost, webhooks, expiringDays, webhookRetentionDays,
        ] + content

    private static let content: [Setting] = [contentFolder, linkLifetime] + s3

    /// Where the files are, unless they are in the folder.
    package static let s3: [Setting] = [
        s3Endpoint, s3Region, s3Bucket, s3Prefix, s3AccessKeyID, s3SecretAccessKeyFile, s3SessionTokenFile, s3URLStyle,
    ]

    /// Those that can stand in a file, and in the environment unless they are structures.
    package static let configurable = all.filter { !$0.isForCommandOnly }
}

extension Setting {
    /// A row of the table in `Docs/service.md`.
    package var row: String {
        let name = isForCommandOnly ? "" : "`\(name)`"
        let isText = kind != .structure
        let variable = !isText || isForCommandOnly && self.name != Setting.config.name ? "" : "`\(variable)`"
        return
            "| \(name) | \(variable) | \(isText ? "`\(flag)`" : "") | \(fallback.map { "`\($0)`" } ?? "") | \(sentence) |"
    }

    package static let tableHead = """
        | in the file | in the environment | option | default | meaning |
        |---|---|---|---|---|
        """

    /// The options as `--help` tells them, in lines of at most `width` characters.
    package static func help(width: Int = 78) -> String {
        all.filter { $0.kind != .structure }.map { setting in
            var facts: [String] = []
            if !setting.isForCommandOnly || setting.name == config.name { facts.append(setting.variable) }
            if let fallback = setting.fallback, setting.kind != .flag { facts.append("default: \(fallback)") }
            if setting.kind.isList { facts.append("may be repeated") }
            let text = setting.sentence + (facts.isEmpty ? "" : " (\(facts.joined(separator: "; ")))")
            var lines = ["  " + setting.flag + (setting.kind.placeholder.map { " <\($0)>" } ?? "")]
            var line = "     "
            for word in text.split(separator: " ") {
                if line.count + word.count + 1 > width {
                    lines.append(line)
                    line = "     "
                }
                line += " " + word
            }
            return (lines + [line]).joined(separator: "\n")
        }.joined(separator: "\n")
    }
}
