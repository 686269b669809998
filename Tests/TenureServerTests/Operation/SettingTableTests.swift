import Foundation
import TenureAppStore
import TenureCore
import TenureStore
import Testing

@testable import TenureServer

/// Which property each setting sets, and the boundaries of its values.
@Suite struct `the table of settings` {
    /// A setting, a value, and the text of the property that the value must change.
    struct Row: Sendable {
        let name: String
        let value: String
        let expected: String
        let read: @Sendable (ServeOptions) -> String

        init(
            _ name: String, _ value: String, _ expected: String? = nil,
            _ read: @escaping @Sendable (ServeOptions) -> String
        ) {
            self.name = name
            self.value = value
            self.expected = expected ?? value
            self.read = read
        }
    }

    private static let rows: [Row] = [
        Row("config", "c1") { $0.config ?? "" },
        Row("check", "true") { "\($0.isCheck)" },
        Row("newDatabase", "true") { "\($0.configuration.createsDatabase)" },
        Row("policy", "c2") { $0.policy ?? "" },
        Row("database", "c3") { $0.configuration.databasePath },
        Row("keys", "c4") { $0.configuration.keysFolder ?? "" },
        Row("host", "c5") { $0.configuration.host },
        Row("port", "1") { "\($0.configuration.port)" },
        Row("environments", "xcode") { $0.environments.joined(separator: ",") },
        Row("trust", "c6") { $0.trust.joined(separator: ",") },
        Row("adminKeyFile", "c7") { $0.adminKeyFile ?? "" },
        Row("tls.certificate", "c8") { $0.certificate ?? "" },
        Row("tls.key", "c9") { $0.tlsKey ?? "" },
        Row("behindProxy", "10.0.0.0/8") { $0.proxies.joined(separator: ",") },
        Row("testAnchorsBeyondLoopback", "true") { "\($0.configuration.allowsTestAnchorsBeyondLoopback)" },
        Row("transfer", "share") { $0.configuration.transfer.rawValue },
        Row("deviceLimit", "2") { "\($0.configuration.deviceLimit)" },
        Row("appStore.issuerID", "d1") { $0.appStore.issuerID },
        Row("appStore.keyID", "d2") { $0.appStore.keyID },
        Row("appStore.privateKeyFile", "d3") { $0.appStore.privateKeyFile },
        Row("appStore.hosts.production", "d4") { $0.productionHost ?? "" },
        Row("appStore.hosts.sandbox", "d5") { $0.sandboxHost ?? "" },
        Row("clock", "d6") { $0.clock ?? "" },
        Row("content.folder", "e1") { $0.content.folder },
        Row("content.linkLifetime", "90m", "5400.0") { "\($0.content.linkLifetime)" },
        Row("content.s3.endpoint", "e2") { $0.s3.endpoint },
        Row("content.s3.region", "e3") { $0.s3.region },
        Row("content.s3.bucket", "e4") { $0.s3.bucket },
        Row("content.s3.prefix", "e5") { $0.s3.prefix },
        Row("content.s3.accessKeyID", "e6") { $0.s3.accessKeyID },
        Row("content.s3.secretAccessKeyFile", "e7") { $0.s3.secretAccessKeyFile },
        Row("content.s3.sessionTokenFile", "e8") { $0.s3.sessionTokenFile ?? "" },
        Row("content.s3.urlStyle", S3Settings.URLStyle.virtualHost.rawValue) { $0.s3.urlStyle.rawValue },
        Row("expiringDays", "3") { "\($0.configuration.webhookSettings.expiringDays)" },
        Row("webhookRetentionDays", "5") { "\($0.configuration.webhookSettings.retentionDays)" },
        Row("apps.default", "f1") { $0.defaultApp ?? "" },
        Row("metrics", "off") { $0.configuration.metrics.rawValue },
        Row("logLevel", "debug") { $0.logLevel },
        Row("logFormat", "json") { $0.logFormat },
        Row("rateLimits.perAddress", "11", "11.0") { "\($0.configuration.rateLimits.perAddress.perSecond)" },
        Row("rateLimits.addressBurst", "12", "12.0") { "\($0.configuration.rateLimits.perAddress.burst)" },
        Row("rateLimits.perToken", "13", "13.0") { "\($0.configuration.rateLimits.perToken.perSecond)" },
        Row("rateLimits.tokenBurst", "14", "14.0") { "\($0.configuration.rateLimits.perToken.burst)" },
        Row("limits.bodySize", "2048") { "\($0.configuration.limits.bodySize)" },
        Row("limits.bodyRate", "15") { "\($0.configuration.limits.bodyRate)" },
        Row("limits.connections", "16") { "\($0.configuration.limits.connections)" },
        Row("limits.connectionsPerAddress", "17") { "\($0.configuration.limits.connectionsPerAddress)" },
        Row("timeouts.head", "18") { "\($0.configuration.timeouts.head)" },
        Row("timeouts.body", "19") { "\($0.configuration.timeouts.body)" },
        Row("timeouts.response", "21") { "\($0.configuration.timeouts.response)" },
        Row("timeouts.idle", "22") { "\($0.configuration.timeouts.idle)" },
        Row("timeouts.shutdown", "23") { "\($0.configuration.timeouts.shutdown)" },
    ]

