import Foundation
import TenureCore

/// The In-App Purchase key from App Store Connect with which the service uses the App Store Server API.
///
/// Without the key, the service knows only the artifacts that clients and the App Store sent to it. Some purchases of a
/// customer may be missing among them.
public struct AppStoreSettings: Sendable, Hashable {
    /// The issuer ID, a UUID: in App Store Connect, Users and Access, Integrations, In-App Purchase.
    public var issuerID: String
    /// The key's ID of ten characters, which App Store Connect lists with the key.
    public var keyID: String
    /// The path of the key's `.p8` file, which can be downloaded only once.
    public var privateKeyFile: String
    /// The hosts of the API: Apple's hosts, unless you use a local App Store.
    public var hosts = AppStoreHosts()

    /// Creates settings for Apple's hosts.
    public init(issuerID: String, keyID: String, privateKeyFile: String) {
        self.issuerID = issuerID
        self.keyID = keyID
        self.privateKeyFile = privateKeyFile
    }

    /// The first mistake that is visible without reading the key. Nil for valid settings.
    public var mistake: ServiceError? {
        let required = [
            ("issuerID", issuerID, "copy it from above the list of keys in App Store Connect"),
            ("keyID", keyID, "copy it from beside the key in App Store Connect"),
            ("privateKeyFile", privateKeyFile, "set it to the path of the key's .p8 file"),
        ]
        for (name, value, fix) in required where value.isEmpty {
            return .appStore("`appStore.\(name)` is empty; \(fix)")
        }
        return hosts.mistake
    }
}

/// The hosts of the App Store Server API: Apple's by default. Set them to use a local App Store.
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
        // Anyone who reads a token can read every customer's purchases until the token expires.
        case "http" where ServiceConfiguration.isLoopback(host.trimmingCharacters(in: ["[", "]"])): return nil
        case "http": return "would get tokens without encryption; use https"
        default: return "isn't an https URL; write it as https://api.storekit.apple.com"
        }
    }

    private static func withoutSlash(_ text: String) -> String { text.hasSuffix("/") ? String(text.dropLast()) : text }
}
