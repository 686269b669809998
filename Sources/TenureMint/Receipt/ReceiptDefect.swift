import Crypto
import Foundation
import TenureAppStore

/// Defects of a receipt with a valid chain, and unusual but valid variants. The raw values are names for
/// `tenure mint --defect`; `corrupt` makes each defect.
package enum ReceiptDefect: String, CaseIterable, Sendable, Hashable {
    // The container (CMS SignedData) around the content. Its certificates are called the bag.
    case trailingByte, truncated, longLength, tagOfSeveralBytes, indefinitePrimitive, deepNesting
    case detached, extraSigner, noSigner, wrongSignedDataVersion
    case signerNotInBag, signerTwice, noCertificates, noIntermediate, tooManyCertificates, rootTwice
    case unsignedAttributes, revocationLists, extraDigestAlgorithm
    case digestMD5, digestSHA512, signatureECDSA, mismatchedSignatureAlgorithm
    // The signature.
    case tamperedContent, foreignSigner
    case foreignSignedDigest, signedAttributesWithoutDigest, signedAttributesWithoutContentType
    // The content.
    case trailingContentByte, attributeTypeOverflow, negativeAttributeType, attributeOfThreeValues
    case noReceiptType, noBundleID, emptyBundleID, invalidUTF8
    case duplicateReceiptType, duplicateBundleID, duplicateAppVersion, duplicateOpaqueValue, duplicateHash
    case duplicateCreationDate, duplicateOriginalVersion, duplicateOriginalPurchaseDate
    case unreadableOriginalPurchaseDate, unreadableExpirationDate
    case unreadablePurchaseDate, unreadableExpiresDate, unreadableCancellationDate
    case purchaseWithoutProduct, purchaseWithoutTransaction, duplicateCancellationDate
    case futureCreation, wrongBundle, wrongBundleCase, decomposedBundle
    case sandbox, xcodeClaim, unknownReceiptType
    case oversized
    // Unusual, but valid.
    case noCreationDate, unreadableCreationDate, unknownAttributes, repeatedUnknownAttribute, unsortedAttributes,
        rootFirst, noNullParameters
    case opensslSignedAttributes, chunkedContent, nestedChunks, indefiniteLengths, unreadableUndocumentedDate
    case fractionalDate, dateWithOffset, foreignCertificateInBag, tenCertificates, garbageRoot

    /// Applies the defect to the attributes, if the defect is in an attribute.
    func corrupt(_ draft: inout ReceiptDraft, at instant: Date) {
        switch self {
        case .noReceiptType: draft[.receiptType] = nil
        case .noBundleID: draft[.bundleID] = nil
        case .emptyBundleID: draft[.bundleID] = .text("")
        case .invalidUTF8: draft[.originalAppVersion] = .octets([0x0C, 0x02, 0x31, 0xFF])
        case .duplicateReceiptType: draft.add(.receiptType, .text("Production"))
        case .duplicateBundleID: draft.add(.bundleID, .text("com.example.other"))
        case .duplicateAppVersion: draft.add(.appVersion, .text("1"))
        case .duplicateOpaqueValue: draft.add(.opaqueValue, .octets([1, 2, 3]))
        case .duplicateHash:
            draft.add(.sha1Hash, .octets(Array(repeating: 1, count: 20)))
            draft.add(.sha1Hash, .octets(Array(repeating: 2, count: 20)))
        case .duplicateCreationDate: draft.add(.creationDate, .date(instant.addingTimeInterval(-86_400)))
        case .duplicateOriginalVersion: draft.add(.originalAppVersion, .text("1"))
        case .duplicateOriginalPurchaseDate: draft.add(.originalPurchaseDate, .date(instant))
        case .unreadableCreationDate: draft[.creationDate] = .text("yesterday")
        case .unreadableOriginalPurchaseDate: draft[.originalPurchaseDate] = .text("2014-02-30T10:00:00Z")
        case .unreadableExpirationDate: draft[.expirationDate] = .text("2027-01-01")
        case .unreadableUndocumentedDate: draft[.downloadDate] = .text("soon")
        case .unreadablePurchaseDate: draft.changePurchase { $0[.purchaseDate] = .text("2015-07-01T10:00:00") }
        case .unreadableExpiresDate: draft.changePurchase { $0[.expiresDate] = .number(1_435_744_800) }
        case .unreadableCancellationDate: draft.changePurchase { $0[.cancellationDate] = .text("refunded") }
        case .duplicateCancellationDate: draft.changePurchase { $0.add(.cancellationDate, .date(instant)) }
        case .purchaseWithoutProduct: draft.changePurchase { $0[.productID] = nil }
        case .purchaseWithoutTransaction: draft.changePurchase { $0[.transactionID] = .text("") }
        case .futureCreation: draft[.creationDate] = .date(instant.addingTimeInterval(86_400))
        case .noCreationDate: draft[.creationDate] = nil
        case .wrongBundle: draft[.bundleID] = .text("com.example.other")
        case .wrongBundleCase: draft.changeBundleID { $0.uppercased() }
        case .decomposedBundle: draft.changeBundleID { $0 + "\u{301}" }
        case .sandbox: draft[.receiptType] = .text(ReceiptType.productionSandbox.rawValue)
        case .xcodeClaim: draft[.receiptType] = .text(ReceiptType.xcode.rawValue)
        case .unknownReceiptType: draft[.receiptType] = .text("ProductionNG")
        case .unknownAttributes:
            draft.attributes.append(.init(type: 99, value: .octets([1, 2, 3])))
            draft.attributes.append(.init(type: UInt64(Int32.max), value: .octets([])))
            draft.changePurchase { $0.attributes.append(.init(type: 1799, value: .octets([0xFF]))) }
        case .repeatedUnknownAttribute:
            for byte: UInt8 in 0..<3 { draft.attributes.append(.init(type: 98, value: .octets([byte]))) }
        case .attributeTypeOverflow:
            // 2^32 + 2 must not be read as the bundle ID.
            draft.attributes.append(.init(type: (1 << 32) + 2, value: .text("com.example.other")))
        case .fractionalDate: draft[.creationDate] = .text(ReceiptDate.text(instant).dropLast() + ".250Z")
        case .dateWithOffset:
            let local = ReceiptDate.text(instant.addingTimeInterval(3600)).dropLast()
            draft[.creationDate] = .text(local + "+0100")
        default: break
        }
    }

    /// Applies the defect to the container (CMS SignedData) or the signature, if the defect is in one of them.
    func corrupt(_ assembly: inout ReceiptAssembly, draft: ReceiptDraft, by minter: ReceiptMinter) throws {
        switch self {
        case .trailingByte: assembly.finish = { $0 + [0] }
        case .truncated: assembly.finish = { Array($0.dropLast()) }
        case .longLength: assembly.finish = { [0x30, 0x85, 0, 0, 0, 0, 0] + $0 }
        case .tagOfSeveralBytes: assembly.finish = { [0x3F, 0x81, 0x01] + $0.dropFirst() }
        case .indefinitePrimitive: assembly.content = DERWriter.indefinite(0x04, assembly.content)
        case .deepNesting:
            assembly.finish = { _ in
                Array(repeating: [0x30, 0x80], count: 50_000).flatMap { $0 } + Array(repeating: 0, count: 100_000)
            }
        case .detached: assembly.isDetached = true
        case .extraSigner: assembly.signers = 2
        case .noSigner: assembly.signers = 0
        case .wrongSignedDataVersion:
            // The version is the first INTEGER 1 in the receipt. Only an object identifier precedes the version.
            assembly.finish = { bytes in
                guard let index = bytes.firstRange(of: [0x02, 0x01, 0x01] as [UInt8])?.upperBound else { return bytes }
                var bytes = bytes
                bytes[index - 1] = 7
                return bytes
            }
        case .signerNotInBag: assembly.certificates.removeFirst()
        case .signerTwice: assembly.certificates.append(assembly.certificates[0])
        case .noCertificates: assembly.certificates = []
        case .noIntermediate: assembly.certificates.remove(at: 1)
        case .tooManyCertificates: assembly.addForeignCertificates(8, by: minter)
        case .tenCertificates: assembly.addForeignCertificates(7, by: minter)
        case .rootTwice: assembly.certificates.append(minter.authority.receipts.root.der)
        case .unsignedAttributes:
            assembly.unsignedAttributes = DERWriter.element(0xA1, ReceiptAssembly.signingTimeAttribute)
        case .revocationLists: assembly.revocationLists = DERWriter.element(0xA1, DERWriter.sequence([]))
        case .extraDigestAlgorithm:
            assembly.extraDigests = [DERWriter.sequence(DERWriter.objectIdentifier(ReceiptOID.sha1))]
        case .digestMD5: assembly.digestOID = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x02, 0x05]
        case .digestSHA512: assembly.digestOID = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x03]
        case .signatureECDSA: assembly.signatureOID = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02]
        case .mismatchedSignatureAlgorithm: assembly.signatureOID = ReceiptOID.sha1WithRSA
        case .tamperedContent:
            var other = draft
            other[.originalAppVersion] = .text("36")
            assembly.shownContent = other.encoded(sorted: true)
        case .foreignSigner: assembly.key = minter.authority.xcodeReceipts.key
        case .foreignSignedDigest:
            assembly.add(signedAttributes: [
                ReceiptAssembly.contentTypeAttribute, ReceiptAssembly.messageDigestAttribute(assembly.hash([1, 2, 3])),
            ])
        case .signedAttributesWithoutDigest: assembly.add(signedAttributes: [ReceiptAssembly.contentTypeAttribute])
        case .signedAttributesWithoutContentType:
            assembly.add(signedAttributes: [ReceiptAssembly.messageDigestAttribute(assembly.hash(assembly.content))])
        case .trailingContentByte: assembly.content.append(0)
        case .negativeAttributeType:
            let attribute = DERWriter.sequence([0x02, 0x01, 0xFE], DERWriter.integer(1), DERWriter.octetString([]))
            assembly.content = DERWriter.set(draft.encodedAttributes(sorted: true) + [attribute])
        case .attributeOfThreeValues:
            let attribute = DERWriter.sequence(
                DERWriter.integer(77), DERWriter.integer(1), DERWriter.octetString([]), DERWriter.octetString([]))
            assembly.content = DERWriter.set(draft.encodedAttributes(sorted: true) + [attribute])
        case .oversized: assembly.finish = { $0 + Array(repeating: 0, count: ReceiptEncoding.maximumSize) }
        case .unsortedAttributes: assembly.content = DERWriter.set(draft.encodedAttributes(sorted: true).reversed())
        case .rootFirst: assembly.certificates.reverse()
        case .noNullParameters: assembly.hasNullParameters = false
        case .opensslSignedAttributes:
            assembly.hasNullParameters = false
            // OpenSSL also adds the signing time, which verifiers ignore.
            assembly.add(signedAttributes: assembly.validSignedAttributes + [ReceiptAssembly.signingTimeAttribute])
        case .chunkedContent:
            assembly.style.form = .ber
            assembly.chunkSize = 7
        case .nestedChunks:
            // Divide the value of an attribute into chunks of chunks.
            let chunk = DERWriter.element(0x24, DERWriter.octetString([0x0C, 0x02]) + DERWriter.octetString([0x68]))
            let value = DERWriter.indefinite(0x24, chunk + DERWriter.octetString([0x69]))
            let attribute = DERWriter.sequence(DERWriter.integer(97), DERWriter.integer(1), value)
            assembly.content = DERWriter.set(draft.encodedAttributes(sorted: true) + [attribute])
        case .indefiniteLengths:
            let attributes = draft.encodedAttributes(sorted: false).flatMap { $0 }
            assembly.content = DERWriter.indefinite(0x31, attributes)
        case .foreignCertificateInBag: assembly.certificates.insert(minter.authority.xcodeReceipts.der, at: 0)
        case .garbageRoot: assembly.certificates[2][assembly.certificates[2].count - 1] ^= 1
        default: break
        }
    }
}

