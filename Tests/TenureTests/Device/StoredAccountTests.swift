import Foundation
import TenureCore
import Testing

@testable import Tenure

@Suite struct `The stored account` {
    private func date(_ seconds: TimeInterval) -> Date { Date(timeIntervalSinceReferenceDate: seconds) }

    private static let text = """
        {"environment":"Sandbox","bundleID":"com.example.calculator","appTransactionID":"704000000000000001",
        "proofs":[
        {"kind":"receipt","signed":100,"downloadID":"900","platform":"macOS","version":"1.4","date":10,"preorder":5,
        "expires":500},
        {"kind":"appTransaction","signed":200,"appTransactionID":"704000000000000001","platform":"iOS","version":"37",
        "date":11,"revoked":150}],
        "purchases":[
        {"id":"1","original":"0","product":"plan","type":"autoRenewable","bought":20,"expires":60,"revoked":50,
        "upgraded":true,"shared":true,"signed":40},
        {"id":"2","original":"2","product":"key","type":"nonConsumable","bought":21,"signed":41}],
        "renewals":[{"original":"0","product":"plan","grace":70,"retries":true,"signed":45}],
        "entitlementToken":"a.b.c","keyStatements":["d.e.f"],
        "serviceAnswers":{"cloud":{"entitlement":"cloud","outcome":"granted","until":80,"sentence":"s",
        "reasons":[{"code":"product","facts":{"product":["plan"]}}],"nextSteps":["support"]}},
        "answeredAt":90,"denials":["pro"],"stale":"704000000000000002","persona":"tester","sentEverything":true,
        "unanswered":["1"],"refused":["2"],"delivered":["3"],
        "granted":{"pro":{"entitlement":"pro","outcome":"granted","sentence":"t","reasons":[],"nextSteps":[]}}}
        """

    @Test func `an account that an earlier release stored is read completely, and stored again without a loss`() throws
    {
        let account = try JSONDecoder().decode(Account.self, from: Data(Self.text.utf8))
        #expect(account.environment == .sandbox)
        #expect(account.bundleID == "com.example.calculator")
        #expect(account.key?.appTransactionID == "704000000000000001")
        #expect(
            account.proofs == [
                AppProof(
                    kind: .receipt, signedDate: date(100), id: .download("900"), originalPlatform: .macOS,
                    originalAppVersion: "1.4", originalPurchaseDate: date(10), preorderDate: date(5),
                    expirationDate: date(500)),
                AppProof(
                    kind: .appTransaction, signedDate: date(200), id: .appTransaction("704000000000000001"),
                    originalPlatform: .iOS, originalAppVersion: "37", originalPurchaseDate: date(11),
                    revocationDate: date(150)),
            ])
        #expect(
            account.purchases == [
                Purchase(
                    transactionID: "1", originalTransactionID: "0", productID: "plan", type: .autoRenewable,
                    purchaseDate: date(20), expiresDate: date(60), revocationDate: date(50), isUpgraded: true,
                    isFamilyShared: true, signedDate: date(40)),
                Purchase(
                    transactionID: "2", productID: "key", type: .nonConsumable, purchaseDate: date(21),
                    signedDate: date(41)),
            ])
        #expect(
            account.renewals == [
                Renewal(
                    originalTransactionID: "0", productID: "plan", gracePeriodExpiresDate: date(70),
                    isInBillingRetryPeriod: true, signedDate: date(45))
            ])
        #expect(account.entitlementToken == "a.b.c" && account.keyStatements == ["d.e.f"])
        let answer = try #require(account.serviceAnswers["cloud"])
        #expect(answer.outcome == .granted && answer.until == date(80) && answer.nextSteps == [.support])
        #expect(answer.reasons == [Tenure.Answer.Reason("product", ["product": ["plan"]])])
        #expect(account.answeredAt == date(90) && account.denials == ["pro"] && account.sentEverything)
        #expect(account.staleAppTransactionID == "704000000000000002" && account.persona == "tester")
        #expect(account.unansweredTransactions == ["1"] && account.refusedTransactions == ["2"])
        #expect(account.deliveredTransactions == ["3"])
        #expect(account.grantedByDevice["pro"]?.sentence == "t")
        #expect(try JSONDecoder().decode(Account.self, from: try JSONEncoder().encode(account)) == account)
    }

    @Test func `a revoked signing key makes every purchase unanswered, and the service's response unknown`() throws {
        var account = try JSONDecoder().decode(Account.self, from: Data(Self.text.utf8))
        account.discardDistrustedAnswers()
        #expect(account.unansweredTransactions == ["1", "2"])
        #expect(account.refusedTransactions.isEmpty && account.serviceAnswers.isEmpty && account.denials.isEmpty)
        #expect(account.grantedByDevice.isEmpty && account.keyStatements.isEmpty)
        #expect(account.entitlementToken == nil && account.answeredAt == nil && !account.sentEverything)
        // What the App Store signed, and what the app has delivered, stays.
        #expect(account.proofs.count == 2 && account.purchases.count == 2 && account.renewals.count == 1)
        #expect(account.deliveredTransactions == ["3"])
    }
}
