/// The parsed but unverified parts of a CMS SignedData (RFC 5652, section 5), as receipts have it: with content of the
/// type `data`, one signer, and an RSA signature.
///
/// All ranges are positions in `reader.bytes`.
struct SignedData {
    /// The digest algorithm of the signature.
    enum Digest: Hashable { case sha1, sha256 }

    /// One certificate in the receipt, with the fields by which the signer and its issuer are found.
    struct CertificateEntry {
        /// The range of the whole certificate in DER.
        let encoding: Range<Int>
        let serialNumber: Range<Int>
        // The ranges of the encoded names, with tag and length.
        let issuer: Range<Int>
        let subject: Range<Int>
    }

    /// The maximum number of certificates. Genuine receipts have three certificates (signer, intermediate, root).
    /// Receipts from Xcode have one certificate.
    static let maximumCertificates = 10

    private(set) var reader: BERReader
    /// The range of the signed content. If the content was in chunks, the chunks were joined.
    let content: Range<Int>
    let certificates: [CertificateEntry]
    /// The index of the signer's certificate.
    let signer: Int
    let digest: Digest
    /// The attributes that the signature covers; nil if the signature covers the content itself.
    let signedAttributes: SignedAttributes?
    /// The range of the RSA signature.
    let signature: Range<Int>

    /// The range of all signed attributes (`SET OF Attribute` with an implicit tag), with tag and length. One of the
    /// attributes is the content's digest, at the second range.
    typealias SignedAttributes = (encoding: Range<Int>, messageDigest: Range<Int>)

    /// The signed content.
    var contentOctets: ArraySlice<UInt8> { reader.bytes[content] }

    /// The bytes of the signed attributes for the signature's hash: with the tag of a SET instead of `[0]` (RFC 5652,
    /// section 5.4). Empty if there are no signed attributes.
    var signedBytes: [UInt8] {
        guard let signedAttributes else { return [] }
        return [BERTag.set] + reader.bytes[signedAttributes.encoding].dropFirst()
    }

    func bytes(of certificate: CertificateEntry) -> [UInt8] { Array(reader.bytes[certificate.encoding]) }

    /// Parses a receipt from beginning to end, in the order of RFC 5652.
    ///
    /// Throws `tooLarge`, `malformed` or `unsupportedAlgorithm`.
    init(_ bytes: [UInt8]) throws(Rejection) {
        guard bytes.count <= ReceiptEncoding.maximumSize else {
            throw Rejection(
                .tooLarge,
                "the receipt has \(bytes.count) bytes; a genuine one has at most \(ReceiptEncoding.maximumSize)")
        }
        var reader = BERReader(bytes)
        // ContentInfo (section 3): the content type, and the SignedData.
        let outer = try reader.element(BERTag.sequence, at: 0, before: bytes.count, "the outer sequence")
        guard outer.end == bytes.count else { throw .unreadable("bytes follow the receipt") }
        var info = Cursor(outer)
        try info.objectIdentifier(ReceiptOID.signedData, "the content type `signedData`", &reader)
        var wrapped = Cursor(try info.next(BERTag.context0, "the signed data", &reader))
        try info.end("the outer sequence")
        var signedData = Cursor(try wrapped.next(BERTag.sequence, "the signed data", &reader))
        try wrapped.end("the signed data")

        // SignedData (section 5.1): version, digest algorithms, content, certificates, signers.
        try signedData.version(1, "the version of the signed data", &reader)
        let digestAlgorithms = try signedData.next(BERTag.set, "the set of digest algorithms", &reader)

        var encapsulated = Cursor(try signedData.next(BERTag.sequence, "the content", &reader))
        try encapsulated.objectIdentifier(ReceiptOID.data, "the content type `data`", &reader)
        guard !encapsulated.isAtEnd else { throw .unreadable("it has no content (a detached signature)") }
        var content = Cursor(try encapsulated.next(BERTag.context0, "the content", &reader))
        try encapsulated.end("the content")
        let octets = try content.next(&reader)
        try content.end("the content")
        self.content = try reader.octets(of: octets)

        var certificates: [CertificateEntry] = []
        if let certificateSet = try signedData.next(ifTagged: BERTag.context0, &reader) {
            var cursor = Cursor(certificateSet)
            while !cursor.isAtEnd {
                guard certificates.count < Self.maximumCertificates
                else { throw .unreadable("it has more than \(Self.maximumCertificates) certificates") }
                let certificate = try cursor.next(BERTag.sequence, "a certificate", &reader)
                for earlier in certificates where reader.equal(earlier.encoding, certificate.encoding) {
                    throw .unreadable("it has a certificate twice")
                }
                certificates.append(try Self.certificate(certificate, &reader))
            }
        }
        // Reject unsigned parts. Anyone could add unsigned parts in endless variants, and code that compares whole
        // receipts would treat each variant as a new receipt. Apple sends neither revocation lists nor unsigned
        // attributes.
        guard try signedData.next(ifTagged: BERTag.context1, &reader) == nil
        else { throw .unreadable("it has revocation lists, which the App Store never sends") }
        self.certificates = certificates

        var signers = Cursor(try signedData.next(BERTag.set, "the set of signers", &reader))
        try signedData.end("the signed data")
        guard !signers.isAtEnd else { throw .unreadable("it has no signer") }
        var signer = Cursor(try signers.next(BERTag.sequence, "the signer", &reader))
        // With several signers, it wouldn't be clear whether one or all signatures must be valid, and an attacker could
        // add a signer.
        guard signers.isAtEnd else { throw .unreadable("it has more than one signer") }

        // SignerInfo (section 5.3): version, name, algorithms, signed attributes and signature. Version 1 identifies
        // the signer by issuer and serial number. The App Store doesn't use version 3, with a key identifier.
        try signer.version(1, "the version of the signer", &reader)
        var name = Cursor(try signer.next(BERTag.sequence, "issuer and serial number of the signer", &reader))
        let issuer = try name.next(BERTag.sequence, "the issuer of the signer", &reader)
        let serialNumber = try name.next(BERTag.integer, "the serial number of the signer", &reader)
        try name.end("issuer and serial number of the signer")

        let digestOID = try signer.algorithm("the digest algorithm", &reader)
        let signedAttributes = try signer.next(ifTagged: BERTag.context0, &reader)
        let signatureOID = try signer.algorithm("the signature algorithm", &reader)
        signature = try reader.octets(of: try signer.next(&reader))
        guard try signer.next(ifTagged: BERTag.context1, &reader) == nil
        else { throw .unreadable("it has unsigned attributes, which the App Store never sends") }
        try signer.end("the signer")

        digest = try Self.digest(digestOID, signature: signatureOID, reader)
        try Self.requireOnly(digestOID, in: digestAlgorithms, &reader)
        self.signedAttributes = try signedAttributes.map { (element) throws(Rejection) in
            try Self.signedAttributes(element, &reader)
        }

        // Find the certificate with the signer's name.
        var signerIndex: Int?
        for (index, certificate) in certificates.enumerated()
        where reader.equal(certificate.serialNumber, serialNumber.contents)
            && reader.equal(certificate.issuer, issuer.encoding)
        {
            guard signerIndex == nil
            else { throw .unreadable("several certificates match the signer's issuer and serial number") }
            signerIndex = index
        }
        guard let signerIndex else { throw .unreadable("it doesn't contain the signer's certificate") }
        self.signer = signerIndex
        self.reader = reader
    }

