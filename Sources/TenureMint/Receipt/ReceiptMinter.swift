package import Foundation
package import TenureAppStore
import TenureCore

/// Creates app receipts like those of the App Store, or of Xcode in the environment Xcode, signed with the keys of a
/// test authority.
package struct ReceiptMinter: Sendable {
    package let authority: TestAuthority
    package let app: MintedApp
    /// The creation date of the receipts, at which they are signed.
    package let signingDate: Date

    package init(authority: TestAuthority, app: MintedApp = MintedApp(), signedAt signingDate: Date) {
        self.authority = authority
        self.app = app
        self.signingDate = signingDate
    }

    /// The format of receipts in the environment.
    package var style: ReceiptStyle {
        app.environment == .xcode ? ReceiptStyle(form: .ber, namesDigestInSignature: true) : ReceiptStyle()
    }

    /// Creates a valid receipt from the default attributes with changes.
    package func mint(_ change: (inout ReceiptDraft) throws -> Void = { _ in }) throws -> [UInt8] {
        var draft = defaultReceipt
        try change(&draft)
        return try mint(draft)
    }

    /// Creates a receipt with any attributes and a valid signature.
    package func mint(_ draft: ReceiptDraft, style: ReceiptStyle? = nil) throws -> [UInt8] {
        try assembly(draft, style: style).bytes()
    }

    /// Creates a receipt with a defect.
    package func mint(with defect: ReceiptDefect) throws -> [UInt8] {
        var draft = defaultReceipt
        defect.corrupt(&draft, at: signingDate)
        var assembly = try self.assembly(draft)
        try defect.corrupt(&assembly, draft: draft, by: self)
        return try assembly.bytes()
    }

    /// Creates a receipt with a defect in its chain of certificates, and the anchors (trusted roots) with which to
    /// verify it.
    package func mint(with defect: ChainDefect) throws -> (receipt: [UInt8], anchors: TrustAnchors) {
        let chain = try authority.chain(for: .receipt, defect: defect, signedAt: signingDate)
        let assembly = try ReceiptAssembly(
            content: defaultReceipt.encoded(sorted: true), chain: chain.issued, style: style)
        // A chain under another root of the same name must be rejected by verifiers that trust the authority's root. An
        // expired root must be trusted, so that only its expiration is wrong.
        let root = defect == .namesakeRoot ? authority.receipts.root : chain.root
        return (try assembly.bytes(), try TrustAnchors(der: [root.der]))
    }

    /// Prepares a receipt with the authority's valid chain, or with Xcode's certificate.
    func assembly(_ draft: ReceiptDraft, style: ReceiptStyle? = nil) throws -> ReceiptAssembly {
        let style = style ?? self.style
        return try ReceiptAssembly(
            content: draft.encoded(sorted: style.form == .der),
            chain: app.environment == .xcode ? [authority.xcodeReceipts] : authority.receipts.issued, style: style)
    }

    /// The attributes of the default receipt of a test customer, who bought the app as build 37 on iOS in 2014, and the
    /// product `everything` in 2015. In Sandbox and Xcode, the attributes have the fixed values of these environments.
    package var defaultReceipt: ReceiptDraft {
        switch app.environment {
        case .production: production
        case .sandbox: sandbox
        case .xcode: xcode
        }
    }

    private var production: ReceiptDraft {
        var draft = ReceiptDraft()
        draft.add([
            .receiptType: .text(ReceiptType.production.rawValue),
            .appAppleID: .number(UInt64(clamping: app.appAppleID)), .bundleID: .text(app.bundleID),
            .appVersion: .text("310"), .opaqueValue: .octets([UInt8](0xA0...0xAF)),
            .unknown6: .octets([UInt8](repeating: 0x66, count: 62)),
            .unknown7: .octets([UInt8](repeating: 0x77, count: 58)), .downloadDate: .date(signingDate),
            .fulfillmentToolVersion: .number(1_345_531_957), .ageRating: .text("4+"),
            .developerID: .number(304_050_607), .creationDate: .date(signingDate), .osVersion: .number(180_602),
            .receiptServiceBuild: .number(378), .downloadID: .number(500_000_000_000_037),
            .versionExternalIdentifier: .number(861_000_310), .originalPurchaseDate: .date(MintedApp.purchaseDate),
            .originalAppVersion: .text("37"), .unknown20: .text(""), .platformCode: .number(3),
        ])
        var everything = purchase(
            "\(app.bundleID).everything", transactionID: "410000000000001", at: MintedApp.everythingDate)
        everything[.productType] = .number(0)
        draft.purchases = [everything]
        draft.deviceIdentifier = deviceIdentifier
        return draft
    }

    private var sandbox: ReceiptDraft {
        var draft = production
        // The original purchase date is 2013-08-01T07:00:00Z.
        draft.add([
            .receiptType: .text(ReceiptType.productionSandbox.rawValue), .appAppleID: .number(0),
            .developerID: .number(0), .downloadID: .number(0), .versionExternalIdentifier: .number(0),
            .downloadDate: .text(""), .originalPurchaseDate: .date(Date(timeIntervalSince1970: 1_375_340_400)),
            .originalAppVersion: .text("1.0"),
        ])
        return draft
    }

    private var xcode: ReceiptDraft {
        var draft = ReceiptDraft()
        draft.add([
            .receiptType: .text(ReceiptType.xcode.rawValue), .appAppleID: .number(0), .bundleID: .text(app.bundleID),
            .appVersion: .text("1"), .opaqueValue: .octets([UInt8](0xA0...0xA7)), .downloadDate: .text(""),
            .creationDate: .date(signingDate), .expirationDate: .text("4001-01-01T00:00:00+0000"),
        ])
        var purchase = ReceiptDraft()
        purchase.add([
            .quantity: .number(1), .productID: .text("\(app.bundleID).everything"), .transactionID: .text("0"),
            .purchaseDate: .date(MintedApp.everythingDate), .expiresDate: .text(""),
            .isInIntroOfferPeriod: .flag(false),
        ])
        draft.purchases = [purchase]
        draft.deviceIdentifier = deviceIdentifier
        return draft
    }

    /// Returns a purchase with all attributes that Apple's receipts have, except the product type.
    func purchase(_ productID: String, transactionID: String, at date: Date) -> ReceiptDraft {
        var purchase = ReceiptDraft()
        purchase.add([
            .quantity: .number(1), .productID: .text(productID), .transactionID: .text(transactionID),
            .purchaseDate: .date(date), .originalTransactionID: .text(transactionID),
            .originalTransactionPurchaseDate: .date(date), .expiresDate: .text(""), .unknown1709: .text(""),
            .productAppleID: .number(1_010_101_010), .webOrderLineItemID: .number(0), .cancellationDate: .text(""),
            .isTrialPeriod: .flag(false), .unknown1714: .text(""), .unknown1715: .text(""), .unknown1716: .text(""),
            .unknown1717: .text(""), .unknown1718: .text(""), .isInIntroOfferPeriod: .flag(false),
        ])
        return purchase
    }

    /// Returns a period of a yearly subscription, for receipts with many purchases. The periods with numbers from 0 on
    /// belong to one subscription.
    package func subscriptionPeriod(_ number: Int, from start: Date, length: TimeInterval) -> ReceiptDraft {
        let first = 410_000_000_000_100
        var purchase = self.purchase("\(app.bundleID).yearly", transactionID: String(first + number), at: start)
        purchase.add([
            .originalTransactionID: .text(String(first)), .productType: .number(3),
            .expiresDate: .date(start.addingTimeInterval(length)),
            .webOrderLineItemID: .number(UInt64(clamping: 410_000_000_000_900 + number)),
        ])
        return purchase
    }

    /// The bytes of the test device's `identifierForVendor`.
    package var deviceIdentifier: [UInt8] { withUnsafeBytes(of: app.deviceVerificationID.uuid) { Array($0) } }
}
