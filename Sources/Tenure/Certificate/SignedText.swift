import Foundation

#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif

/// A compact JWS that somebody sent: nothing of it is believed before `isSigned(by:)`.
struct SignedText {
    struct Header: Decodable {
        let alg: String
        let kid: String?
        let typ: String?
        /// Cross-signatures: keys that a pinned one vouches for, each by the one before it.
        let keys: [String]?
    }

    let header: Header
    let payload: Data
    private let signed: Data
    private let signature: Data

    /// More is no certificate.
    static let largestSize = 64 * 1024

    /// Nil where it is no compact JWS with ES256.
    init?(_ text: String) {
        guard text.utf8.count <= Self.largestSize else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64URL.decode(parts[0]), let payload = Base64URL.decode(parts[1]),
            let signature = Base64URL.decode(parts[2]), signature.count == 64,
            let fields = try? JSONDecoder().decode(Header.self, from: header), fields.alg == "ES256"
        else { return nil }
        self.header = fields
        self.payload = payload
        self.signature = signature
        signed = Data(text.utf8.prefix(parts[0].utf8.count + 1 + parts[1].utf8.count))
    }

    func isSigned(by key: P256.Signing.PublicKey) -> Bool {
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
        return key.isValidSignature(signature, for: signed)
    }
}
