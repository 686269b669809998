package import Foundation
import TenureJSON
package import TenurePolicyFile

#if canImport(CryptoKit)
    package import CryptoKit
#else
    package import Crypto
#endif

/// A signed content catalog: the list of an app's asset packs. Any server can publish it, because the app pins the
/// public key that verifies it.
///
/// The text is a compact JWS like a signed policy, but with another `typ`, so that a policy isn't accepted as a
/// catalog. Its payload is a JSON object with `counter`, which increases with each catalog, `iat` (the signing time in
/// seconds since 1970), `bundleID` and `packs`.
package struct SignedCatalog: Sendable, Hashable {
    package let catalog: ContentCatalog
    /// The counter, at least 1. Of two catalogs, the one with the higher counter is newer.
    package let counter: Int64
    /// When the catalog was signed.
    package let issuedAt: Date
    /// The signed text, to be stored and verified again.
    package let text: String

    /// The `typ` in the JWS header of signed catalogs.
    static let type = "tenure-content+jwt"
    /// The maximum size of the payload in bytes. 100 packs with 20 versions each need less.
    static let maximumPayloadSize = 1 << 20
    /// The maximum size of the signed text in bytes: the payload in Base64, the header and the signature.
    package static let maximumTextSize = maximumPayloadSize / 3 * 4 + 1024
    /// The name of the catalog's file, which is in the same folder as the manifests and archives.
    package static let fileName = "catalog.jws"

    /// Verifies an untrusted text.
    ///
    /// - Parameters:
    ///   - keys: the public keys that the app pins. One of these keys must verify the signature.
    ///   - bundleID: the bundle ID that the catalog must have. Nil to accept any bundle ID.
    /// - Throws: `wrongSignature`, `wrongApp`, or `invalidCatalog`.
    package static func verify(
        _ text: some Collection<UInt8>, keys: [PinnedKey], bundleID: String?
    ) throws(ContentError) -> SignedCatalog {
        try read(for: bundleID) { () throws(SignedPayloadError) in
            try SignedPayload(text, type: type, keys: keys, maximumSize: maximumTextSize)
        }
    }

    /// Reads a catalog without verifying its signature, for commands on the machine that has the published folder.
    /// Clients always verify the signature.
    ///
    /// - Parameter bundleID: the bundle ID that the catalog must have. Nil to accept any bundle ID.
    package static func unverified(
        _ text: some Collection<UInt8>, bundleID: String? = nil
    ) throws(ContentError) -> SignedCatalog {
        try read(for: bundleID) { () throws(SignedPayloadError) in
            try SignedPayload(unverified: text, type: type, maximumSize: maximumTextSize)
        }
    }

    /// Reads the catalog in a signed payload. Throws `wrongApp` if the catalog doesn't have the wanted bundle ID.
    ///
    /// - Parameter readPayload: reads the payload from the signed text, and verifies the signature if that is wanted.
    private static func read(
        for bundleID: String?, _ readPayload: () throws(SignedPayloadError) -> SignedPayload
    ) throws(ContentError) -> SignedCatalog {
        let signed: SignedPayload
        do throws(SignedPayloadError) {
            signed = try readPayload()
        } catch {
            throw ContentError(error)
        }
        let result = try SignedCatalog(payload: Data(signed.payload), text: signed.text)
        if let bundleID, result.catalog.bundleID != bundleID {
            throw .wrongApp(found: result.catalog.bundleID, wanted: bundleID)
        }
        return result
    }

    /// Reads the payload of a signed text. The caller verifies the signature first, if it has to be verified.
    ///
    /// - Throws: `invalidCatalog` if a field of the payload is missing or invalid.
    package init(payload: Data, text: String) throws(ContentError) {
        let claims: Claims
        let content: ContentCatalog.Text
        do {
            claims = try JSONDecoder().decode(Claims.self, from: payload)
            content = try JSONDecoder().decode(ContentCatalog.Text.self, from: payload)
        } catch {
            throw .invalidCatalog("its payload can't be read")
        }
        guard (1...SignedPolicy.maximumCounter).contains(claims.counter),
            (0...SignedPolicy.maximumCounter).contains(claims.iat)
        else { throw .invalidCatalog("its `counter` (\(claims.counter)) or `iat` (\(claims.iat)) is out of range") }
        catalog = try ContentCatalog(content)
        counter = claims.counter
        issuedAt = Date(timeIntervalSince1970: Double(claims.iat))
        self.text = text
    }

    /// The fields of the payload that aren't part of the catalog.
    private struct Claims: Decodable {
        let counter: Int64
        let iat: Int64
    }

    /// Signs a catalog.
    ///
    /// - Throws: `invalidCatalog` if clients would reject the result: the counter is out of range, or the payload has
    ///   more than 1 MiB.
    package init(
        _ catalog: ContentCatalog, counter: Int64, issuedAt: Date, by key: P256.Signing.PrivateKey
    ) throws(ContentError) {
        // Limit the date, because a conversion of an extreme value to `Int64` would trap.
        let seconds = Int64(max(0, min(issuedAt.timeIntervalSince1970, 1e12)))
        let json = JSONWriter.object { json in
            json.field("counter", counter)
            json.field("iat", seconds)
            catalog.write(to: &json)
        }
        guard json.count <= Self.maximumPayloadSize else {
            throw .invalidCatalog("it has more than \(Self.maximumPayloadSize) bytes")
        }
        let text: String
        do throws(SignedPayloadError) {
            text = try SignedPayload.sign(json, type: Self.type, by: key)
        } catch {
            throw ContentError(error)
        }
        self = try .verify(text.utf8, keys: [PinnedKey(key.publicKey)], bundleID: catalog.bundleID)
    }
}

extension ContentError {
    fileprivate init(_ error: SignedPayloadError) {
        switch error {
        case .tooLarge(let bytes):
            self = .invalidCatalog("it has \(bytes) bytes; a catalog has at most \(SignedCatalog.maximumTextSize)")
        case .malformed(let reason): self = .invalidCatalog(reason)
        case .wrongSignature: self = .wrongSignature
        }
    }
}
