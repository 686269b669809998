import Crypto
import ExpectedRejections
import Foundation
import TenureCore
import Testing

@testable import TenureAppStore
@testable import TenureMint

struct ReceiptVerificationTests {
    @Test func `a valid receipt is verified, and all of its fields are read`() throws {
        let minter = try ReceiptTestBed.minter()
        let receipt = try ReceiptTestBed.verifier().verifyReceipt(minter.mint(), now: ReceiptTestBed.instant)
        #expect(receipt.status == .verified)
        #expect(receipt.environment == .production)
        #expect(receipt.signedDate == ReceiptTestBed.instant)
        #expect(receipt.certificates.count == 3)
        let payload = receipt.payload
        #expect(payload.type == .production)
        #expect(payload.bundleID == "com.example.calculator")
        #expect(payload.appAppleID == 828_838_134)
        #expect(payload.appVersion == "310")
        #expect(payload.originalAppVersion == "37")
        #expect(payload.creationDate == ReceiptTestBed.instant)
        #expect(payload.originalPurchaseDate == Date(timeIntervalSince1970: 1_409_997_600))
        #expect(payload.downloadID == 500_000_000_000_037)
        #expect(payload.versionExternalIdentifier == 861_000_310)
        #expect(payload.preorderDate == nil)
        #expect(payload.expirationDate == nil)
        let purchase = try #require(payload.inAppPurchases.first)
        #expect(payload.inAppPurchases.count == 1)
        #expect(purchase.productID == "com.example.calculator.everything")
        #expect(purchase.transactionID == "410000000000001")
        #expect(purchase.originalTransactionID == "410000000000001")
        #expect(purchase.quantity == 1)
        #expect(purchase.productType == 0)
        #expect(purchase.expiresDate == nil)
        #expect(purchase.cancellationDate == nil)
        #expect(purchase.isTrialPeriod == false)
    }

    @Test(arguments: ReceiptDefect.allCases)
    func `a receipt with a defect is rejected with the defect's code, and harmless deviations are accepted`(
        _ defect: ReceiptDefect
    ) throws {
        let receipt = try ReceiptTestBed.minter().mint(with: defect)
        let rejection = try ReceiptTestBed.rejection(of: receipt)
        #expect(rejection?.code == defect.rejection, "\(String(describing: rejection))")
    }

    @Test(arguments: ChainDefect.allCases)
    func `a defect in a receipt's chain is rejected with its code, and a leaf that expired after signing is accepted`(
        _ defect: ChainDefect
    ) throws {
        let minted = try ReceiptTestBed.minter().mint(with: defect)
        let verifier = try ReceiptTestBed.verifier(trusting: minted.anchors)
        let rejection = try ReceiptTestBed.rejection(of: minted.receipt, by: verifier)
        #expect(rejection?.code == defect.rejection, "\(String(describing: rejection))")
    }

    @Test(arguments: [ReceiptStyle.Form.der, .ber], [ReceiptStyle.Digest.sha1, .sha256])
    func `receipts with SHA-1 or SHA-256, and with or without signed attributes, are verified`(
        _ form: ReceiptStyle.Form, _ digest: ReceiptStyle.Digest
    ) throws {
        let minter = try ReceiptTestBed.minter()
        for hasAttributes in [false, true] {
            for namesDigest in [false, true] {
                let style = ReceiptStyle(
                    form: form, digest: digest, hasSignedAttributes: hasAttributes, namesDigestInSignature: namesDigest)
                let receipt = try minter.mint(minter.defaultReceipt, style: style)
                #expect(try ReceiptTestBed.rejection(of: receipt) == nil)
            }
        }
    }

    @Test func `a receipt is refused if two certificates have the signer's issuer and serial number`() throws {
        let minter = try ReceiptTestBed.minter()
        for place in [0, 3] {
            var assembly = try minter.assembly(minter.defaultReceipt)
            var namesake = assembly.certificates[0]
            namesake[namesake.count - 1] ^= 1
            assembly.certificates.insert(namesake, at: place)
            #expect(try ReceiptTestBed.rejection(of: try assembly.bytes())?.code == .malformed)
        }
    }

