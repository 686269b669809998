import Foundation
import TenureCore
import Testing

@testable import TenureAppStore
@testable import TenureMint

struct ReceiptDefectTextTests {
    /// The texts after "the receipt can't be read".
    private static let unreadable: [ReceiptDefect: String] = [
        .trailingByte: "bytes follow the receipt",
        .longLength: "a length has more than four bytes",
        .tagOfSeveralBytes: "it has a tag of several bytes",
        .deepNesting: "it is nested too deeply",
        .detached: "it has no content (a detached signature)",
        .extraSigner: "it has more than one signer",
        .noSigner: "it has no signer",
        .wrongSignedDataVersion: "the version of the signed data must be 1",
        .signerNotInBag: "it doesn't contain the signer's certificate",
        .noCertificates: "it doesn't contain the signer's certificate",
        .tooManyCertificates: "it has more than 10 certificates",
        .signerTwice: "it has a certificate twice",
        .rootTwice: "it has a certificate twice",
        .unsignedAttributes: "it has unsigned attributes, which the App Store never sends",
        .revocationLists: "it has revocation lists, which the App Store never sends",
        .extraDigestAlgorithm: "it lists other digest algorithms than the signer's",
        .signedAttributesWithoutDigest: "the signed attributes lack a digest",
        .signedAttributesWithoutContentType: "the signed attributes lack a content type",
        .trailingContentByte: "bytes follow the attributes",
        .attributeTypeOverflow: "the type of an attribute is negative, or larger than 32 bits",
        .negativeAttributeType: "the type of an attribute is negative, or larger than 32 bits",
        .attributeOfThreeValues: "an attribute has more than three parts: type, version and value",
    ]

    /// The other texts.
    private static let others: [ReceiptDefect: String] = [
        .noIntermediate: "the receipt doesn't contain the certificate that issued the signer's certificate",
        .digestMD5: "the receipt's digest is neither SHA-1 nor SHA-256",
        .digestSHA512: "the receipt's digest is neither SHA-1 nor SHA-256",
        .signatureECDSA: "the receipt's signature algorithm isn't RSA with the named digest",
        .mismatchedSignatureAlgorithm: "the receipt's signature algorithm isn't RSA with the named digest",
        .tamperedContent: "the signature doesn't match the content",
        .foreignSigner: "the signature doesn't match the content",
        .foreignSignedDigest: "the signature doesn't match the content",
        .wrongBundle: "the receipt belongs to the app `com.example.other`, not to `com.example.calculator`",
    ]

    @Test(arguments: unreadable.keys.sorted { $0.rawValue < $1.rawValue })
    func `the text for a receipt that can't be read names its defect`(defect: ReceiptDefect) throws {
        let rejection = try ReceiptTestBed.rejection(of: ReceiptTestBed.minter().mint(with: defect))
        #expect(rejection?.detail == Self.unreadable[defect].map { "the receipt can't be read: \($0)" })
    }

    @Test(arguments: others.keys.sorted { $0.rawValue < $1.rawValue })
    func `the text for a receipt with a wrong algorithm, signature or app names the defect`(defect: ReceiptDefect)
        throws
    {
        let rejection = try ReceiptTestBed.rejection(of: ReceiptTestBed.minter().mint(with: defect))
        #expect(rejection?.detail == Self.others[defect])
    }

