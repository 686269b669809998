import Foundation
import TenureAppStore
import TenureCore
import TenureServer

/// The address of a service.
struct ServiceAddress {
    private let scheme: String
    private let host: String

    init(_ configuration: ServiceConfiguration) {
        scheme = configuration.certificateFiles == nil ? "http" : "https"
        host = configuration.host.contains(":") ? "[\(configuration.host)]" : configuration.host
    }

    func url(_ port: Int) -> String { "\(scheme)://\(host):\(port)" }
}

/// A description of a service with this configuration, for `tenure serve --check`. Contains no secret.
struct ServiceSummary {
    let lines: [String]

    init(_ configuration: ServiceConfiguration) {
        func rate(_ rate: ServiceConfiguration.Rate) -> String {
            rate.perSecond > 0 ? "\(Int(rate.perSecond)) a second, \(Int(rate.burst)) at once" : "no limit"
        }
        func list(_ names: [String]) -> String { names.isEmpty ? "none" : names.joined(separator: ", ") }
        let isServer = configuration.databasePath.contains("://")
        let isNew = !isServer && !FileManager.default.fileExists(atPath: configuration.databasePath)
        let database = isServer ? "a database server (connection not tested)" : configuration.databasePath
        let timeouts = configuration.timeouts
        let environments = AppStoreEnvironment.allCases.filter { configuration.anchors[$0] != nil }
        lines = [
            "would serve \(configuration.policy.app.bundleID) on "
                + (configuration.port == 0
                    ? "any free port of \(configuration.host)" : ServiceAddress(configuration).url(configuration.port)),
            "  policy: \(counted(configuration.policy.eras.count, "era")), \(counted(configuration.policy.entitlements.count, "entitlement"))",
            "  database: \(database)\(isNew ? " (would be created)" : "")",
            "  signing key: "
                + (configuration.hasSigningKey
                    ? "found" : "would be created; a database with customers needs the one that their apps trust"),
            "  environments: \(environments.map(\.rawValue).joined(separator: ", "))",
            "  trusted in addition to Apple: \(list(configuration.testAuthorities))",
            "  webhooks: \(list(configuration.webhooks.map(\.name)))",
            "  content: "
                + (configuration.content.map { content in
                    "\(content.folder), links for \(Int(content.linkLifetime)) s"
                        + (content.s3.map { " to the bucket \($0.bucket)" } ?? "")
                } ?? "none"),
            "  TLS: "
                + (configuration.certificateFiles.map { "certificate \($0.certificate), key \($0.key)" }
                    ?? (configuration.proxies.isEmpty ? "none, loopback only" : "by the proxy")),
            "  proxies: \(list(configuration.proxies.map(\.description)))",
            "  admin key: \(configuration.adminKey == nil ? "none" : "set")",
            "  metrics: \(configuration.metrics.rawValue)",
            "  requests from one address: \(rate(configuration.rateLimits.perAddress))",
            "  requests with one token: \(rate(configuration.rateLimits.perToken))",
            """
              timeouts: head \(timeouts.head) s, response \(timeouts.response) s, idle \(timeouts.idle) s, \
            shutdown \(timeouts.shutdown) s
            """,
            "  clock: " + (configuration.clock.map { "\($0.path), \($0.now.formatted(.iso8601))" } ?? "the system's"),
            """
              connections: at most \(configuration.limits.connections), \(configuration.limits.connectionsPerAddress) from \
            one address
            """,
            """
              bodies: at most \(configuration.limits.bodySize) bytes, at least \(configuration.limits.bodyRate) bytes per \
            second over \(timeouts.body) seconds
            """,
        ]
    }
}
