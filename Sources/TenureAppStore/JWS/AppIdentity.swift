/// The app to which artifacts must belong. A property that is nil isn't compared.
public struct AppIdentity: Sendable, Hashable {
    /// `CFBundleIdentifier` of the app.
    public let bundleID: String?
    /// The app's Apple ID. Compared only in production, because artifacts of other environments don't contain the ID.
    public let appAppleID: Int64?

    /// Creates an identity. If both arguments are nil, artifacts of every app are accepted.
    public init(bundleID: String? = nil, appAppleID: Int64? = nil) {
        self.bundleID = bundleID
        self.appAppleID = appAppleID
    }
}
