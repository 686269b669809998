import ArgumentParser
import Foundation
import TenureAppStore
import TenureCore

/// Which signers count. An artifact never chooses.
struct TrustOptions: ParsableArguments {
    @Option(
        name: .long, parsing: .singleValue,
        help: ArgumentHelp(
            "Certificates to trust beside Apple's roots: PEM or DER, or the folder of a test authority. For the environment xcode: the very certificate with which your Xcode signs.",
            valueName: "file"))
    var trust: [String] = []

    @Option(
        name: .long, parsing: .singleValue,
        help: "An environment to accept: production, sandbox or xcode. Without it, production and sandbox.")
    var environment: [EnvironmentName] = []

    struct EnvironmentName: ExpressibleByArgument {
        let environment: AppStoreEnvironment

        init?(argument: String) {
            guard
                let found = AppStoreEnvironment.allCases.first(where: {
                    $0.rawValue.lowercased() == argument.lowercased()
                })
            else { return nil }
            environment = found
        }
    }

    var environments: [AppStoreEnvironment] {
        environment.isEmpty ? [.production, .sandbox] : environment.map(\.environment)
    }

    func validate() throws {
        if environments.contains(.xcode), trust.isEmpty {
            throw ValidationError(
                "nothing that Xcode signed is trusted by itself: export the certificate in Xcode (Editor, Save Public Certificate) and name it by `--trust`"
            )
        }
    }

    /// Apple's roots and the ones that were named, for each environment that is accepted.
    func configuration() throws -> TrustConfiguration {
        var byEnvironment: [AppStoreEnvironment: TrustAnchors] = [:]
        for environment in environments {
            var anchors = environment == .xcode ? nil : TrustAnchors.apple
            for path in trust {
                let named = try Self.anchors(at: path, for: environment)
                anchors = anchors?.union(named) ?? named
            }
            byEnvironment[environment] = anchors
        }
        return try TrustConfiguration(anchors: byEnvironment)
    }

    /// A file stands for any environment; the folder of a test authority has a file for each.
    private static func anchors(at path: String, for environment: AppStoreEnvironment) throws -> TrustAnchors {
        var isFolder: ObjCBool = false
        _ = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        let file = isFolder.boolValue ? path + (environment == .xcode ? "/xcode.pem" : "/roots.pem") : path
        let bytes = try InputFile(path: file).bytes(limit: 1 << 20)
        do {
            return try TrustAnchors(bytes)
        } catch {
            throw CommandError("`\(file)` holds no certificates that can be trusted: \(error.detail)")
        }
    }
}
