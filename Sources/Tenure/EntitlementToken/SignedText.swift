import Foundation
import TenureCore

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

    let payload: [UInt8]
    private let headerBytes: [UInt8]
    private let signed: ArraySlice<UInt8>
    private let signature: [UInt8]

    /// More is no entitlement token.
    static let largestSize = 64 * 1024

    /// Nil where it is no compact JWS.
    init?(_ text: String) {
        guard text.utf8.count <= Self.largestSize else { return nil }
        let bytes = Array(text.utf8)
        let parts = bytes.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64.urlSafe.decode(parts[0]),
            let payload = Base64.urlSafe.decode(parts[1]), let signature = Base64.urlSafe.decode(parts[2]),
            signature.count == 64
        else { return nil }
        headerBytes = header
        self.payload = payload
        self.signature = signature
        signed = bytes[..<parts[1].endIndex]
    }

    /// Whether the header is the one that a service with one key always writes: then nothing else is in it to be read.
    func isHeaded(type: String, by keyID: String) -> Bool {
        headerBytes.elementsEqual(#"{"alg":"ES256","kid":"\#(keyID)","typ":"\#(type)"}"#.utf8)
    }

    /// Nil where it is not of ES256.
    var header: Header? {
        guard let fields = try? JSONDecoder().decode(Header.self, from: Data(headerBytes)), fields.alg == "ES256" else {
            return nil
        }
        return fields
    }

    func isSigned(by key: P256.Signing.PublicKey) -> Bool {
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
        return key.isValidSignature(signature, for: signed)
    }
}