    @Test func `a signed attribute of a receipt that must be there once can't be there twice`() throws {
        let minter = try ReceiptTestBed.minter()
        var assembly = try minter.assembly(minter.defaultReceipt)
        assembly.style.hasSignedAttributes = true
        let valid = assembly.validSignedAttributes
        #expect(try ReceiptTestBed.rejection(of: assembly.bytes()) == nil)
        assembly.signedAttributes = valid + [ReceiptAssembly.contentTypeAttribute]
        #expect(
            try ReceiptTestBed.rejection(of: assembly.bytes())?.detail
                == "the receipt can't be read: it has two signed content types")
        // The second digest is the right one, and the first isn't.
        for digest in [assembly.hash(assembly.content), assembly.hash([1])] {
            assembly.signedAttributes = valid + [ReceiptAssembly.messageDigestAttribute(digest)]
            #expect(
                try ReceiptTestBed.rejection(of: assembly.bytes())?.detail
                    == "the receipt can't be read: it has two signed digests")
        }
    }

    @Test func `a receipt with a namesake of the signer, or with a certificate that isn't in DER, is malformed`() throws
    {
        let minter = try ReceiptTestBed.minter()
        var assembly = try minter.assembly(minter.defaultReceipt)
        let certificates = assembly.certificates
        var namesake = certificates[0]
        namesake[namesake.count - 1] ^= 1
        assembly.certificates = certificates + [namesake]
        #expect(
            try ReceiptTestBed.rejection(of: assembly.bytes())?.detail
                == "the receipt can't be read: several certificates match the signer's issuer and serial number")
        for index in certificates.indices {
            // The length of each certificate has two octets.
            try #require(certificates[index][1] == 0x82)
            assembly.certificates = certificates
            assembly.certificates[index] = DERWriter.indefinite(0x30, Array(certificates[index].dropFirst(4)))
            #expect(
                try ReceiptTestBed.rejection(of: assembly.bytes())?.detail
                    == "the receipt can't be read: a certificate isn't in DER")
        }
    }

    @Test func `bytes after an in-app purchase, or after the value of an attribute, make a receipt malformed`() throws {
        let minter = try ReceiptTestBed.minter()
        var draft = minter.defaultReceipt
        let purchase = draft.purchases[0].encoded(sorted: true)
        for (octets, detail) in [
            (purchase, nil), (purchase + [0], "the receipt can't be read: bytes follow an in-app purchase"),
        ] as [([UInt8], String?)] {
            draft[.inAppPurchase] = .octets(octets)
            #expect(try ReceiptTestBed.rejection(of: minter.mint(draft))?.detail == detail)
        }
        draft = minter.defaultReceipt
        for (octets, detail) in [
            ([0x0C, 2, 0x33, 0x38], nil),
            (
                [0x0C, 2, 0x33, 0x38, 0],
                "the receipt can't be read: attribute 19, `original_application_version`, can't be read"
            ),
        ] as [([UInt8], String?)] {
            draft[.originalAppVersion] = .octets(octets)
            #expect(try ReceiptTestBed.rejection(of: minter.mint(draft))?.detail == detail)
        }
    }

    @Test(arguments: [(0x0C, "38"), (0x13, "38"), (0x16, "38"), (0x04, nil), (0x1E, nil)] as [(UInt8, String?)])
    func `a receipt's text may be of three ASN.1 types`(tag: UInt8, text: String?) throws {
        var draft = try ReceiptTestBed.minter().defaultReceipt
        draft[.originalAppVersion] = .octets([tag, 2, 0x33, 0x38])
        let payload = try? UnverifiedReceipt(ReceiptTestBed.minter().mint(draft)).payload
        #expect(payload?.originalAppVersion == text)
    }

    @Test
    func `a receipt's number has at most 64 bits, and the first of two values of an unimportant attribute counts`()
        throws
    {
        let minter = try ReceiptTestBed.minter()
        var draft = minter.defaultReceipt
        for (prefix, byte, number) in [([2, 9, 0], 0xFF, UInt64.max), ([2, 9, 1], 0, nil), ([2, 10, 0, 0], 1, nil)]
            as [([UInt8], UInt8, UInt64?)]
        {
            draft[.downloadID] = .octets(prefix + Array(repeating: byte, count: 8))
            #expect((try? UnverifiedReceipt(minter.mint(draft)))?.payload.downloadID == number)
        }
        draft = minter.defaultReceipt
        let type = UInt64(ReceiptAttribute.versionExternalIdentifier.rawValue)
        draft.attributes.append(.init(type: type, value: .number(5)))
        // BER keeps the order of the attributes.
        let receipt = try minter.mint(draft, style: ReceiptStyle(form: .ber))
        #expect(try UnverifiedReceipt(receipt).payload.versionExternalIdentifier == 861_000_310)
    }

    @Test func `each property of an in-app purchase is read from its own attribute`() throws {
        let receipt = try ReceiptTestBed.minter().mint { draft in
            for (name, text) in [
                ("quantity", "3"), ("product_type", "2"), ("web_order_line_item_id", "900"),
                ("original_transaction_id", "410000000000000"), ("purchase_date", "2015-07-01T10:00:01Z"),
                ("original_purchase_date", "2015-07-01T10:00:02Z"), ("expires_date", "2015-07-01T10:00:03Z"),
                ("cancellation_date", "2015-07-01T10:00:04Z"), ("is_trial_period", "true"),
                ("is_in_intro_offer_period", "false"), ("promotional_offer_id", "winter"),
            ] {
                try draft.set("in_app.0.\(name)", to: text)
            }
            for (name, text) in [
                ("product_id", "b"), ("transaction_id", "7"), ("is_trial_period", "false"),
                ("is_in_intro_offer_period", "true"),
            ] {
                try draft.set("in_app.1.\(name)", to: text)
            }
            // Neither true nor false.
            var purchase = draft.purchases[1]
            purchase[.transactionID] = .text("8")
            purchase[.isTrialPeriod] = .number(2)
            draft.purchases.append(purchase)
        }
        // Attributes of DER are sorted, so the order of the purchases may change.
        let purchases = try UnverifiedReceipt(receipt).payload.inAppPurchases
        func purchase(_ id: String) throws -> InAppPurchase {
            try #require(purchases.first { $0.transactionID == id })
        }
        #expect(purchases.count == 3)
        let first = try purchase("410000000000001")
        #expect(first.productID == "com.example.calculator.everything")
        #expect(first.originalTransactionID == "410000000000000")
        #expect(first.quantity == 3 && first.productType == 2 && first.webOrderLineItemID == 900)
        let dates = [first.purchaseDate, first.originalPurchaseDate, first.expiresDate, first.cancellationDate]
        // 2015-07-01T10:00:00Z
        #expect(dates.map { $0.map { $0.timeIntervalSince1970 - 1_435_744_800 } } == [1, 2, 3, 4])
        #expect(first.isTrialPeriod == true && first.isInIntroOfferPeriod == false)
        #expect(first.promotionalOfferID == "winter")
        let second = try purchase("7")
        #expect(second.productID == "b" && second.originalTransactionID == nil && second.quantity == nil)
        #expect(second.isTrialPeriod == false && second.isInIntroOfferPeriod == true)
        #expect(try purchase("8").isTrialPeriod == nil)
    }
}
