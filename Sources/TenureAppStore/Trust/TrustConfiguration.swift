public import TenureCore

/// Which environments count here, and which certificates may speak for each. An artifact never chooses its own checks:
/// what it claims must be one of these pairs.
public struct TrustConfiguration: Sendable {
    /// By environment; one that is missing is not accepted.
    public let anchors: [AppStoreEnvironment: TrustAnchors]

    /// Roots for Production and Sandbox; for Xcode the very certificates with which the developer's Xcode signs.
    ///
    /// Throws `misconfigured` where no environment is accepted.
    public init(anchors: [AppStoreEnvironment: TrustAnchors]) throws(Rejection) {
        guard !anchors.isEmpty else {
            throw Rejection(.misconfigured, "no environment is accepted; name at least one")
        }
        self.init(accepting: anchors)
    }

    private init(accepting anchors: [AppStoreEnvironment: TrustAnchors]) {
        self.anchors = anchors
        let roots = anchors.filter { $0.key != .xcode }.sorted { $0.key.rawValue < $1.key.rawValue }.map(\.value)
        self.roots = roots.dropFirst().reduce(roots.first) { $0?.union($1) }
    }

    /// Production and Sandbox under Apple's roots: the App Store signs both with one certificate.
    public static let appStore = TrustConfiguration(accepting: [.production: .apple, .sandbox: .apple])

    public var environments: Set<AppStoreEnvironment> { Set(anchors.keys) }

    /// All roots of Production and Sandbox; nil where neither is accepted. A chain is built first, and then compared
    /// with the environment that the signed bytes name.
    package let roots: TrustAnchors?

    /// Certificates that sign for themselves in Xcode; nil where Xcode is not accepted.
    package var localSigners: TrustAnchors? { anchors[.xcode] }

    /// Checks that `chain` may speak for the environment called `name` in the signed bytes.
    package func environment(named name: String?, signedBy chain: TrustedChain) throws(Rejection) -> AppStoreEnvironment
    {
        guard let name else {
            throw Rejection(.wrongEnvironment, "it names no environment")
        }
        guard let environment = AppStoreEnvironment(rawValue: name), let anchors = anchors[environment] else {
            throw Rejection(
                .wrongEnvironment,
                "it was signed in `\(name)`, and only \(acceptedNames) is accepted here"
            )
        }
        guard (environment == .xcode) == chain.isLocal else {
            throw Rejection(.wrongEnvironment, "it claims `\(name)`, which its signer cannot speak for")
        }
        guard anchors.contain(anchorOf: chain) else {
            throw Rejection(.untrustedChain, "its root is not trusted for `\(name)`")
        }
        return environment
    }

    private var acceptedNames: String {
        AppStoreEnvironment.allCases.filter { anchors[$0] != nil }.map(\.rawValue).joined(separator: " or ")
    }
}
