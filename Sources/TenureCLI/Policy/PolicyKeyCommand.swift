import ArgumentParser
import Crypto
import Foundation
import TenurePolicyFile
import TenureServer

struct PolicyKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Make the key that signs policies, and print its public half, which the app pins.",
        discussion: """
            A key that lies there already is never replaced: then only its public half is printed. Keep the file, and a
            copy of it, where you keep what signs your app; nobody but you may read it (mode 600).

            Exit codes: 0 printed, 1 the file cannot be read or made, or others can read it, 64 wrong usage.

            Example:
              tenure policy key policy-key.pem
            """
    )

    @Argument(help: "The file of the key, in PEM.")
    var file: String

    func run() async throws {
        try await reportingErrors {
            let key = try PolicySigningKey.read(file, makingIfMissing: true)
            Terminal.standardOutput.write(PinnedKey(key.publicKey).text)
        }
    }
}

enum PolicySigningKey {
    static func read(_ path: String, makingIfMissing: Bool) throws -> P256.Signing.PrivateKey {
        let file = SecretFile(path: path)
        let contents =
            makingIfMissing
            ? try file.contents { Array(P256.Signing.PrivateKey().pemRepresentation.utf8) }
            : try file.existingContents()
        do {
            return try P256.Signing.PrivateKey(pemRepresentation: String(decoding: contents, as: UTF8.self))
        } catch {
            throw CommandError("`\(path)` holds no P-256 key in PEM; make one with `tenure policy key`")
        }
    }
}
