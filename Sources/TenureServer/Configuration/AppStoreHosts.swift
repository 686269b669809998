import Foundation
import TenureCore

/// The hosts of the App Store Server API: Apple's by default. Set them to use a local App Store, a server for tests.
public struct AppStoreHosts: Sendable, Hashable {
    /// The URL for production, without a query. The API's paths are appended to it.
    public var production = "https://api.storekit.apple.com"
    /// The URL for the sandbox, without a query. The API's paths are appended to it.
    public var sandbox = "https://api.storekit-sandbox.apple.com"

    /// Creates the settings with Apple's hosts.
    public init() {}

    /// The first mistake in the URLs; nil if they are valid.
    public var mistake: ServiceError? {
        for (name, host) in [("production", production), ("sandbox", sandbox)] {
            guard let detail = Self.mistake(in: host) else { continue }
            return .appStore("`appStore.hosts.\(name)` is invalid: `\(host)` \(detail)")
        }
        return nil
    }

    /// Returns the URL for an environment, without a slash at its end; nil for Xcode, which has no server.
    func url(of environment: AppStoreEnvironment) -> String? {
        switch environment {
        case .production: Self.withoutSlash(production)
        case .sandbox: Self.withoutSlash(sandbox)
        case .xcode: nil
        }
    }

    /// What is wrong with a URL; nil if the URL is valid. Messages append this text to the URL.
    private static func mistake(in text: String) -> String? {
        guard let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty else {
            return "isn't a URL; write it as https://api.storekit.apple.com"
        }
        guard parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil else {
            return "may only have a name, a port and a path; remove the rest"
        }
        switch parts.scheme {
        case "https": return nil
        // A token gives access to every customer's purchases, so it is sent without encryption only on loopback.
        case "http" where ServiceConfiguration.isLoopback(host.trimmingCharacters(in: ["[", "]"])): return nil
        case "http": return "would get tokens without encryption; use https"
        default: return "isn't an https URL; write it as https://api.storekit.apple.com"
        }
    }

    private static func withoutSlash(_ text: String) -> String { text.hasSuffix("/") ? String(text.dropLast()) : text }
}
