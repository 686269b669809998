public import TenureCore

/// The accepted environments, and the trusted certificates of each environment. The environment in an artifact must be
/// accepted, and the artifact's chain must lead to a certificate of that environment.
public struct TrustConfiguration: Sendable {
    /// The trusted certificates by environment. An environment that is missing isn't accepted.
    public let anchors: [AppStoreEnvironment: TrustAnchors]

    /// Creates a configuration. The anchors of Production and Sandbox are roots. The anchors of Xcode are the
    /// certificates with which a developer's Xcode signs.
    ///
    /// Throws `misconfigured` if `anchors` is empty.
    public init(anchors: [AppStoreEnvironment: TrustAnchors]) throws(Rejection) {
        guard !anchors.isEmpty else {
            throw Rejection(.misconfigured, "no environment is accepted; pass the trusted certificates of at least one")
        }
        self.init(accepting: anchors)
    }

    private init(accepting anchors: [AppStoreEnvironment: TrustAnchors]) {
        self.anchors = anchors
        let production = anchors[.production]
        let sandbox = anchors[.sandbox]
        roots = if let production, let sandbox { production.union(sandbox) } else { production ?? sandbox }
    }

    /// Accepts Production and Sandbox with Apple's roots. The App Store signs for both environments with the same
    /// certificate.
    public static let appStore = TrustConfiguration(accepting: [.production: .apple, .sandbox: .apple])

    /// The accepted environments. Artifacts of all other environments are rejected.
    public var environments: Set<AppStoreEnvironment> { Set(anchors.keys) }

    /// All roots of Production and Sandbox; nil if neither is accepted.
    ///
    /// A chain is first built to any of these roots. After the signature is verified, the root is compared with the
    /// roots of the environment in the signed bytes.
    let roots: TrustAnchors?

    /// The certificates with which Xcode signs directly; nil if Xcode isn't accepted.
    var localSigners: TrustAnchors? { anchors[.xcode] }

    /// Returns the environment that the signed bytes name, after checking that `chain` may sign for it.
    ///
    /// Throws `wrongEnvironment`, or `untrustedChain` if the chain's root isn't an anchor of this environment.
    package func environment(named name: String?, signedBy chain: TrustedChain) throws(Rejection) -> AppStoreEnvironment
    {
        guard let name
        else { throw Rejection(.wrongEnvironment, "the artifact doesn't name the environment in which it was signed") }
        guard let environment = AppStoreEnvironment(rawValue: name), let anchors = anchors[environment] else {
            throw Rejection(
                .wrongEnvironment, "the artifact was signed in `\(name)`, and only \(acceptedNames) is accepted")
        }
        // Only Xcode signs with a single certificate (a local chain), and it never signs for another environment.
        guard (environment == .xcode) == chain.isLocal else {
            throw Rejection(
                .wrongEnvironment, "the artifact names the environment `\(name)`, for which its signer may not sign")
        }
        guard anchors.contains(anchorOf: chain) else {
            throw Rejection(
                .untrustedChain, "the root of the artifact's certificates isn't trusted for `\(name)`",
                missingTrust: .root)
        }
        return environment
    }

    /// The accepted environments for a message, such as "Production or Sandbox".
    private var acceptedNames: String {
        AppStoreEnvironment.allCases.filter { anchors[$0] != nil }.map(\.rawValue).joined(separator: " or ")
    }
}