    // MARK: Parts

    /// Reads the names in a certificate (RFC 5280, section 4.1).
    private static func certificate(
        _ certificate: BERElement, _ reader: inout BERReader
    ) throws(Rejection) -> CertificateEntry {
        guard !certificate.hasIndefiniteLength else { throw .unreadable("a certificate isn't in DER") }
        var outer = Cursor(certificate)
        var body = Cursor(try outer.next(BERTag.sequence, "the body of a certificate", &reader))
        _ = try body.next(ifTagged: BERTag.context0, &reader)  // version
        let serialNumber = try body.next(BERTag.integer, "the serial number of a certificate", &reader)
        _ = try body.next(BERTag.sequence, "the algorithm of a certificate", &reader)
        let issuer = try body.next(BERTag.sequence, "the issuer of a certificate", &reader)
        _ = try body.next(BERTag.sequence, "the validity of a certificate", &reader)
        let subject = try body.next(BERTag.sequence, "the subject of a certificate", &reader)
        return CertificateEntry(
            encoding: certificate.encoding, serialNumber: serialNumber.contents, issuer: issuer.encoding,
            subject: subject.encoding)
    }

    /// Returns the digest algorithm, after checking that the signature algorithm uses the same digest algorithm.
    private static func digest(
        _ digest: Range<Int>, signature: Range<Int>, _ reader: BERReader
    ) throws(Rejection) -> Digest {
        let isSHA256 = reader.equal(digest, ReceiptOID.sha256)
        guard isSHA256 || reader.equal(digest, ReceiptOID.sha1)
        else { throw Rejection(.unsupportedAlgorithm, "the receipt's digest is neither SHA-1 nor SHA-256") }
        // `rsaEncryption` doesn't name a digest. The other algorithms do, and it must be the same digest.
        let withDigest = isSHA256 ? ReceiptOID.sha256WithRSA : ReceiptOID.sha1WithRSA
        guard reader.equal(signature, ReceiptOID.rsaEncryption) || reader.equal(signature, withDigest) else {
            throw Rejection(.unsupportedAlgorithm, "the receipt's signature algorithm isn't RSA with the named digest")
        }
        return isSHA256 ? .sha256 : .sha1
    }

