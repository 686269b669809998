import Foundation
import TenureAppStore
import TenureCore
import TenureJSON

/// The facts about the customer of one line of a `Corpus`. They depend only on the seed and the number of the line.
struct CorpusCustomer {
    let kind: CorpusKind
    /// The number of the customer's first line.
    let number: Int
    /// The original version: a build, or on the Mac a version. Malformed or empty for some kinds.
    let build: String
    /// When the customer got the app, in whole seconds, as in receipts.
    let date: Date
    /// The seed of the customer's device verifications.
    private let deviceSeed: UInt64

    var appTransactionID: String { String(704_000_000_000_000_000 + number) }
    var downloadID: UInt64 { UInt64(500_000_000_000_000 + number) }
    var transactionID: String { String(410_000_000_000_000 + number) }
    /// The `id` in lines of an export, which names the same user in several lines.
    var exportedID: String { "user-\(number)" }

    /// Chooses the date and the version within the limits of the kind.
    init(kind: CorpusKind, number: Int, seed: UInt64) {
        var random = SeededRandom(seed: seed, index: UInt64(number))
        func between(_ start: String, _ end: String) -> Date {
            let start = Self.date(start)
            let seconds = Int(Self.date(end).timeIntervalSince(start))
            return start.addingTimeInterval(Double(Int.random(in: 0..<max(1, seconds), using: &random)))
        }
        let early: Date = between("2013-07-01", "2014-06-08")
        let late: Date = between("2015-01-04", "2015-06-07")
        let after: Date = between("2015-06-16", "2015-08-15")
        func build(_ builds: ClosedRange<Int>) -> String { String(Int.random(in: builds, using: &random)) }
        func oneOf(_ versions: String...) -> String { versions.randomElement(using: &random) ?? versions[0] }
        let facts: (date: Date, build: String) =
            switch kind {
            case .recentBuyer, .televisionBuyer: (between("2014-06-12", "2014-12-22"), build(60...99))
            case .lateBuyer: (late, build(100...119))
            case .giveaway: (between("2014-12-25", "2014-12-31"), build(90...99))
            case .changeover: (between("2015-06-10T18:00:00Z", "2015-06-12T12:00:00Z"), "120")
            case .newcomer, .newcomerWithEverything, .subscriber, .preorder, .expiredSubscription, .gracePeriod,
                .billingRetry, .refundedPurchase, .consumable, .familyShared, .purchasesOnly, .renewalOnly:
                (after, build(121...140))
            case .macBuyer: (early, oneOf("1.0", "1.2", "1.9", "1.10"))
            case .macLateBuyer: (late, "1.10")
            case .macNewcomer: (after, oneOf("2.0", "2.1"))
            case .oldReceipt: (between("2012-03-01", "2013-06-01"), "")
            case .malformedVersion: (early, oneOf("2.0b", "v37", "1,2", "build 37"))
            case .versionAfterDate: (early, "130")
            case .versionBeforeDate: (after, "37")
            // Use builds from 2 on, so that all of them belong to the free era if they are read as versions of a Mac
            // app.
            default: (early, build(2...89))
            }
        self.kind = kind
        self.number = number
        date = facts.date
        self.build = facts.build
        deviceSeed = random.next()
    }

    /// Reads a date of this corpus.
    static func date(_ text: String) -> Date { Date(written: text) ?? .distantPast }

    // MARK: Payloads

    /// Returns the payload of the customer's app transaction.
    ///
    /// - Parameter number: the number of the customer's device.
    func appTransaction(signedAt instant: Date, device number: UInt64 = 0) -> JSONObject {
        var object: JSONObject = [
            "receiptType": .string("Production"), "appAppleId": .integer(828_838_134),
            "bundleId": .string("com.example.calculator"), "applicationVersion": .string("140"),
            "versionExternalIdentifier": .integer(861_000_140), "receiptCreationDate": .instant(instant),
        ]
        if kind != .noProof { object["originalPurchaseDate"] = .instant(date) }
        if kind != .noVersion, kind != .noProof { object["originalApplicationVersion"] = .string(build) }
        if kind != .signedForServer {
            object["deviceVerification"] = .string(verification(number))
            object["deviceVerificationNonce"] = .string(nonce(number))
        }
        object["appTransactionId"] = .string(appTransactionID)
        switch kind {
        case .noPlatform: break
        case .unknownPlatform: object["originalPlatform"] = .string("spectacleOS")
        case .televisionBuyer: object["originalPlatform"] = .string("tvOS")
        case .macBuyer, .macLateBuyer, .macNewcomer: object["originalPlatform"] = .string("macOS")
        default: object["originalPlatform"] = .string("iOS")
        }
        if kind == .preorder { object["preorderDate"] = .instant(Self.date("2015-05-01")) }
        return object
    }

    /// Returns the payload of a transaction of the customer. The members of `more` replace or extend the usual members.
    func transaction(
        of product: String, type: ProductType, purchased: Date, signedAt instant: Date, also more: JSONObject = [:]
    ) -> JSONObject {
        let object: JSONObject = [
            "transactionId": .string(transactionID), "originalTransactionId": .string(transactionID),
            "bundleId": .string("com.example.calculator"), "productId": .string("com.example.calculator.\(product)"),
            "purchaseDate": .instant(purchased), "originalPurchaseDate": .instant(purchased),
            "quantity": .integer(1), "type": .string(type.rawValue), "signedDate": .instant(instant),
            "environment": .string("Production"), "appTransactionId": .string(appTransactionID),
            "storefront": .string("USA"), "storefrontId": .string("143441"), "price": .integer(9990),
            "currency": .string("USD"), "inAppOwnershipType": .string("PURCHASED"),
        ]
        return object.setting(more)
    }

    /// Returns the payload of the renewal info of the customer's subscription. The members of `more` replace or extend
    /// the usual members.
    func renewalInfo(signedAt instant: Date, also more: JSONObject = [:]) -> JSONObject {
        let object: JSONObject = [
            "originalTransactionId": .string(transactionID),
            "autoRenewProductId": .string("com.example.calculator.yearly"),
            "productId": .string("com.example.calculator.yearly"), "autoRenewStatus": .integer(1),
            "signedDate": .instant(instant), "environment": .string("Production"),
            "appTransactionId": .string(appTransactionID),
        ]
        return object.setting(more)
    }

    /// Returns a device verification of 48 bytes, like Apple's. Its value is random, because rehearsals don't check it.
    private func verification(_ number: UInt64) -> String {
        var random = SeededRandom(seed: deviceSeed, index: number)
        let bytes = (0..<6).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } }
        return Base64.standard.text(bytes)
    }

    /// Returns the nonce of a device verification: a UUID that depends only on the seed, the customer and the device.
    private func nonce(_ number: UInt64) -> String {
        var random = SeededRandom(seed: deviceSeed, index: number | (1 << 62))
        var text: [UInt8] = []
        for (index, length) in [8, 4, 4, 4, 12].enumerated() {
            if index > 0 { text.append(UInt8(ascii: "-")) }
            for _ in 0..<length { text.append(HexDigit.lowercase(UInt8(random.next() & 15))) }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension JSONObject {
    /// Returns the object with these members in place of the members with the same names.
    func setting(_ members: JSONObject) -> JSONObject { members.members.reduce(into: self) { $0[$1.name] = $1.value } }

    /// The object as JSON text.
    var json: [UInt8] { JSONValue.object(self).bytes }
}
