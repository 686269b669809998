import Crypto
import CryptoExtras
import TenureAppStore

/// An unfinished receipt. Each part can be corrupted before or after it is signed.
struct ReceiptAssembly {
    /// The signed content: the encoded attributes.
    var content: [UInt8]
    /// The content to write, if it differs from the signed content.
    var shownContent: [UInt8]?
    /// The certificates in DER, in the order of the receipt.
    var certificates: [[UInt8]]
    /// The certificate that the receipt identifies as the signer's certificate.
    var signer: ParsedCertificate
    /// The key that signs the receipt.
    var key: AuthorityKey
    var style: ReceiptStyle
    /// The algorithms in the receipt, if they differ from the algorithms that compute its digest and signature.
    var digestOID: [UInt8]?
    var signatureOID: [UInt8]?
    /// Whether algorithms have the parameter NULL, as Apple writes them.
    var hasNullParameters = true
    /// The number of signers in the receipt. All of them are equal.
    var signers = 1
    /// Whether the content is left out.
    var isDetached = false
    /// The size of the chunks of the content in BER, in bytes.
    var chunkSize = 200
    /// The signed attributes, if they differ from the valid attributes.
    var signedAttributes: [[UInt8]]?
    /// The unsigned attributes, with their tag.
    var unsignedAttributes: [UInt8] = []
    /// The revocation lists, with their tag.
    var revocationLists: [UInt8] = []
    /// Digest algorithms that the receipt lists besides the one that it uses.
    var extraDigests: [[UInt8]] = []
    /// Changes the finished bytes.
    var finish: (([UInt8]) -> [UInt8])?

    init(content: [UInt8], chain: [IssuedCertificate], style: ReceiptStyle) throws {
        guard let leaf = chain.first else {
            throw MintingError("the certificate chain is empty; a receipt needs a signer's certificate")
        }
        self.content = content
        certificates = chain.map(\.der)
        signer = leaf.certificate
        key = leaf.key
        self.style = style
    }

    private typealias OID = ReceiptOID

    /// Signs and encodes the receipt: a ContentInfo with SignedData (RFC 5652, sections 3 and 5.1).
    func bytes() throws -> [UInt8] {
        // The tag 0x30 is a SEQUENCE, and 0xA0 is [0].
        let wrap = style.form == .ber ? DERWriter.indefinite : DERWriter.element
        let digest = algorithm(digestOID ?? (style.digest == .sha1 ? OID.sha1 : OID.sha256))
        var encapsulated = DERWriter.objectIdentifier(OID.data)
        if !isDetached { encapsulated += wrap(0xA0, octets(shownContent ?? content)) }

        var parts = DERWriter.integer(1) + DERWriter.set([digest] + extraDigests) + wrap(0x30, encapsulated)
        if !certificates.isEmpty { parts += DERWriter.element(0xA0, certificates.flatMap { $0 }) }
        parts += revocationLists
        parts += DERWriter.set(Array(repeating: try signerInfo(digest: digest), count: signers))

        let receipt = wrap(0x30, DERWriter.objectIdentifier(OID.signedData) + wrap(0xA0, wrap(0x30, parts)))
        return finish?(receipt) ?? receipt
    }

    /// Encodes an octet string. In BER, it is divided into chunks.
    private func octets(_ bytes: [UInt8]) -> [UInt8] {
        guard style.form == .ber else { return DERWriter.octetString(bytes) }
        let chunks = stride(from: 0, to: bytes.count, by: chunkSize)
            .map { DERWriter.octetString(Array(bytes[$0..<min($0 + chunkSize, bytes.count)])) }
        // The tag of an OCTET STRING that consists of others.
        return DERWriter.indefinite(0x24, chunks.flatMap { $0 })
    }

    /// Encodes the signer with its signature (RFC 5652, section 5.3).
    private func signerInfo(digest: [UInt8]) throws -> [UInt8] {
        var parts = DERWriter.integer(1)
        parts += DERWriter.sequence(signer.issuer, DERWriter.element(0x02, signer.serialNumber))
        parts += digest
        var signed = content
        if style.hasSignedAttributes {
            let attributes = DERWriter.sorted(signedAttributes ?? validSignedAttributes).flatMap { $0 }
            signed = DERWriter.element(0x31, attributes)
            parts += DERWriter.element(0xA0, attributes)
        }
        parts += algorithm(signatureOID ?? validSignatureOID)
        parts += DERWriter.octetString(try sign(signed))
        parts += unsignedAttributes
        return DERWriter.element(0x30, parts)
    }

    private var validSignatureOID: [UInt8] {
        guard style.namesDigestInSignature else { return OID.rsaEncryption }
        return style.digest == .sha1 ? OID.sha1WithRSA : OID.sha256WithRSA
    }

    /// The signed attributes that RFC 5652 requires: the type and the digest of the content.
    var validSignedAttributes: [[UInt8]] { [Self.contentTypeAttribute, Self.messageDigestAttribute(hash(content))] }

    static let contentTypeAttribute = attribute(OID.contentType, DERWriter.objectIdentifier(OID.data))

    static func messageDigestAttribute(_ digest: [UInt8]) -> [UInt8] {
        attribute(OID.messageDigest, DERWriter.octetString(digest))
    }

    private static func attribute(_ type: [UInt8], _ value: [UInt8]) -> [UInt8] {
        DERWriter.sequence(DERWriter.objectIdentifier(type), DERWriter.set([value]))
    }

    /// Returns the digest of bytes, by the digest algorithm of the style.
    func hash(_ bytes: [UInt8]) -> [UInt8] {
        style.digest == .sha1 ? Array(Insecure.SHA1.hash(data: bytes)) : Array(SHA256.hash(data: bytes))
    }

    /// Returns the signature of bytes.
    private func sign(_ bytes: [UInt8]) throws -> [UInt8] {
        switch key {
        case .rsa(let key):
            let signature =
                switch style.digest {
                case .sha1: try key.signature(for: Insecure.SHA1.hash(data: bytes), padding: .insecurePKCS1v1_5)
                case .sha256: try key.signature(for: SHA256.hash(data: bytes), padding: .insecurePKCS1v1_5)
                }
            return Array(signature.rawRepresentation)
        // Receipts with an ECDSA signature are invalid, so this is only for defects.
        case .p256(let key): return Array(try key.signature(for: SHA256.hash(data: bytes)).derRepresentation)
        case .p384(let key): return Array(try key.signature(for: SHA384.hash(data: bytes)).derRepresentation)
        }
    }

    /// Encodes an AlgorithmIdentifier.
    private func algorithm(_ identifier: [UInt8]) -> [UInt8] {
        DERWriter.sequence(DERWriter.objectIdentifier(identifier), hasNullParameters ? DERWriter.null : [])
    }
}
