import ArgumentParser
import Crypto
import Foundation
import TenurePolicyFile
import TenureServer

struct PolicySigningKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signing-key",
        abstract: "Create the key that signs policies, and print its public key for the app.",
        discussion: """
            If the file exists, the command only prints its public key and never replaces it. Keep the file, and a copy, \
            with the keys that sign your app. Only you may read it (mode 600).

            Exit codes: 0 printed, 1 the file can't be read or written, or others can read it, 64 wrong usage.

            Example:
              tenure policy signing-key policy-key.pem
            """
    )

    @Argument(help: "The key's PEM file.")
    var file: String

    func run() async throws {
        let key = try PolicySigningKey.read(file, makingIfMissing: true)
        Terminal.standardOutput.write(PinnedKey(key.publicKey).text)
    }
}

/// Reads the private key that signs policies and catalogs of asset packs.
enum PolicySigningKey {
    /// - Parameter makingIfMissing: whether to create the file with a new key if it doesn't exist.
    static func read(_ path: String, makingIfMissing: Bool) throws -> P256.Signing.PrivateKey {
        let file = SecretFile(path: path)
        let contents =
            makingIfMissing
            ? try file.contents { Array(P256.Signing.PrivateKey().pemRepresentation.utf8) }
            : try file.existingContents()
        do {
            return try P256.Signing.PrivateKey(pemRepresentation: String(decoding: contents, as: UTF8.self))
        } catch {
            throw CommandError("`\(path)` contains no P-256 key in PEM; make one with `tenure policy signing-key`")
        }
    }
}