extension ReceiptAssembly {
    /// A CMS attribute with the signing time (RFC 5652, section 11.3).
    fileprivate static let signingTimeAttribute = DERWriter.sequence(
        DERWriter.objectIdentifier([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x05]),
        DERWriter.set([DERWriter.element(0x17, Array("261120120000Z".utf8))]))

    /// Adds signed attributes in place of the valid ones.
    fileprivate mutating func add(signedAttributes attributes: [[UInt8]]) {
        style.hasSignedAttributes = true
        signedAttributes = attributes
    }

    /// Adds certificates to the receipt's three certificates. The added certificates are copies of the root for JWS
    /// that differ in the last byte.
    fileprivate mutating func addForeignCertificates(_ count: UInt8, by minter: ReceiptMinter) {
        for number in 0..<count {
            var certificate = minter.authority.jws.root.der
            certificate[certificate.endIndex - 1] ^= number
            certificates.append(certificate)
        }
    }
}

extension ReceiptDraft {
    /// Adds an attribute, even if the draft has an attribute with this number.
    fileprivate mutating func add(_ attribute: ReceiptAttribute, _ value: Value) {
        attributes.append(Attribute(type: UInt64(attribute.rawValue), value: value))
    }

    /// Changes the first purchase, which is created if missing.
    fileprivate mutating func changePurchase(_ change: (inout ReceiptDraft) -> Void) {
        if purchases.isEmpty { purchases = [ReceiptDraft()] }
        change(&purchases[0])
    }

    fileprivate mutating func changeBundleID(_ change: (String) -> String) {
        guard case .text(let text) = self[.bundleID] else { return }
        self[.bundleID] = .text(change(text))
    }
}
