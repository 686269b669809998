import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import Testing

@Suite(.enabled(if: Real.isPresent, "the real artifacts do not lie beside this repository"))
struct RealJWSTests {
    private func fixtureVerifier(bundleID: String? = "com.example") throws -> AppStoreVerifier {
        let anchors = try TrustAnchors(Real.bytes("apple-fixtures/testCA.der"))
        let trust = try TrustConfiguration(anchors: [.production: anchors, .sandbox: anchors])
        return AppStoreVerifier(app: AppIdentity(bundleID: bundleID, appAppleID: 1234), trust: trust)
    }

    @Test func `genuine renewal info of 2023 is verified under Apple's roots at its signing instant`() throws {
        let jws = try Real.jws("jws/sandbox-renewal-info-2023.jws")
        let verifier = AppStoreVerifier(app: AppIdentity(), trust: .appStore)
        let verified = try verifier.verifyRenewalInfo(jws, now: Date())
        #expect(verified.environment == .sandbox && verified.status == .verified)
        #expect(verified.payload.autoRenewStatus == .known(.on))
        #expect(verified.payload.recentSubscriptionStartDate != nil)
        #expect(verified.certificates.last?.fingerprint.hasPrefix("63343ABF") == true)
        let production = AppStoreVerifier(
            app: AppIdentity(), trust: try TrustConfiguration(anchors: [.production: .apple]))
        #expect(rejection { try production.verifyRenewalInfo(jws, now: nil) }?.code == .wrongEnvironment)
        let foreign = try fixtureVerifier()
        #expect(rejection { try foreign.verifyRenewalInfo(jws, now: nil) }?.code == .untrustedChain)
    }

    @Test func `the valid JWS samples of Apple's server library are verified under their root`() throws {
        let verifier = try fixtureVerifier()
        #expect(
            try verifier.verifyTransaction(Real.jws("apple-fixtures/transactionInfo"), now: nil).environment == .sandbox
        )
        #expect(
            try verifier.verifyRenewalInfo(Real.jws("apple-fixtures/renewalInfo"), now: nil).environment == .sandbox)
        let notification = try verifier.verifyNotification(Real.jws("apple-fixtures/testNotification"), now: nil)
        #expect(notification.notification.payload.notificationType == .known(.test))
    }

    @Test func `the invalid JWS samples of Apple's server library are refused`() throws {
        let verifier = try fixtureVerifier()
        let codes = try ["wrongBundleId", "missingX5CHeaderClaim", "legacyTransaction"].map { name in
            let jws = try Real.jws("apple-fixtures/\(name)")
            return rejection("\(name)") { try verifier.verifyNotification(jws, now: Minted.instant) }?.code
        }
        #expect(codes == [.wrongApp, .untrustedChain, .malformed])
    }

    @Test(arguments: ["xcode-signed-app-transaction", "xcode-signed-transaction"])
    func `a JWS signed by Xcode is refused unless Xcode's certificate is configured`(name: String) throws {
        let jws = try Real.jws("apple-fixtures/\(name)")
        let kind: JWSKind = name.hasSuffix("app-transaction") ? .appTransaction : .transaction
        let appStore = AppStoreVerifier(app: AppIdentity(), trust: .appStore)
        #expect(rejection { try appStore.verify(jws, as: kind, now: nil) }?.code == .untrustedChain)

        let unverified = try UnverifiedJWS(jws)
        #expect(unverified.kind == kind && unverified.certificates.count == 1)
        guard case .array(let x5c)? = unverified.header["x5c"], case .string(let entry)? = x5c.first else {
            Issue.record("no certificate")
            return
        }
        let der = [UInt8](try #require(Data(base64Encoded: entry)))
        let xcode = AppStoreVerifier(
            app: AppIdentity(), trust: try TrustConfiguration(anchors: [.xcode: TrustAnchors(der: [der])]))
        #expect(try xcode.verify(jws, as: kind, now: nil) == .local)
        if kind == .appTransaction {
            let proof = try xcode.verifyAppTransaction(jws, now: nil).proof
            #expect(proof.originalAppVersion == "1")
            #expect(proof.originalPurchaseDate == Date(timeIntervalSince1970: -62_135_769_600))
        } else {
            #expect(try xcode.verifyTransaction(jws, now: nil).purchase.transactionID == "0")
        }
    }
}
