import Crypto
import Foundation

/// The `.p8` file from App Store Connect: a P-256 key in PKCS#8 and PEM.
struct AppStoreKeyFile {
    let path: String

    /// The maximum size of a file, in bytes. Apple's key files have fewer than 300.
    private static let maximumSize = 16 * 1024

    /// Reads the key. Throws `keyFile` if that fails. The error's message doesn't quote the file.
    func key() throws(ServiceError) -> P256.Signing.PrivateKey {
        guard FileManager.default.fileExists(atPath: path) else {
            throw mistake("there is no such file; copy the key from App Store Connect to it, or create a new key")
        }
        let contents = try SecretFile(path: path).existingContents(upTo: Self.maximumSize)
        let text = String(decoding: contents, as: UTF8.self)
            .replacingOccurrences(of: "\r\n", with: "\n").trimmingCharacters(in: .whitespacesAndNewlines)
        if text.contains("ENCRYPTED") {
            throw mistake("the file is encrypted; decrypt it with `openssl pkcs8 -in \(path) -out decrypted.p8`")
        }
        guard text.contains("PRIVATE KEY-----") else {
            throw mistake("the file has no private key in PEM; set the path of the .p8 file from App Store Connect")
        }
        if let key = try? P256.Signing.PrivateKey(pemRepresentation: text) { return key }
        throw mistake(
            "the file has \(content(ofPEM: text)); the App Store needs a P-256 key in PKCS#8, so use the .p8 file unchanged"
        )
    }

    /// Describes what a file contains instead of the right key, for the error message.
    private func content(ofPEM text: String) -> String {
        if (try? P384.Signing.PrivateKey(pemRepresentation: text)) != nil { return "a key of the curve P-384" }
        if (try? P521.Signing.PrivateKey(pemRepresentation: text)) != nil { return "a key of the curve P-521" }
        return "a damaged key, or a key of another kind"
    }

    private func mistake(_ detail: String) -> ServiceError { .keyFile(path: path, detail: detail) }
}
