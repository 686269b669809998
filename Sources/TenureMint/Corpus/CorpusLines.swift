import Foundation
import TenureAppStore
import TenureCore
import TenureJSON

/// Writes the lines of a corpus (a file of invented customers; see `Corpus`): the lines of customers, and invalid
/// lines.
struct CorpusLines: Sendable {
    private let signers: CorpusSigners
    /// Signs the receipts of customers. The signers sign only JWS.
    private let authority: TestAuthority
    /// The signing date of most artifacts.
    private let instant: Date
    private let tamperedReceipt: [UInt8]
    private let sandboxReceipt: [UInt8]

    init(authority: TestAuthority, signedAt instant: Date) throws {
        self.authority = authority
        self.instant = instant
        signers = try CorpusSigners(authority, signedAt: instant)
        tamperedReceipt = try ReceiptMinter(authority: authority, signedAt: instant).mint(with: .tamperedContent)
        sandboxReceipt = try ReceiptMinter(
            authority: authority, app: MintedApp(environment: .sandbox), signedAt: instant
        ).mint()
    }

    /// Returns the first or only line of a customer, or an invalid line.
    func first(of customer: CorpusCustomer) throws -> [UInt8] {
        let app = customer.appTransaction(signedAt: instant)
        func receipt(until end: String? = nil) throws -> [UInt8] {
            try self.receipt(of: customer, signedAt: instant, licensedUntil: end)
        }
        switch customer.kind {
        case .newcomerWithEverything: return try line(app, everything(of: customer))
        case .familyShared:
            return try line(app, everything(of: customer, also: ["inAppOwnershipType": .string("FAMILY_SHARED")]))
        case .refundedPurchase:
            let refund: JSONObject = ["revocationDate": at("2015-08-20"), "revocationReason": .integer(0)]
            return try line(app, everything(of: customer, also: refund))
        case .consumable:
            return try line(
                app, customer.transaction(of: "coins", type: .consumable, purchased: customer.date, signedAt: instant))
        case .purchasesOnly: return try line(nil, everything(of: customer))
        case .subscriber: return try line(app, subscription(of: customer, until: "2016-07-01"))
        case .expiredSubscription: return try line(app, subscription(of: customer, until: "2015-08-20"))
        case .gracePeriod, .billingRetry:
            var failure = JSONObject()
            if customer.kind == .gracePeriod { failure["gracePeriodExpiresDate"] = at("2015-09-10") }
            failure["isInBillingRetryPeriod"] = .boolean(true)
            return try line(
                app, subscription(of: customer, until: "2015-08-25"),
                renewal: customer.renewalInfo(signedAt: instant, also: failure))
        case .renewalOnly: return try signed(customer.renewalInfo(signedAt: instant))
        case .refundedApp, .boughtAgain:
            let app = customer.appTransaction(signedAt: CorpusCustomer.date("2014-07-02"))
            return try signed(app.setting(["revocationDate": at("2014-07-01")]))
        case .receipt: return try receipt()
        case .oldReceipt: return try self.receipt(of: customer, signedAt: CorpusCustomer.date("2013-06-10"))
        case .licenseEnded: return try receipt(until: "2015-08-01")
        case .license: return try receipt(until: "2017-01-01")
        case .linkedReceipt: return try line(["appTransaction": [signed(app)]], receipt: receipt())
        case .sameUser: return try line([:], receipt: receipt(), id: customer.exportedID)
        case .quotedLine: return Array("\"".utf8) + (try signed(app)) + Array("\"".utf8)
        case .blanksAround: return Array(" \t".utf8) + (try signed(app)) + Array("  \r".utf8)
        case .partlyBad:
            let transaction = try signed(everything(of: customer))
            return try line(["appTransaction": [signed(app)], "transactions": [Self.flipped(transaction)]])
        default: return try invalidLine(of: customer) ?? signed(app)
        }
    }

    /// Returns the second line of a customer who has two lines.
    func second(of customer: CorpusCustomer) throws -> [UInt8] {
        switch customer.kind {
        case .linkedReceipt, .sameUser:
            let earlier = try receipt(of: customer, signedAt: CorpusCustomer.date("2015-07-10"))
            return customer.kind == .linkedReceipt ? earlier : try line([:], receipt: earlier, id: customer.exportedID)
        case .boughtAgain: return try signed(customer.appTransaction(signedAt: CorpusCustomer.date("2014-09-01")))
        default: return try signed(customer.appTransaction(signedAt: instant.addingTimeInterval(-86_400), device: 1))
        }
    }

