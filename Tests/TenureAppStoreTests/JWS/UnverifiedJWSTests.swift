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
}