    @Test
    func `a receipt is rejected as tooManyUnknownSigners, not as untrusted, if the limit of chain checks is used up`()
        throws
    {
        let minter = try ReceiptTestBed.minter()
        var assembly = try minter.assembly(minter.defaultReceipt)
        var invented = assembly.certificates[1]
        invented[invented.count - 1] ^= 1
        assembly.certificates.insert(invented, at: 1)
        let receipt = try assembly.bytes()
        let trust = try ReceiptTestBed.verifier().trust
        for (checks, code) in [(1.0, Rejection.Code.tooManyUnknownSigners), (2, nil)] {
            let cache = ChainCache(trust: trust, budget: .init(burst: checks, perSecond: 0))
            let verifier = AppStoreVerifier(app: AppIdentity(bundleID: "com.example.calculator"), cache: cache)
            #expect(try ReceiptTestBed.rejection(of: receipt, by: verifier)?.code == code)
        }
    }

    @Test func `a receipt with SHA-1 in all its certificates is verified`() throws {
        let minter = try ReceiptTestBed.minter()
        let chain = try minter.authority.receiptChainWithSHA1()
        let receipt = try ReceiptAssembly(
            content: minter.defaultReceipt.encoded(sorted: true), chain: chain.issued,
            style: ReceiptStyle(digest: .sha1)
        ).bytes()
        let verifier = try ReceiptTestBed.verifier(trusting: TrustAnchors(der: [chain.root.der]))
        #expect(try ReceiptTestBed.rejection(of: receipt, by: verifier) == nil)
    }

    @Test func `all encodings of one receipt have the same digest`() throws {
        let minter = try ReceiptTestBed.minter()
        let verifier = try ReceiptTestBed.verifier()
        let plain = try minter.mint()
        let respelled: [ReceiptDefect] = [.chunkedContent, .rootFirst, .noNullParameters, .garbageRoot]
        let spellings = try [plain] + respelled.map { try minter.mint(with: $0) }
        #expect(Set(spellings).count == spellings.count)
        let digests = try spellings.map {
            try verifier.verifyReceipt($0, now: ReceiptTestBed.instant).signedContentDigest
        }
        #expect(Set(digests).count == 1)
        #expect(digests.first == Array(SHA256.hash(data: try #require(UnverifiedReceipt.content(of: plain)))))
        let other = try minter.mint { try $0.set("original_application_version", to: "38") }
        let digest = try verifier.verifyReceipt(other, now: ReceiptTestBed.instant).signedContentDigest
        #expect(!digests.contains(digest))
    }

    @Test func `a receipt signed under another root is untrusted`() throws {
        let receipt = try ReceiptTestBed.minter().mint()
        let verifier = AppStoreVerifier(app: AppIdentity(), trust: .appStore)
        #expect(try ReceiptTestBed.rejection(of: receipt, by: verifier)?.code == .untrustedChain)
    }

    @Test func `if no app is configured, receipts of any app are verified`() throws {
        let receipt = try ReceiptTestBed.minter().mint(with: .wrongBundle)
        #expect(try ReceiptTestBed.rejection(of: receipt, by: ReceiptTestBed.verifier(bundleID: nil)) == nil)
    }

    @Test(arguments: [
        ("Production", AppStoreEnvironment.production), ("ProductionVPP", .production), ("ProductionSandbox", .sandbox),
        ("ProductionVPPSandbox", .sandbox), ("Sandbox", .sandbox),
    ])
    func `each receipt type is accepted only in its own environment`(_ type: String, _ own: AppStoreEnvironment) throws
    {
        let receipt = try ReceiptTestBed.minter().mint { try $0.set("receipt_type", to: type) }
        for environment in [AppStoreEnvironment.production, .sandbox] {
            let rejection = try ReceiptTestBed.rejection(of: receipt, by: ReceiptTestBed.verifier([environment]))
            #expect(rejection?.code == (environment == own ? nil : .wrongEnvironment), "\(type) in \(environment)")
        }
        let verified = try ReceiptTestBed.verifier([.production, .sandbox]).verifyReceipt(
            receipt, now: ReceiptTestBed.instant)
        #expect(verified.environment == own)
    }

    @Test func `receipts signed by Xcode are accepted only if Xcode's certificate is configured, and marked local`()
        throws
    {
        let receipt = try ReceiptTestBed.minter(.xcode).mint()
        let verified = try ReceiptTestBed.verifier([.xcode]).verifyReceipt(receipt, now: ReceiptTestBed.instant)
        #expect(verified.status == .local)
        #expect(verified.environment == .xcode)
        #expect(verified.proof.originalAppVersion == nil)
        #expect(verified.proof.expirationDate == nil)
        let code = try ReceiptTestBed.rejection(of: receipt, by: ReceiptTestBed.verifier([.production, .sandbox]))?.code
        #expect(code == .untrustedChain)
    }

