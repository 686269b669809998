import Crypto
import Foundation

/// The `.p8` file of App Store Connect: a P-256 key as PKCS#8 in PEM.
struct AppStoreKeyFile {
    let path: String

    /// In bytes. Genuine files have fewer than 300.
    private static let largest = 16 * 1024

    /// Throws `keyFile` with what is wrong, and never with what stands in it.
    func key() throws(ServiceError) -> P256.Signing.PrivateKey {
        guard FileManager.default.fileExists(atPath: path) else {
            throw mistake("there is no such file; download the key in App Store Connect, where it is offered once")
        }
        let contents = try SecretFile(path: path).existingContents(upTo: Self.largest)
        return try key(inPEM: String(decoding: contents, as: UTF8.self))
    }

    private func key(inPEM contents: String) throws(ServiceError) -> P256.Signing.PrivateKey {
        let text = contents.replacingOccurrences(of: "\r\n", with: "\n").trimmingCharacters(in: .whitespacesAndNewlines)
        if text.contains("ENCRYPTED") {
            throw mistake("it is encrypted; decrypt it with `openssl pkcs8 -in \(path) -out decrypted.p8`")
        }
        guard text.contains("PRIVATE KEY-----") else {
            throw mistake("it holds no private key in PEM; name the .p8 file that App Store Connect offered")
        }
        if let key = try? P256.Signing.PrivateKey(pemRepresentation: text) { return key }
        throw mistake(
            "it holds \(content(ofPEM: text)), and the App Store takes P-256 keys in PKCS#8; download the key again")
    }

    private func content(ofPEM text: String) -> String {
        if (try? P384.Signing.PrivateKey(pemRepresentation: text)) != nil { return "a key of the curve P-384" }
        if (try? P521.Signing.PrivateKey(pemRepresentation: text)) != nil { return "a key of the curve P-521" }
        return "something else"
    }

    private func mistake(_ detail: String) -> ServiceError { .keyFile(path: path, detail: detail) }
}