    /// Returns the line of an invalid kind; nil for the other kinds.
    private func invalidLine(of customer: CorpusCustomer) throws -> [UInt8]? {
        let app = customer.appTransaction(signedAt: instant)
        switch customer.kind {
        case .emptyLine: return customer.number.isMultiple(of: 2) ? [] : Array(" \t\r".utf8)
        case .brokenJSON: return Array("{\"appTransaction\":\"eyJ".utf8)
        case .notUTF8: return Array("{\"id\":\"".utf8) + [0xC3, 0x28, 0xFF] + Array("\"}".utf8)
        case .nothingSigned: return try line(["transactions": []], id: customer.exportedID)
        case .wrongShape: return Array("{\"appTransaction\":[1,2,3]}".utf8)
        case .severalAccounts:
            let other: JSONObject = ["appTransactionId": .string("1\(customer.appTransactionID)")]
            return try line(app, everything(of: customer).setting(other))
        case .hugeLine: return Array(repeating: UInt8(ascii: "A"), count: 9 << 20)
        case .oversized: return try signed(app.setting(["filler": .string(String(repeating: "x", count: 300_000))]))
        case .garbage: return Array("what is this doing here".utf8)
        case .otherApp: return try signed(app.setting(["bundleId": .string("com.example.other")]))
        case .otherAppleID: return try signed(app.setting(["appAppleId": .integer(828_838_135)]))
        case .sandbox: return try signed(app.setting(["receiptType": .string("Sandbox")]))
        case .sandboxReceipt: return Base64.standard.encode(sandboxReceipt)
        case .xcode: return try signers.xcode.sign(app.setting(["receiptType": .string("Xcode")]).json)
        case .expiredChain: return try signers.expired.sign(app.json)
        case .foreignRoot: return try signers.foreign.sign(app.json)
        case .badSignature: return Self.flipped(try signed(app))
        case .tampered: return try tampered(app)
        case .unsigned: return try signers.claimsNoAlgorithm.sign(app.json)
        case .tamperedReceipt: return Base64.standard.encode(tamperedReceipt)
        case .futureSigning: return try signed(customer.appTransaction(signedAt: CorpusCustomer.date("2045-01-01")))
        default: return nil
        }
    }

    // MARK: Parts

    /// Returns the JWS of a payload with a valid signature.
    private func signed(_ payload: JSONObject) throws -> [UInt8] { try signers.valid.sign(payload.json) }

    /// Returns a date as the App Store writes it.
    private func at(_ text: String) -> JSONValue { .instant(CorpusCustomer.date(text)) }

    /// Returns the payload of a purchase of the product `everything`.
    private func everything(of customer: CorpusCustomer, also more: JSONObject = [:]) -> JSONObject {
        customer.transaction(
            of: "everything", type: .nonConsumable, purchased: customer.date, signedAt: instant, also: more)
    }

    /// Returns the payload of a subscription to the product `yearly`.
    private func subscription(of customer: CorpusCustomer, until end: String) -> JSONObject {
        customer.transaction(
            of: "yearly", type: .autoRenewable, purchased: customer.date, signedAt: instant,
            also: ["expiresDate": at(end), "subscriptionGroupIdentifier": .string("20828838")])
    }

    /// Returns a line with a signed transaction and, unless they are nil, an app transaction and renewal info.
    private func line(_ app: JSONObject?, _ transaction: JSONObject, renewal: JSONObject? = nil) throws -> [UInt8] {
        var artifacts = ["transactions": [try signed(transaction)]]
        if let app { artifacts["appTransaction"] = [try signed(app)] }
        if let renewal { artifacts["renewalInfos"] = [try signed(renewal)] }
        return try line(artifacts)
    }

    /// Returns a line that is a JSON object with signed artifacts.
    ///
    /// - Parameters:
    ///   - artifacts: JWS by the name of the member: `appTransaction`, `transactions` or `renewalInfos`.
    ///   - receipt: a receipt in Base64.
    ///   - id: the user's ID in the exporting system.
    private func line(_ artifacts: [String: [[UInt8]]], receipt: [UInt8]? = nil, id: String? = nil) throws -> [UInt8] {
        var object = JSONObject()
        object["id"] = id.map { .string($0) }
        for (name, texts) in artifacts.sorted(by: { $0.key < $1.key }) {
            let values = texts.map { JSONValue.string(String(decoding: $0, as: UTF8.self)) }
            object[name] = name == "appTransaction" ? values.first : .array(values)
        }
        object["receipt"] = receipt.map { .string(String(decoding: $0, as: UTF8.self)) }
        return object.json
    }

    /// Returns a receipt in Base64.
    private func receipt(
        of customer: CorpusCustomer, signedAt instant: Date, licensedUntil end: String? = nil
    ) throws -> [UInt8] {
        let minter = ReceiptMinter(authority: authority, signedAt: instant)
        let bytes = try minter.mint { draft in
            draft.purchases = []
            draft[.originalPurchaseDate] = .date(customer.date)
            draft[.originalAppVersion] = customer.build.isEmpty ? nil : .text(customer.build)
            draft[.downloadID] = .number(customer.kind == .sameUser ? 0 : customer.downloadID)
            if let end {
                draft[.receiptType] = .text(ReceiptType.productionVPP.rawValue)
                draft[.expirationDate] = .date(CorpusCustomer.date(end))
            }
        }
        return Base64.standard.encode(bytes)
    }

    /// Returns a JWS with a payload that was changed after it was signed.
    private func tampered(_ app: JSONObject) throws -> [UInt8] {
        let segments = try signed(app).split(separator: UInt8(ascii: "."))
        let other = Base64.urlSafe.encode(app.setting(["originalApplicationVersion": .string("1")]).json + [0x20])
        let dot = [UInt8(ascii: ".")]
        return Array(segments[0]) + dot + other + dot + Array(segments[2])
    }

    /// Returns the JWS with a changed character in the signature.
    private static func flipped(_ jws: [UInt8]) -> [UInt8] {
        var jws = jws
        let index = jws.count - 20
        jws[index] = jws[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        return jws
    }
}
