import TenureCore

/// The values of all settings: the configuration of the service, and what `tenure serve` needs to complete it, such as
/// the paths of the files to read.
package struct ServeOptions: Sendable {
    /// The configuration, without what is read from files.
    package var configuration: ServiceConfiguration

    /// The path of the configuration file; nil if it isn't set.
    var config: String?
    /// Whether to check the configuration only, and not to start the service.
    package var isCheck = false
    /// The path of the policy; nil if it isn't set, which is a mistake.
    package var policy: String?
    /// The names of the accepted environments.
    package var environments = ["production", "sandbox"]
    /// The paths of trusted certificates. The certificates in `ENVIRONMENT=PATH` are for that environment only.
    package var trust: [String] = []
    /// The path of the file with the admin key; nil if it isn't set.
    package var adminKeyFile: String?
    /// The path of the TLS certificate; nil for plain HTTP.
    package var certificate: String?
    /// The path of the certificate's private key; nil for plain HTTP.
    package var tlsKey: String?
    /// The addresses and networks of the proxies in front of the service (`behindProxy`).
    package var proxies: [String] = []
    /// The key for the App Store Server API. If all of its properties are empty, no key is configured.
    package var appStore = AppStoreSettings(issuerID: "", keyID: "", privateKeyFile: "")
    /// The URL of the server that replaces Apple's App Store Server API for production; nil to use Apple's.
    package var productionHost: String?
    /// The URL of the server that replaces Apple's App Store Server API for the sandbox; nil to use Apple's.
    package var sandboxHost: String?
    /// The path of the file with the current instant, for tests; nil for the system's clock.
    package var clock: String?
    /// The asset packs. Without a folder, the service delivers no content.
    package var content = ContentSettings(folder: "")
    /// The bucket of the asset packs. A missing setting is an empty string.
    package var s3 = S3Settings(region: "", bucket: "", accessKeyID: "", secretAccessKeyFile: "")
    /// The name of the app that also answers the routes without `/apps/NAME`, if there are several apps.
    package var defaultApp: String?
    package var logLevel = "info"
    package var logFormat = "auto"

    /// All defaults, with the policy of an invented app. With that policy, the other settings can be checked even if
    /// the real policy can't be read, so that one run reports all mistakes.
    static let defaults = try? ServeOptions(
        configuration: ServiceConfiguration(
            databasePath: "tenure.sqlite",
            policy: Policy(
                app: Policy.App(bundleID: "com.example.unknown", appleID: 1),
                eras: [Era(name: "unknown", model: .free)], entitlements: [Entitlement(name: "unknown")])))
}

extension ServeOptions {
    /// Applies all settings; nil only if the policy of `defaults` is invalid.
    package init?(_ values: SettingValues) {
        guard let defaults = Self.defaults else { return nil }
        self = defaults
        for setting in Setting.all { setting.apply?(values, &self) }
    }
}
