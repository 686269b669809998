import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

@Suite struct PayloadTests {
    private let verifier: AppStoreVerifier
    private let minter = Minted.minter

    init() throws {
        verifier = try Minted.verifier(app: AppIdentity())
    }

    /// A value for a field of any type, different for each call.
    private func value(for field: FieldDescription, number: Int) -> JSONValue {
        func value(_ shape: FieldShape) -> JSONValue {
            switch shape {
            case .text: .string("text \(number)")
            case .integer: .integer(9_007_199_254_740_993 + Int64(number))
            case .instant: .integer(1_700_000_000_000 + Int64(number))
            case .boolean: .boolean(true)
            case .object(let fields):
                .object(
                    JSONObject(
                        members: fields.map { .init(name: $0.name, value: self.value(for: $0, number: number + 1)) }))
            case .list(let shape): .array([value(shape), value(shape)])
            }
        }
        return value(field.shape)
    }

    /// The names of stored properties that are nil, in the payload and in the values that it contains.
    private func absent(in value: Any, path: String = "") -> [String] {
        Mirror(reflecting: value).children.flatMap { child -> [String] in
            guard let label = child.label, label != "tape" else { return absent(in: child.value, path: path) }
            let mirror = Mirror(reflecting: child.value)
            if mirror.displayStyle == .optional, mirror.children.isEmpty { return [path + label] }
            return child.value is Date ? [] : absent(in: child.value, path: path + label + ".")
        }
    }

    /// Checks that each stored property has the field with the property's name in Apple's spelling, in the payload and
    /// in the objects that it contains.
    private func expectOwnFields(of value: Any, _ fields: [FieldDescription]) {
        let properties = Mirror(reflecting: value).children.filter { $0.label != "tape" }
        let names = properties.map { property -> String in
            let label = property.label ?? ""
            return label == "sku" ? "SKU" : label.contains("UUID") ? label : label.replacing("ID", with: "Id")
        }
        #expect(names == fields.map { $0.name })
        for (property, field) in zip(properties, fields) {
            guard let read = Mirror(reflecting: property.value).children.first?.value else { continue }
            switch field.shape {
            case .object(let fields): expectOwnFields(of: read, fields)
            case .list(.object(let fields)):
                for element in Mirror(reflecting: read).children { expectOwnFields(of: element.value, fields) }
            default: break
            }
        }
    }

    @Test(arguments: [JWSKind.appTransaction, .transaction, .renewalInfo])
    func `every documented field of each JWS payload is read into the property with its name`(kind: JWSKind) throws {
        var payload = JSONObject()
        for (number, field) in kind.fields.enumerated() {
            payload[field.name] = value(for: field, number: number * 100)
        }
        payload[kind == .appTransaction ? "receiptType" : "environment"] = .string("Production")
        let jws = try minter.mint(payload: payload)
        let (read, json): (Any, JSONObject) =
            switch kind {
            case .appTransaction:
                try {
                    let payload = try verifier.verifyAppTransaction(jws, now: nil).payload
                    return (payload, payload.json)
                }()
            case .transaction:
                try {
                    let payload = try verifier.verifyTransaction(jws, now: nil).payload
                    return (payload, payload.json)
                }()
            default:
                try {
                    let payload = try verifier.verifyRenewalInfo(jws, now: nil).payload
                    return (payload, payload.json)
                }()
            }
        #expect(absent(in: read) == [])
        #expect(json == payload)
        let fieldCount = Mirror(reflecting: read).children.count - 1
        #expect(fieldCount == kind.fields.count)
        expectOwnFields(of: read, kind.fields)
    }

    @Test func `every field of a notification's parts is read`() throws {
        for part in ["data", "summary", "externalPurchaseToken", "appData"] {
            let fields = try #require(JWSKind.notification.fields.first { $0.name == part })
            guard case .object(var object) = value(for: fields, number: 0) else { continue }
            if object["environment"] != nil { object["environment"] = .string("Production") }
            for name in ["signedTransactionInfo", "signedRenewalInfo", "signedAppTransactionInfo"] {
                object[name] = nil
            }
            var payload = JSONObject()
            payload["notificationType"] = .string("TEST")
            payload["subtype"] = .string("INITIAL_BUY")
            payload["notificationUUID"] = .string("3a4b0d0e-0000-4000-8000-000000000009")
            payload["version"] = .string("2.0")
            payload["signedDate"] = .instant(Minted.instant)
            payload[part] = .object(object)
            let read = try verifier.verifyNotification(minter.mint(payload: payload), now: nil)
            let missing = absent(in: read.notification.payload).filter { !$0.contains("signed") }
            #expect(Set(missing) == Set(["data", "summary", "externalPurchaseToken", "appData"]).subtracting([part]))
            expectOwnFields(of: read.notification.payload, JWSKind.notification.fields)
        }
    }

    @Test(arguments: [JWSKind.appTransaction, .transaction, .renewalInfo, .notification])
    func `a JWS payload field of the wrong type is malformed`(kind: JWSKind) throws {
        for field in kind.fields where field.name != "receiptType" && field.name != "environment" {
            let wrong: JSONValue = field.shape == .boolean ? .string("true") : .boolean(true)
            let jws = try minter.mint(kind, setting: [field.name: wrong])
            let found = rejection("`\(field.name)`") { try verifier.verify(jws, as: kind, now: Minted.instant) }
            #expect(found?.code == .malformed)
            #expect(found?.detail.contains("`\(field.name)`") == true)
        }
    }