    /// Throws unless the signer's digest is the only one in the list. The list isn't signed, so anyone could add other
    /// digests.
    private static func requireOnly(
        _ digest: Range<Int>, in set: BERElement, _ reader: inout BERReader
    ) throws(Rejection) {
        var algorithms = Cursor(set)
        let listed = try algorithms.algorithm("a digest algorithm", &reader)
        guard reader.equal(listed, digest), algorithms.isAtEnd
        else { throw .unreadable("it lists other digest algorithms than the signer's") }
    }

    /// Reads the signed attributes, which must contain the digest and the type of the content (RFC 5652, section 11).
    private static func signedAttributes(
        _ element: BERElement, _ reader: inout BERReader
    ) throws(Rejection) -> SignedAttributes {
        // The signature covers the DER encoding, so the attributes must be in DER.
        guard !element.hasIndefiniteLength else { throw .unreadable("the signed attributes aren't in DER") }
        var messageDigest: Range<Int>?
        var hasContentType = false
        var attributes = Cursor(element)
        while !attributes.isAtEnd {
            var attribute = Cursor(try attributes.next(BERTag.sequence, "a signed attribute", &reader))
            let type = try attribute.next(BERTag.objectIdentifier, "the type of a signed attribute", &reader)
            var values = Cursor(try attribute.next(BERTag.set, "the value of a signed attribute", &reader))
            try attribute.end("a signed attribute")
            if reader.equal(type.contents, ReceiptOID.messageDigest) {
                guard messageDigest == nil else { throw .unreadable("it has two signed digests") }
                messageDigest = try values.next(BERTag.octetString, "the signed digest", &reader).contents
                try values.end("the signed digest")
            } else if reader.equal(type.contents, ReceiptOID.contentType) {
                guard !hasContentType else { throw .unreadable("it has two signed content types") }
                hasContentType = true
                try values.objectIdentifier(ReceiptOID.data, "the signed content type `data`", &reader)
                try values.end("the signed content type")
            }
        }
        guard let messageDigest else { throw .unreadable("the signed attributes lack a digest") }
        guard hasContentType else { throw .unreadable("the signed attributes lack a content type") }
        return (element.encoding, messageDigest)
    }
}

/// Reads the parts of one element, one after another.
private struct Cursor {
    private var position: Int
    private let limit: Int

    init(_ element: BERElement) {
        position = element.contents.lowerBound
        limit = element.contents.upperBound
    }

    var isAtEnd: Bool { position == limit }

    /// Throws unless all parts of the element were read. `name` is the element's name in the message.
    func end(_ name: StaticString) throws(Rejection) {
        guard isAtEnd else { throw .unreadable("\(name) has too many parts") }
    }

    /// Reads the next part, of any type.
    mutating func next(_ reader: inout BERReader) throws(Rejection) -> BERElement {
        let element = try reader.element(at: position, before: limit)
        position = element.end
        return element
    }

    /// Reads the next part, which must have this tag.
    mutating func next(_ tag: UInt8, _ name: StaticString, _ reader: inout BERReader) throws(Rejection) -> BERElement {
        let element = try reader.element(tag, at: position, before: limit, name)
        position = element.end
        return element
    }

    /// Reads an optional part. Returns nil if the next element has another tag.
    mutating func next(ifTagged tag: UInt8, _ reader: inout BERReader) throws(Rejection) -> BERElement? {
        guard !isAtEnd, position < reader.bytes.count, reader.bytes[position] == tag else { return nil }
        return try next(&reader)
    }

    /// Reads an object identifier. Throws unless it is the expected identifier.
    mutating func objectIdentifier(
        _ expected: [UInt8], _ name: StaticString, _ reader: inout BERReader
    ) throws(Rejection) {
        let element = try next(BERTag.objectIdentifier, name, &reader)
        guard reader.equal(element.contents, expected) else { throw .unreadable("\(name) is missing") }
    }

    /// Reads a version number. Throws unless it is the expected number.
    mutating func version(_ expected: UInt64, _ name: StaticString, _ reader: inout BERReader) throws(Rejection) {
        let element = try next(BERTag.integer, name, &reader)
        guard reader.unsignedInteger(in: element.contents) == expected
        else { throw .unreadable("\(name) must be \(expected)") }
    }

    /// Reads an AlgorithmIdentifier, and returns the range of its object identifier. The algorithm's parameters must be
    /// NULL, as Apple writes them, or missing, as in OpenSSL.
    mutating func algorithm(_ name: StaticString, _ reader: inout BERReader) throws(Rejection) -> Range<Int> {
        var parts = Cursor(try next(BERTag.sequence, name, &reader))
        let identifier = try parts.next(BERTag.objectIdentifier, name, &reader)
        if !parts.isAtEnd {
            let parameters = try parts.next(BERTag.null, name, &reader)
            guard parameters.contents.isEmpty else { throw .unreadable("\(name) has parameters") }
        }
        try parts.end(name)
        return identifier.contents
    }
}