    private func setting(_ name: String) throws -> Setting {
        try #require(Setting.all.first { $0.name == name }, "\(name)")
    }

    @Test func `each setting changes its own property, and no property of another setting`() throws {
        #expect(Self.rows.map(\.name) == Setting.all.filter { $0.kind != .structure }.map(\.name))
        let defaults = try #require(ServeOptions(SettingValues()))
        for (index, row) in Self.rows.enumerated() {
            var values = SettingValues()
            values.set(try setting(row.name), to: [row.value], at: "test")
            #expect(values.mistakes == [])
            let options = try #require(ServeOptions(values))
            var expected = Self.rows.map { $0.read(defaults) }
            #expect(expected[index] != row.expected, "\(row.name)")
            expected[index] = row.expected
            #expect(Self.rows.map { $0.read(options) } == expected, "\(row.name)")
        }
    }

    @Test(arguments: [
        ("port", 0...65_535), ("deviceLimit", 1...1_000_000), ("expiringDays", 0...365),
        ("webhookRetentionDays", 4...3650), ("rateLimits.perAddress", 0...1_000_000),
        ("rateLimits.addressBurst", 1...10_000_000), ("rateLimits.perToken", 0...1_000_000),
        ("rateLimits.tokenBurst", 1...10_000_000), ("limits.bodySize", 1024...1_073_741_824),
        ("limits.bodyRate", 0...1_073_741_824), ("limits.connections", 1...1_000_000),
        ("limits.connectionsPerAddress", 1...1_000_000), ("timeouts.head", 1...3600), ("timeouts.body", 1...3600),
        ("timeouts.response", 1...3600), ("timeouts.idle", 1...3600), ("timeouts.shutdown", 0...3600),
    ])
    func `a setting accepts the numbers in its range, and refuses the numbers beside it`(
        name: String, range: ClosedRange<Int>
    ) throws {
        let kind = try setting(name).kind
        for number in [range.lowerBound, range.upperBound] { #expect(kind.objection(to: "\(number)") == nil) }
        for text in ["\(range.lowerBound - 1)", "\(range.upperBound + 1)", "", "x", "1.5"] {
            #expect(
                kind.objection(to: text)
                    == "must be a whole number from \(range.lowerBound) to \(range.upperBound); found `\(text)`")
        }
    }

    @Test(arguments: [
        ("1s", true), ("365d", true), ("31536000s", true), ("0s", false), ("31536001s", false), ("366d", false),
        ("24", false),
    ])
    func `the lifetime of download links is from a second to a year`(text: String, isAccepted: Bool) throws {
        let objection = Setting.linkLifetime.kind.objection(to: text)
        let words = "must be a length of time such as `24h` (`d`, `h`, `m`, `s`), from 1 to 31536000 seconds; found "
        #expect(objection == (isAccepted ? nil : "\(words)`\(text)`"))
    }

    @Test(arguments: [
        ("localhost", true), ("::1", true), ("127.0.0.1", true), ("127.1", true), ("127.255.0.9", true),
        ("127.0.0.1.example.com", false), ("0.0.0.0", false), ("::", false), ("128.0.0.1", false),
        ("localhost.example.com", false), ("192.0.2.1", false),
    ])
    func `a service needs an admin key and TLS unless it listens on loopback`(host: String, isLoopback: Bool) throws {
        var configuration = try Calculator.configuration("/tmp")
        configuration.host = host
        let unsafe: [ServiceError] = [.testAnchorsBeyondLoopback(host: host), .noAdminKey(host: host)]
        #expect(configuration.mistakes == (isLoopback ? [] : unsafe + [.noTransportSecurity(host: host)]))
        // Behind a proxy, clients on other machines reach the service on loopback too.
        configuration.proxies = [try #require(AddressBlock("192.0.2.1"))]
        #expect(configuration.mistakes == unsafe)
    }

    @Test func `the mistakes of a configuration are in the order of their importance`() throws {
        var configuration = try Calculator.configuration("/tmp")
        configuration.host = "192.0.2.1"
        configuration.port = 65_536
        configuration.databasePath = "mysql://db/shop"
        configuration.adminKey = "guessed"
        configuration.app = .init(bundleID: "com.example.calculator", appAppleID: nil)
        let url = "the database is a URL of an unknown kind; write `postgres://…`, or the path of an SQLite file"
        let expected: [ServiceError] = [
            .invalidPort(65_536), .productionNeedsAppleID, .database(url), .noKeysFolder, .invalidAdminKey,
            .testAnchorsBeyondLoopback(host: "192.0.2.1"), .noTransportSecurity(host: "192.0.2.1"),
        ]
        #expect(configuration.mistakes == expected)
        configuration.anchors = [:]
        #expect(configuration.mistakes.first == .noEnvironment)
    }
}
