public import TenureCore

/// The accepted environments, and the certificates for each. An artifact never chooses its own checks: its claim must
/// be one of these pairs.
public struct TrustConfiguration: Sendable {
    /// By environment; a missing one isn't accepted.
    public let anchors: [AppStoreEnvironment: TrustAnchors]

    /// Roots for Production and Sandbox; for Xcode the certificates with which the developer's Xcode signs.
    /// Throws `misconfigured` if no environment is accepted.
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

    /// The environments with at least one anchor.
    public var environments: Set<AppStoreEnvironment> { Set(anchors.keys) }

    /// All roots of Production and Sandbox; nil if neither is accepted. A chain is built first, and then compared with
    /// the environment in the signed bytes.
    let roots: TrustAnchors?

    /// Certificates with which Xcode signs directly; nil if Xcode isn't accepted.
    var localSigners: TrustAnchors? { anchors[.xcode] }

    /// Checks that `chain` may sign for the environment `name` of the signed bytes.
    package func environment(named name: String?, signedBy chain: TrustedChain) throws(Rejection) -> AppStoreEnvironment
    {
        guard let name else {
            throw Rejection(.wrongEnvironment, "it has no environment")
        }
        guard let environment = AppStoreEnvironment(rawValue: name), let anchors = anchors[environment] else {
            throw Rejection(
                .wrongEnvironment,
                "it was signed in `\(name)`, and only \(acceptedNames) is accepted here"
            )
        }
        guard (environment == .xcode) == chain.isLocal else {
            throw Rejection(.wrongEnvironment, "it claims `\(name)`, which its signer may not sign")
        }
        guard anchors.contains(anchorOf: chain) else {
            throw Rejection(.untrustedChain, "its root is not trusted for `\(name)`")
        }
        return environment
    }

    private var acceptedNames: String {
        AppStoreEnvironment.allCases.filter { anchors[$0] != nil }.map(\.rawValue).joined(separator: " or ")
    }
}
