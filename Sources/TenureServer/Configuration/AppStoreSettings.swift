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
