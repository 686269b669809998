package import Foundation
import TenureAppStore
import TenureCore

extension ReceiptMinter {
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
        draft[.receiptType] = .text(ReceiptType.production.rawValue)
        draft[.appAppleID] = .number(UInt64(clamping: app.appAppleID))
        draft[.bundleID] = .text(app.bundleID)
        draft[.appVersion] = .text("310")
        draft[.opaqueValue] = .octets(Array(0xA0...0xAF))
        draft[.unknown6] = .octets(Array(repeating: 0x66, count: 62))
        draft[.unknown7] = .octets(Array(repeating: 0x77, count: 58))
        draft[.downloadDate] = .date(signingDate)
        draft[.fulfillmentToolVersion] = .number(1_345_531_957)
        draft[.ageRating] = .text("4+")
        draft[.developerID] = .number(304_050_607)
        draft[.creationDate] = .date(signingDate)
        draft[.osVersion] = .number(180_602)
        draft[.receiptServiceBuild] = .number(378)
        draft[.downloadID] = .number(500_000_000_000_037)
        draft[.versionExternalIdentifier] = .number(861_000_310)
        draft[.originalPurchaseDate] = .date(Self.appPurchase)
        draft[.originalAppVersion] = .text("37")
        draft[.unknown20] = .text("")
        draft[.platformCode] = .number(3)
        draft.purchases = [nonConsumable]
        draft.deviceIdentifier = deviceIdentifier
        return draft
    }

    private var sandbox: ReceiptDraft {
        var draft = production
        draft[.receiptType] = .text(ReceiptType.productionSandbox.rawValue)
        for id in [ReceiptAttribute.appAppleID, .developerID, .downloadID, .versionExternalIdentifier] {
            draft[id] = .number(0)
        }
        draft[.downloadDate] = .text("")
        draft[.originalPurchaseDate] = .date(Date(timeIntervalSince1970: 1_375_340_400))
        draft[.originalAppVersion] = .text("1.0")
        return draft
    }

    private var xcode: ReceiptDraft {
        var draft = ReceiptDraft()
        draft[.receiptType] = .text(ReceiptType.xcode.rawValue)
        draft[.appAppleID] = .number(0)
        draft[.bundleID] = .text(app.bundleID)
        draft[.appVersion] = .text("1")
        draft[.opaqueValue] = .octets(Array(0xA0...0xA7))
        draft[.downloadDate] = .text("")
        draft[.creationDate] = .date(signingDate)
        draft[.expirationDate] = .text("4001-01-01T00:00:00+0000")
        var purchase = ReceiptDraft()
        purchase[.quantity] = .number(1)
        purchase[.productID] = .text("\(app.bundleID).everything")
        purchase[.transactionID] = .text("0")
        purchase[.purchaseDate] = .date(Self.everythingPurchase)
        purchase[.expiresDate] = .text("")
        purchase[.isInIntroOfferPeriod] = .flag(false)
        draft.purchases = [purchase]
        draft.deviceIdentifier = deviceIdentifier
        return draft
    }

    /// The purchase of `everything`.
    private var nonConsumable: ReceiptDraft {
        var purchase = self.purchase(
            "\(app.bundleID).everything", transactionID: "410000000000001", at: Self.everythingPurchase)
        purchase[.productType] = .number(0)
        return purchase
    }

    /// Returns a purchase with all attributes that Apple's receipts have, except the product type.
    func purchase(_ productID: String, transactionID: String, at date: Date) -> ReceiptDraft {
        var purchase = ReceiptDraft()
        purchase[.quantity] = .number(1)
        purchase[.productID] = .text(productID)
        purchase[.transactionID] = .text(transactionID)
        purchase[.purchaseDate] = .date(date)
        purchase[.originalTransactionID] = .text(transactionID)
        purchase[.originalTransactionPurchaseDate] = .date(date)
        purchase[.expiresDate] = .text("")
        purchase[.unknown1709] = .text("")
        purchase[.productAppleID] = .number(1_010_101_010)
        purchase[.webOrderLineItemID] = .number(0)
        purchase[.cancellationDate] = .text("")
        purchase[.isTrialPeriod] = .flag(false)
        for unknown in [ReceiptAttribute.unknown1714, .unknown1715, .unknown1716, .unknown1717, .unknown1718] {
            purchase[unknown] = .text("")
        }
        purchase[.isInIntroOfferPeriod] = .flag(false)
        return purchase
    }

    /// Returns a period of a yearly subscription, for receipts with many purchases. The periods with the numbers 0, 1, …
    /// belong to one subscription.
    package func subscriptionPeriod(_ number: Int, from start: Date, length: TimeInterval) -> ReceiptDraft {
        let first = 410_000_000_000_100
        var purchase = self.purchase("\(app.bundleID).yearly", transactionID: String(first + number), at: start)
        purchase[.originalTransactionID] = .text(String(first))
        purchase[.productType] = .number(3)
        purchase[.expiresDate] = .date(start.addingTimeInterval(length))
        purchase[.webOrderLineItemID] = .number(UInt64(clamping: 410_000_000_000_900 + number))
        return purchase
    }

    /// The bytes of the test device's `identifierForVendor`.
    package var deviceIdentifier: [UInt8] { withUnsafeBytes(of: app.deviceVerificationID.uuid) { Array($0) } }

    /// When the test customer bought the app: 2014-09-06T10:00:00Z.
    private static let appPurchase = Date(timeIntervalSince1970: 1_409_997_600)
    /// When the test customer bought the product: 2015-07-01T10:00:00Z.
    private static let everythingPurchase = Date(timeIntervalSince1970: 1_435_744_800)
}
