/// The format of a receipt around its attributes.
package struct ReceiptStyle: Sendable, Hashable {
    /// How the ASN.1 is encoded.
    package enum Form: Sendable, Hashable {
        /// Definite lengths and sorted attributes, as the App Store writes them.
        case der
        /// Indefinite lengths, the content in chunks, and unsorted attributes, as Xcode and OpenSSL's streams write
        /// them.
        case ber
    }

    /// The digest algorithm of the signature.
    package enum Digest: Sendable, Hashable {
        /// The digest of receipts that the App Store signed before January 24, 2025.
        case sha1
        case sha256
    }

    package var form: Form
    package var digest: Digest
    /// Whether the receipt has signed attributes. Apple's receipts don't have them, but OpenSSL and BouncyCastle add
    /// them by default.
    var hasSignedAttributes: Bool
    /// Whether the signature's algorithm includes the digest algorithm, unlike `rsaEncryption`.
    var namesDigestInSignature: Bool

    package init(
        form: Form = .der, digest: Digest = .sha256, hasSignedAttributes: Bool = false,
        namesDigestInSignature: Bool = false
    ) {
        self.form = form
        self.digest = digest
        self.hasSignedAttributes = hasSignedAttributes
        self.namesDigestInSignature = namesDigestInSignature
    }
}
