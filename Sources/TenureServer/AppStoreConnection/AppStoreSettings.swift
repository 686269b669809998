/// The In-App Purchase key from App Store Connect with which the service uses the App Store Server API.
///
/// Without it, the service knows only the artifacts that it was sent. So it can't know that they are all of a customer's
/// purchases.
public struct AppStoreSettings: Sendable, Hashable {
    /// The issuer ID, a UUID: in App Store Connect, Users and Access, Integrations, In-App Purchase.
    public var issuerID: String
    /// The key's ID, ten characters, shown beside the key.
    public var keyID: String
    /// The path of the key's `.p8` file, which can be downloaded only once.
    public var privateKeyFile: String
    /// The hosts of the API. Apple's, unless you use a local App Store.
    public var hosts = AppStoreHosts()

    /// Creates settings for Apple's hosts.
    public init(issuerID: String, keyID: String, privateKeyFile: String) {
        self.issuerID = issuerID
        self.keyID = keyID
        self.privateKeyFile = privateKeyFile
    }

    /// The first mistake that is visible without reading the key. Nil for valid settings.
    public var mistake: ServiceError? {
        if issuerID.isEmpty {
            return .appStore("`issuerID` is empty; copy it from above the list of keys in App Store Connect")
        }
        if keyID.isEmpty { return .appStore("`keyID` is empty; copy it from beside the key in App Store Connect") }
        if privateKeyFile.isEmpty { return .appStore("`privateKeyFile` is empty; set it to the key's .p8 file") }
        return hosts.mistake
    }
}
