import Foundation
import TenureCore

/// The hosts of the App Store Server API: Apple's by default. Set them to use a local App Store.
public struct AppStoreHosts: Sendable, Hashable {
    /// The URL for production, without a query. The API's paths are appended to it.
    public var production = "https://api.storekit.apple.com"
    /// The URL for the sandbox, without a query. The API's paths are appended to it.
    public var sandbox = "https://api.storekit-sandbox.apple.com"

    /// Creates Apple's hosts.
    public init() {}

    /// The first mistake in the URLs; nil if they are valid.
    public var mistake: ServiceError? {
        for (name, host) in [("production", production), ("sandbox", sandbox)] {
            guard let detail = Self.mistake(in: host) else { continue }
            return .appStore("`\(host)` as the host of \(name) \(detail)")
        }
        return nil
    }

    /// Nil for an environment that has no server: what Xcode signs, no App Store knows.
    func url(of environment: AppStoreEnvironment) -> String? {
        switch environment {
        case .production: Self.withoutSlash(production)
        case .sandbox: Self.withoutSlash(sandbox)
        case .xcode: nil
        }
    }

    private static func mistake(in text: String) -> String? {
        guard let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty else {
            return "is no URL; write it as https://api.storekit.apple.com"
        }
        guard parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil else {
            return "may hold a name, a port and a path, and nothing else"
        }
        switch parts.scheme {
        case "https": return nil
        // Whoever hears a token can ask for everybody's purchases until it ends.
        case "http" where ServiceConfiguration.isLoopback(host.trimmingCharacters(in: ["[", "]"])): return nil
        case "http": return "would send the key's tokens in the clear; use https"
        default: return "is no https URL; write it as https://api.storekit.apple.com"
        }
    }

    private static func withoutSlash(_ text: String) -> String { text.hasSuffix("/") ? String(text.dropLast()) : text }
}