    @Test func `integers in payloads keep every digit, and numbers beyond 64 bits or with fractions are refused`()
        throws
    {
        func appleID(_ digits: String) throws -> Int64? {
            let jws = try minter.mint(.appTransaction, setting: ["appAppleId": .number(digits)])
            return try verifier.verifyAppTransaction(jws, now: nil).payload.appAppleID
        }
        #expect(try appleID("9223372036854775807") == .max)
        #expect(try appleID("-9223372036854775808") == .min)
        #expect(try appleID("9007199254740993") == 9_007_199_254_740_993)
        #expect(try appleID("0") == 0)
        for digits in ["9223372036854775808", "-9223372036854775809", "1.5", "1e3", "99999999999999999999999"] {
            #expect(rejection { try appleID(digits) }?.code == .malformed)
        }
    }

    @Test func `dates in payloads may be fractional and negative, but at most 100 million days from 1970`() throws {
        func date(_ digits: String) throws -> Date? {
            let jws = try minter.mint(.appTransaction, setting: ["originalPurchaseDate": .number(digits)])
            return try verifier.verifyAppTransaction(jws, now: nil).payload.originalPurchaseDate
        }
        #expect(try date("1697679936049.7297") == Date(timeIntervalSince1970: 1_697_679_936.050))
        #expect(try date("-62135769600000") == Date(timeIntervalSince1970: -62_135_769_600))
        #expect(try date("0") == Date(timeIntervalSince1970: 0))
        #expect(try date("1.6976799360497297e12") == Date(timeIntervalSince1970: 1_697_679_936.050))
        for digits in ["1e300", "-1e300", "1e400", "8640000000000001", "99999999999999999999999999"] {
            #expect(rejection { try date(digits) }?.code == .malformed)
        }
    }

    @Test func `in JWS payloads null means absent, and an empty string doesn't`() throws {
        let jws = try minter.mint(
            payload: {
                var payload = try minter.payload(of: .transaction)
                payload["storefront"] = .null
                payload["currency"] = .string("")
                payload["price"] = nil
                return payload
            }())
        let payload = try verifier.verifyTransaction(jws, now: nil).payload
        #expect(payload.storefront == nil && payload.currency == "" && payload.price == nil)
    }

    @Test
    func `a list in a JWS payload keeps its elements in order, and an invalid element makes the payload malformed`()
        throws
    {
        func offers(_ elements: [JSONValue]) throws -> [String]? {
            let jws = try minter.mint(.renewalInfo, setting: ["eligibleWinBackOfferIds": .array(elements)])
            return try verifier.verifyRenewalInfo(jws, now: nil).payload.eligibleWinBackOfferIDs
        }
        #expect(try offers([.string("summer"), .string("autumn")]) == ["summer", "autumn"])
        #expect(try offers([]) == [])
        #expect(rejection { try offers([.string("summer"), .integer(1)]) }?.code == .malformed)
    }

    @Test func `a subscription that is billed in installments has its commitment under Apple's names`() throws {
        let paid = try minter.mint(
            .transaction,
            setting: [
                "commitmentInfo": try JSONValue(
                    parsing: Array(
                        """
                        {"billingPeriodNumber":2,"totalBillingPeriods":12,"commitmentExpiresDate":1900000000000,\
                        "commitmentPrice":99990}
                        """.utf8))
            ])
        let commitment = try #require(try verifier.verifyTransaction(paid, now: nil).payload.commitmentInfo)
        let end = Date(timeIntervalSince1970: 1_900_000_000)
        #expect(commitment.billingPeriodNumber == 2 && commitment.totalBillingPeriods == 12)
        #expect(commitment.commitmentExpiresDate == end && commitment.commitmentPrice == 99_990)

        let renewal = try minter.mint(
            .renewalInfo,
            setting: [
                "commitmentInfo": try JSONValue(
                    parsing: Array(
                        """
                        {"commitmentAutoRenewProductId":"p","commitmentAutoRenewStatus":1,\
                        "commitmentRenewalBillingPlanType":"MONTHLY","commitmentRenewalDate":1900000000000,\
                        "commitmentRenewalPrice":88880}
                        """.utf8))
            ])
        let next = try #require(try verifier.verifyRenewalInfo(renewal, now: nil).payload.commitmentInfo)
        #expect(next.commitmentAutoRenewProductID == "p" && next.commitmentAutoRenewStatus == .known(.on))
        #expect(next.commitmentRenewalBillingPlanType?.rawValue == "MONTHLY")
        #expect(next.commitmentRenewalDate == end && next.commitmentRenewalPrice == 88_880)
    }

    @Test func `unknown values and fields of JWS payloads are kept`() throws {
        let jws = try minter.mint(
            .transaction,
            setting: [
                "inAppOwnershipType": .string("ASSIGNED"), "revocationReason": .integer(7),
                "new": .array([.number("1.50")]),
            ])
        let payload = try verifier.verifyTransaction(jws, now: nil).payload
        #expect(payload.inAppOwnershipType == .unknown("ASSIGNED"))
        #expect(payload.revocationReason == .unknown(7))
        #expect(payload.json["new"] == .array([.number("1.50")]))
    }
}