    @Test func `Xcode's certificate is accepted only for receipts of Xcode's environment`() throws {
        let receipt = try ReceiptTestBed.minter(.xcode).mint { try $0.set("receipt_type", to: "Production") }
        let verifier = try ReceiptTestBed.verifier([.production, .xcode])
        #expect(try ReceiptTestBed.rejection(of: receipt, by: verifier)?.code == .wrongEnvironment)
    }

    @Test func `a receipt is verified as of its creation date, or as of now if this date is missing`() throws {
        let verifier = try ReceiptTestBed.verifier()
        let afterTheChain = Date(timeIntervalSince1970: 2_600_000_000)
        for defect in [ReceiptDefect.noCreationDate, .unreadableCreationDate] {
            let undated = try ReceiptTestBed.minter().mint(with: defect)
            #expect(try ReceiptTestBed.rejection(of: undated, by: verifier, now: nil)?.code == .malformed)
            let later = try ReceiptTestBed.rejection(of: undated, by: verifier, now: afterTheChain)
            #expect(later?.code == .outsideValidityPeriod)
        }
        let dated = try ReceiptTestBed.minter().mint()
        #expect(try ReceiptTestBed.rejection(of: dated, by: verifier, now: afterTheChain) == nil)
        #expect(try ReceiptTestBed.rejection(of: dated, by: verifier, now: nil) == nil)
    }

    @Test func `a receipt matches only the device identifier that is in its hash`() throws {
        for environment in AppStoreEnvironment.allCases {
            let minter = try ReceiptTestBed.minter(environment)
            let payload = try UnverifiedReceipt(minter.mint()).payload
            #expect(payload.matches(deviceIdentifier: minter.deviceIdentifier))
            #expect(!payload.matches(deviceIdentifier: [1] + minter.deviceIdentifier))
            #expect(!payload.matches(deviceIdentifier: []))
        }
        var draft = try ReceiptTestBed.minter().defaultReceipt
        draft.deviceIdentifier = nil
        let payload = try UnverifiedReceipt(ReceiptTestBed.minter().mint(draft)).payload
        #expect(!payload.matches(deviceIdentifier: try ReceiptTestBed.minter().deviceIdentifier))
    }

    @Test func `the purchases of a large receipt are read in their order`() throws {
        let minter = try ReceiptTestBed.minter()
        var draft = minter.defaultReceipt
        draft.purchases = (0..<400).map {
            minter.subscriptionPeriod(
                $0, from: ReceiptTestBed.instant.addingTimeInterval(Double($0) * 3600), length: 3600)
        }
        let receipt = try minter.mint(draft, style: ReceiptStyle(form: .ber))
        let verified = try ReceiptTestBed.verifier().verifyReceipt(receipt, now: ReceiptTestBed.instant)
        #expect(verified.purchases.map(\.transactionID) == (0..<400).map { String(410_000_000_000_100 + $0) })
        #expect(Set(verified.purchases.map(\.originalTransactionID)) == ["410000000000100"])
        #expect(verified.purchases.allSatisfy { $0.type == .autoRenewable && $0.expiresDate != nil })
    }

    @Test func `the fields of a refused receipt can still be shown`() throws {
        let receipt = try ReceiptTestBed.minter().mint(with: .foreignSigner)
        let shown = try UnverifiedReceipt(receipt)
        #expect(shown.payload.originalAppVersion == "37")
        #expect(shown.certificates.count == 3)
        #expect(shown.certificates.first?.subject.contains("Receipt Signing") == true)
    }

    @Test func `a receipt with unsigned parameters of its digest algorithm is refused`() throws {
        var receipt = try ReceiptTestBed.minter().mint()
        // The signed data begins with a version and the set of digest algorithms: SHA-256 with empty parameters.
        try #require(Array(receipt[23..<32]) == [0x02, 0x01, 0x01, 0x31, 0x0F, 0x30, 0x0D, 0x06, 0x09])
        try #require(Array(receipt[41..<43]) == [0x05, 0x00])
        #expect(try ReceiptTestBed.rejection(of: receipt) == nil)
        receipt.insert(0, at: 43)
        // The lengths of the parameters and of all that contain them.
        for index in [42, 29, 27, 22, 18, 3] {
            receipt[index] &+= 1
            try #require(receipt[index] != 0)
        }
        #expect(try ReceiptTestBed.rejection(of: receipt)?.code == .malformed)
    }
}
