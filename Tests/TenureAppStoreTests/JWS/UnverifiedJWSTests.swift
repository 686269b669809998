import Foundation
import TenureAppStore
import TenureJSON
import TenureMint
import Testing

@Suite struct UnverifiedJWSTests {
    @Test(arguments: AppStoreVerifier.kinds)
    func `the unverified claims of a refused artifact can still be read`(kind: JWSKind) throws {
        let jws = try Minted.minter.mint(kind, with: .foreignSignature)
        #expect(rejection { try Minted.verifier().verify(jws, as: kind, now: nil) }?.code == .badSignature)
        let shown = try UnverifiedJWS(jws)
        #expect(shown.kind == kind)
        #expect(shown.payload == (try UnverifiedJWS(Minted.minter.mint(payload: shown.payload)).payload))
        #expect(shown.certificates.count == 3)
        #expect(shown.signedDate == Minted.instant)
        #expect(shown.header["alg"] == .string("ES256"))
    }

    @Test(arguments: ["", ".", "..", "a.b", "a.b.c", "e30.e30.", "e30..AA", "W10.e30.AA", "e30.e30.AA.AA"])
    func `a string that isn't a JWS is malformed`(text: String) {
        #expect(rejection { try UnverifiedJWS(Array(text.utf8)) }?.code == .malformed)
    }

    @Test func `a retention messaging request is recognized as a kind of JWS`() throws {
        var payload = JSONObject()
        for name in ["originalTransactionId", "productId", "userLocale", "requestIdentifier"] {
            payload[name] = .string("x")
        }
        payload["environment"] = .string("Production")
        let jws = try Minted.minter.mint(payload: payload)
        #expect(try UnverifiedJWS(jws).kind == .realtime)
        #expect(rejection { try Minted.verifier().verifyRenewalInfo(jws, now: nil) }?.code == .wrongKind)
    }

    @Test(
        arguments: [
            (["notificationType", "transactionId", "environment"], JWSKind.notification),
            (["transactionId", "environment", "receiptType"], .transaction),
            (["receiptType", "environment", "autoRenewStatus"], .appTransaction),
            (["autoRenewStatus", "bundleId", "environment"], .renewalInfo), (["autoRenewProductId"], .renewalInfo),
            (["userLocale", "requestIdentifier", "bundleId", "environment"], .realtime),
            (["userLocale", "environment"], .renewalInfo),
            (["requestIdentifier", "environment", "bundleId"], .transaction),
            (["environment", "bundleId"], .transaction), (["environment"], .renewalInfo), (["bundleId"], nil),
        ] as [([String], JWSKind?)])
    func `the kind of a JWS follows from the names of its fields`(_ names: [String], _ kind: JWSKind?) throws {
        var payload = JSONObject()
        for name in names { payload[name] = .string("x") }
        #expect(try UnverifiedJWS(Minted.minter.mint(payload: payload)).kind == kind)
    }

    @Test func `the signing date of an unverified JWS is read from the date field of its kind`() throws {
        var payload = JSONObject()
        payload["receiptCreationDate"] = .integer(1_000_000)
        payload["signedDate"] = .integer(2_000_500)
        #expect(
            try UnverifiedJWS(Minted.minter.mint(payload: payload)).signedDate == Date(timeIntervalSince1970: 2000.5))
        payload["receiptType"] = .string("Production")
        #expect(
            try UnverifiedJWS(Minted.minter.mint(payload: payload)).signedDate == Date(timeIntervalSince1970: 1000))
        payload["receiptCreationDate"] = .string("1000000")
        #expect(try UnverifiedJWS(Minted.minter.mint(payload: payload)).signedDate == nil)
    }

    @Test func `the artifacts inside an unverified notification are found with their paths`() throws {
        let nested = try UnverifiedJWS(Minted.minter.mint(.notification)).nested
        #expect(nested.map { $0.name } == ["data.signedTransactionInfo", "data.signedRenewalInfo"])
        #expect(nested.first?.payload["transactionId"] == .string("410000000000022"))
        #expect(nested.last?.payload["autoRenewStatus"] == .integer(1))
        // An unreadable artifact is left out.
        let app = String(decoding: try Minted.minter.mint(.appTransaction), as: UTF8.self)
        let mixed = try Minted.minter.mint(
            .notification,
            setting: [
                "data": .object(["signedTransactionInfo": .string("e30.e30."), "signedRenewalInfo": .integer(1)]),
                "appData": .object(["signedAppTransactionInfo": .string(app)]),
            ])
        #expect(try UnverifiedJWS(mixed).nested.map { $0.name } == ["appData.signedAppTransactionInfo"])
        #expect(try UnverifiedJWS(Minted.minter.mint(.transaction)).nested.isEmpty)
    }

    @Test func `an unverified JWS shows the readable ones of its first ten certificates`() throws {
        let leaf = Base64.standard.text(Minted.authority.jws.leaf.der)
        let root = Base64.standard.text(Minted.authority.jws.root.der)
        func serialNumbers(_ certificates: [JSONValue]) throws -> [String] {
            let header: JSONObject = ["alg": .string("ES256"), "x5c": .array(certificates)]
            let jws = Base64.urlSafe.text(JSONValue.object(header).bytes) + ".e30.AA"
            return try UnverifiedJWS(Array(jws.utf8)).certificates.map(\.serialNumber)
        }
        let junk: [JSONValue] = [.string("AA=="), .string("!"), .integer(1)]
        #expect(try serialNumbers(junk + [.string(leaf), .string(root)]) == ["540103", "540101"])
        let many = Array(repeating: JSONValue.string("!"), count: 9) + [.string(leaf), .string(root)]
        #expect(try serialNumbers(many) == ["540103"])
    }
}
