import Crypto
import CryptoExtras
public import Foundation
import TenureCore

extension AppStoreVerifier {
    /// Verifies an app receipt in BER or DER. `receiptBytes(base64:)` and `receiptBytes(file:)` decode Base64.
    ///
    /// A receipt with a creation date more than five minutes after `now` is rejected. If the creation date is missing
    /// or unreadable, the certificates must be valid at `now`. If `now` is nil, the date isn't compared, and a receipt
    /// without a readable date is rejected. The bundle ID is compared; the app's Apple ID isn't.
    ///
    /// Throws a `Rejection` with the code of the first failed check, in this order: size, format, algorithm,
    /// certificate chain, purpose of the certificates, signature, payload, validity, app, environment. A signer's key
    /// that isn't an RSA key is rejected with `unsupportedAlgorithm` only after the chain was checked.
    public func verifyReceipt(_ bytes: [UInt8], now: Date?) throws(Rejection) -> Verified<ReceiptPayload> {
        let signedData = try SignedData(bytes)
        let chain = try chain(of: signedData)
        let digest = SHA256.hash(data: signedData.contentOctets)
        try checkSignature(of: signedData, with: digest, by: chain)
        let payload = try ReceiptPayloadParser.parse(signedData.content, of: signedData.reader)
        try checkSigning(at: payload.creationDate, by: chain, now: now)
        // Compare bytes: `String` treats different Unicode encodings of a letter as equal.
        if let wanted = app.bundleID, !payload.bundleID.utf8.elementsEqual(wanted.utf8) {
            throw Rejection(.wrongApp, "the receipt belongs to the app `\(payload.bundleID)`, not to `\(wanted)`")
        }
        // For an unknown type, the message has the type as written.
        let environment = try trust.environment(
            named: payload.type?.environment.rawValue ?? payload.receiptType, signedBy: chain)
        return Verified(
            payload: payload, environment: environment, signedDate: payload.creationDate, chain: chain, digest: digest)
    }

    /// Builds the chain from the signer to a configured root. The intermediate is in the receipt, because Apple's
    /// intermediates change.
    private func chain(of signedData: SignedData) throws(Rejection) -> TrustedChain {
        let signer = signedData.certificates[signedData.signer]
        let leaf = signedData.bytes(of: signer)
        // Xcode signs test receipts with one self-signed certificate.
        if signedData.certificates.count == 1 { return try cache.localChain(certificate: leaf, purpose: .receipt) }
        var rejection: Rejection?
        for (index, candidate) in signedData.certificates.enumerated()
        where index != signedData.signer && signedData.reader.equal(candidate.subject, signer.issuer) {
            do {
                return try cache.chain(leaf: leaf, intermediate: signedData.bytes(of: candidate), purpose: .receipt)
            } catch {
                // This intermediate wasn't checked, so the receipt may be valid. Throw this error, and not the failure
                // of another intermediate.
                if error.code == .tooManyUnknownSigners { throw error }
                rejection = rejection ?? error
            }
        }
        throw rejection
            ?? Rejection(
                .untrustedChain, "the receipt doesn't contain the certificate that issued the signer's certificate")
    }

    /// Checks that the chain's key signed the receipt's content.
    ///
    /// - Parameter digest: the SHA-256 digest of the content.
    private func checkSignature(
        of signedData: SignedData, with digest: SHA256Digest, by chain: TrustedChain
    ) throws(Rejection) {
        guard case .rsa(let key) = chain.key
        else { throw Rejection(.unsupportedAlgorithm, "a receipt must be signed with an RSA key") }
        let isValid =
            switch signedData.digest {
            case .sha1:
                signedData.isSigned(
                    by: key, hashedBy: Insecure.SHA1.self, Insecure.SHA1.hash(data: signedData.contentOctets))
            case .sha256: signedData.isSigned(by: key, hashedBy: SHA256.self, digest)
            }
        guard isValid else { throw Rejection(.badSignature, "the signature doesn't match the content") }
    }
}

extension SignedData {
    /// Whether the key made the signature, by RSASSA-PKCS1-v1_5 (RFC 8017, section 8.2.2).
    ///
    /// - Parameter contentDigest: the digest of the content.
    fileprivate func isSigned<Hash: HashFunction>(
        by key: _RSA.Signing.PublicKey, hashedBy: Hash.Type, _ contentDigest: Hash.Digest
    ) -> Bool {
        let signature = _RSA.Signing.RSASignature(rawRepresentation: reader.bytes[signature])
        guard let signedAttributes
        else { return key.isValidSignature(signature, for: contentDigest, padding: .insecurePKCS1v1_5) }
        // RFC 5652, section 5.4: the signature covers the attributes, which contain the digest of the content.
        guard contentDigest == reader.bytes[signedAttributes.messageDigest] else { return false }
        return key.isValidSignature(signature, for: Hash.hash(data: signedBytes), padding: .insecurePKCS1v1_5)
    }
}
