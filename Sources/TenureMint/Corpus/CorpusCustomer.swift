import Foundation
import TenureAppStore
import TenureCore
import TenureJSON

/// The facts about the customer of one line. They depend only on the seed and the number of the line.
struct CorpusCustomer {
    let kind: CorpusKind
    /// The number of the customer's first line.
    let number: Int
    /// The original version: a build, or on the Mac a version. Malformed or empty for some kinds.
    let build: String
    /// When the customer got the app, in whole seconds, as in receipts.
    let date: Date
    /// The seed of the customer's device verifications.
    private let device: UInt64

    var appTransactionID: String { String(704_000_000_000_000_000 + number) }
    var downloadID: UInt64 { UInt64(500_000_000_000_000 + number) }
    var transactionID: String { String(410_000_000_000_000 + number) }
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
        self.kind = kind
        self.number = number
        switch kind {
        case .recentBuyer, .televisionBuyer:
            date = between("2014-06-12", "2014-12-22")
            build = String(Int.random(in: 60...99, using: &random))
        case .lateBuyer:
            date = late
            build = String(Int.random(in: 100...119, using: &random))
        case .giveaway:
            date = between("2014-12-25", "2014-12-31")
            build = String(Int.random(in: 90...99, using: &random))
        case .changeover:
            date = between("2015-06-10T18:00:00Z", "2015-06-12T12:00:00Z")
            build = "120"
        case .newcomer, .newcomerWithEverything, .subscriber, .preorder, .expiredSubscription, .gracePeriod,
            .billingRetry, .refundedPurchase, .consumable, .familyShared, .purchasesOnly, .renewalOnly:
            date = after
            build = String(Int.random(in: 121...140, using: &random))
        case .macBuyer:
            date = early
            build = ["1.0", "1.2", "1.9", "1.10"].randomElement(using: &random) ?? "1.0"
        case .macLateBuyer:
            date = late
            build = "1.10"
        case .macNewcomer:
            date = after
            build = ["2.0", "2.1"].randomElement(using: &random) ?? "2.0"
        case .oldReceipt:
            date = between("2012-03-01", "2013-06-01")
            build = ""
        case .malformedVersion:
            date = early
            build = ["2.0b", "v37", "1,2", "build 37"].randomElement(using: &random) ?? "2.0b"
        case .versionAfterDate:
            date = early
            build = "130"
        case .versionBeforeDate:
            date = after
            build = "37"
        default:
            date = early
            // Use builds from 2 on. If they are read as versions of a Mac app, these belong to the free era, but 1
            // doesn't.
            build = String(Int.random(in: 2...89, using: &random))
        }
        device = random.next()
    }

    /// Reads a date of this corpus.
    static func date(_ text: String) -> Date { Date(written: text) ?? .distantPast }

    // MARK: Payloads

    /// The members of a JSON object, with values as JSON text.
    typealias Members = [(name: String, value: String)]

    /// Returns the payload of the customer's app transaction.
    ///
    /// - Parameter number: the number of the customer's device.
    func appTransaction(signedAt instant: Date, device number: UInt64 = 0) -> Members {
        var members: Members = [
            ("receiptType", text("Production")), ("appAppleId", "828838134"),
            ("bundleId", text("com.example.calculator")), ("applicationVersion", text("140")),
            ("versionExternalIdentifier", "861000140"), ("receiptCreationDate", Self.milliseconds(instant)),
        ]
        if kind != .noProof { members.append(("originalPurchaseDate", Self.milliseconds(date))) }
        if kind != .noVersion, kind != .noProof { members.append(("originalApplicationVersion", text(build))) }
        if kind != .serverVariant {
            members.append(("deviceVerification", text(verification(number))))
            members.append(("deviceVerificationNonce", text(nonce(number))))
        }
        members.append(("appTransactionId", text(appTransactionID)))
        switch kind {
        case .noPlatform: break
        case .unknownPlatform: members.append(("originalPlatform", text("spectacleOS")))
        case .televisionBuyer: members.append(("originalPlatform", text("tvOS")))
        case .macBuyer, .macLateBuyer, .macNewcomer: members.append(("originalPlatform", text("macOS")))
        default: members.append(("originalPlatform", text("iOS")))
        }
        if kind == .preorder { members.append(("preorderDate", Self.milliseconds(Self.date("2015-05-01")))) }
        return members
    }

    /// Returns the payload of a transaction of the customer, with additional members.
    func transaction(
        of product: String, type: ProductType, purchased: Date, signedAt instant: Date, also more: Members = []
    ) -> Members {
        [
            ("transactionId", text(transactionID)), ("originalTransactionId", text(transactionID)),
            ("bundleId", text("com.example.calculator")), ("productId", text("com.example.calculator.\(product)")),
            ("purchaseDate", Self.milliseconds(purchased)), ("originalPurchaseDate", Self.milliseconds(purchased)),
            ("quantity", "1"), ("type", text(type.rawValue)), ("signedDate", Self.milliseconds(instant)),
            ("environment", text("Production")), ("appTransactionId", text(appTransactionID)),
            ("storefront", text("USA")), ("storefrontId", text("143441")), ("price", "9990"),
            ("currency", text("USD")),
        ] + (more.contains { $0.name == "inAppOwnershipType" } ? [] : [("inAppOwnershipType", text("PURCHASED"))])
            + more
    }

    /// Returns the payload of the renewal info of the customer's subscription, with additional members.
    func renewalInfo(signedAt instant: Date, also more: Members = []) -> Members {
        [
            ("originalTransactionId", text(transactionID)),
            ("autoRenewProductId", text("com.example.calculator.yearly")),
            ("productId", text("com.example.calculator.yearly")), ("autoRenewStatus", "1"),
            ("signedDate", Self.milliseconds(instant)), ("environment", text("Production")),
            ("appTransactionId", text(appTransactionID)),
        ] + more
    }

    /// Returns a date as the App Store writes it: milliseconds since 1970.
    static func milliseconds(_ date: Date) -> String { String(Int64((date.timeIntervalSince1970 * 1000).rounded())) }

    /// Returns the text as a JSON string. It isn't escaped, because no text of a corpus needs that.
    func text(_ text: String) -> String { "\"\(text)\"" }

    /// Returns a device verification of 48 bytes, like Apple's. Its value is random, because rehearsals don't check it.
    private func verification(_ number: UInt64) -> String {
        var random = SeededRandom(seed: device, index: number)
        let bytes = (0..<6).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } }
        return String(decoding: Base64.standard.encode(bytes), as: UTF8.self)
    }

    /// Returns the nonce of a device verification: a UUID that depends only on the seed, the customer and the device.
    private func nonce(_ number: UInt64) -> String {
        var random = SeededRandom(seed: device, index: number | 1 << 62)
        var text: [UInt8] = []
        for (index, length) in [8, 4, 4, 4, 12].enumerated() {
            if index > 0 { text.append(UInt8(ascii: "-")) }
            for _ in 0..<length { text.append(HexDigit.lowercase(UInt8(random.next() & 15))) }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension [(name: String, value: String)] {
    /// The JSON object with these members.
    var json: [UInt8] {
        var bytes: [UInt8] = [UInt8(ascii: "{")]
        for (index, member) in enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += "\"\(member.name)\":\(member.value)".utf8
        }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    /// Returns the members with another value for one of them.
    func setting(_ name: String, to value: String) -> Self {
        map { $0.name == name ? (name, value) : $0 }
    }
}
