/// What the service needs to ask the App Store itself: a key for In-App Purchase of App Store Connect.
///
/// Without it the service knows what it was sent, and never that it knows all purchases of a customer.
public struct AppStoreSettings: Sendable, Hashable {
    /// App Store Connect, Users and Access, Integrations, In-App Purchase: a UUID.
    public var issuerID: String
    /// Ten characters, shown beside the key.
    public var keyID: String
    /// The `.p8` file that can be downloaded once.
    public var privateKeyFile: String
    public var hosts = AppStoreHosts()

    public init(issuerID: String, keyID: String, privateKeyFile: String) {
        self.issuerID = issuerID
        self.keyID = keyID
        self.privateKeyFile = privateKeyFile
    }

    /// What is wrong with it as far as can be told without reading the key; nil where nothing is.
    public var mistake: ServiceError? {
        if issuerID.isEmpty { return .appStore("`issuerID` is empty; it stands above the keys in App Store Connect") }
        if keyID.isEmpty { return .appStore("`keyID` is empty; it stands beside the key in App Store Connect") }
        if privateKeyFile.isEmpty { return .appStore("`privateKeyFile` is empty; name the .p8 file of the key") }
        return hosts.mistake
    }
}
