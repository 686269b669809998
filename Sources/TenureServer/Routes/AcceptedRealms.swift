import TenureAppStore
import TenureCore
import TenureStore

/// The realms for which this service has trust anchors. A realm is an environment of the App Store as signed by Apple,
/// or the same environment as signed by a test authority. Customers of other realms are treated as not found.
struct AcceptedRealms: Sendable {
    /// The realms are in an array because there are only a few. Searching an array is then faster than hashing.
    private let realms: [Realm]

    /// Finds the realms of these trust anchors.
    init(_ anchors: [AppStoreEnvironment: TrustAnchors]) {
        let all = anchors.flatMap { environment, anchors in
            anchors.summaries.map { Realm(environment, isTest: !AppleAnchors.contains(fingerprint: $0.fingerprint)) }
        }
        realms = Array(Set(all))
    }

    /// All realms, in the order of their codes.
    var all: [Realm] { realms.sorted { $0.code < $1.code } }

    func contains(_ realm: Realm) -> Bool { realms.contains(realm) }
}
