import ArgumentParser
import TenureAppStore
import TenureCore
import TenureFileAttributes

/// The options that select trusted signers and accepted environments. An artifact can't extend them: one from Xcode is
/// rejected unless the user passed `--environment xcode`.
struct TrustOptions: ParsableArguments {
    @Option(
        help: .value(
            "file",
            "Certificates to trust in addition to Apple's roots: a PEM or DER file, or the folder of a test authority. `sandbox=FILE` trusts a file in one environment only. For xcode, use the certificate with which your Xcode signs."
        ))
    var trust: [String] = []

    @Option(
        help:
            "An environment to accept: production, sandbox or xcode. The default is production and sandbox; for a rehearsal, production only."
    )
    var environment: [EnvironmentName] = []

    /// An environment as users write it, in upper or lower case.
    struct EnvironmentName: ExpressibleByArgument {
        let environment: AppStoreEnvironment

        init(_ environment: AppStoreEnvironment) { self.environment = environment }

        init?(argument: String) {
            let named = AppStoreEnvironment.allCases.first { $0.rawValue.lowercased() == argument.lowercased() }
            guard let named else { return nil }
            environment = named
        }
    }

    /// The files and folders with certificates.
    var paths: [String] { trust.map { TrustedPath($0).path } }

    /// The accepted environments.
    var environments: [AppStoreEnvironment] {
        environment.isEmpty ? [.production, .sandbox] : environment.map(\.environment)
    }

    /// The value of one `--trust`.
    private struct TrustedPath {
        /// The only environment for which the path is trusted. Nil for all environments.
        let environment: AppStoreEnvironment?
        let path: String

        init(_ text: String) {
            let (name, value) = text.nameAndValue ?? ("", text)
            environment = EnvironmentName(argument: name)?.environment
            path = environment == nil ? text : value
        }

        /// Whether the path is a folder, such as the folder of a test authority, which has a file for each environment.
        var isFolder: Bool { FileIdentity(path: path)?.kind == .folder }
    }

    func validate() throws {
        let trustedPaths = trust.map(TrustedPath.init)
        for (text, trusted) in zip(trust, trustedPaths) {
            try require(
                !trusted.path.isEmpty, "the path after `\(text)` is empty; write a path, or leave out `--trust`")
        }
        guard environments.contains(.xcode) else { return }
        try require(
            trustedPaths.contains { $0.environment == nil || $0.environment == .xcode },
            "`--environment xcode` needs your Xcode's certificate: export it in Xcode (Editor, Save Public Certificate) and pass `--trust xcode=FILE`"
        )
        if environments.count > 1,
            let withoutEnvironment = trustedPaths.first(where: { $0.environment == nil && !$0.isFolder })
        {
            throw ValidationError(
                "the environment of `\(withoutEnvironment.path)` is ambiguous; write `--trust xcode=\(withoutEnvironment.path)`, or the name of another environment"
            )
        }
    }

    /// The trusted certificates for each accepted environment: Apple's roots and the certificates from `--trust`. For
    /// Xcode, only the certificates from `--trust`.
    func configuration() throws -> TrustConfiguration {
        var byEnvironment: [AppStoreEnvironment: TrustAnchors] = [:]
        for environment in environments {
            var anchors = environment == .xcode ? nil : TrustAnchors.apple
            // A path without an environment is trusted in each.
            for trusted in trust.map(TrustedPath.init) where (trusted.environment ?? environment) == environment {
                let trustedAnchors = try Self.anchors(in: trusted, for: environment)
                anchors = anchors?.union(trustedAnchors) ?? trustedAnchors
            }
            byEnvironment[environment] = anchors
        }
        return try TrustConfiguration(anchors: byEnvironment)
    }

    /// Reads the certificates that one `--trust` gives for an environment.
    private static func anchors(in trusted: TrustedPath, for environment: AppStoreEnvironment) throws -> TrustAnchors {
        let file =
            trusted.isFolder ? trusted.path + (environment == .xcode ? "/xcode.pem" : "/roots.pem") : trusted.path
        let bytes = try InputFile(path: file).bytes(limit: 1 << 20, acceptsPipe: false)
        do {
            return try TrustAnchors(bytes)
        } catch {
            throw CommandError("`\(file)` has no certificates that can be trusted: \(error.detail)")
        }
    }
}

extension Rejection {
    /// The options that would trust the artifact's signer, as the end of a message; nil for any other reason.
    var advice: String? {
        switch missingTrust {
        case .root: "; if it's from your test authority, pass that authority's folder with --trust"
        case .xcode:
            "; if it's from your Xcode, pass `--environment xcode --trust xcode=FILE` with your Xcode's certificate"
        case .appStore: "; if it's from the App Store, pass `--environment production` or `--environment sandbox`"
        case nil: nil
        }
    }
}
