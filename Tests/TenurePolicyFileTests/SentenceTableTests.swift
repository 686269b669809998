import Foundation
import RepositoryFiles
import TenureCore
import TenureJSON
import Testing

@testable import TenurePolicyFile

/// The example sentences in Docs/decisions.md.
@Suite struct SentenceTableTests {
    @Test func `the sentences in decisions.md are the sentences that customers get`() throws {
        let policy = try PolicyFile.read(
            try RepositoryFile.bytes("Examples/calculator/policy.yaml"), named: "policy.yaml"
        ) { try RepositoryFile.bytes("Examples/calculator/" + $0) }
        let table = try Self.customers.map { customer in
            let decision = try #require(
                decide(customer.evidence, promises: customer.promises(policy), under: policy, at: customer.now)
                    .first { $0.entitlement == customer.entitlement })
            return "| \(customer.story) | \(decision.sentence) |"
        }
        let page = String(decoding: try RepositoryFile.bytes("Docs/decisions.md"), as: UTF8.self)
        let expected = (["| customer | sentence |", "|---|---|"] + table).joined(separator: "\n")
        #expect(page.contains(expected), "Docs/decisions.md should have:\n\(expected)")
    }

    /// The customer of one row in the table of decisions.md.
    private struct Customer {
        let story: String
        var entitlement = "everything"
        var now = SentenceTableTests.date("2015-08-01T00:00:00Z")
        var isPromised = false
        let evidence: Evidence

        func promises(_ policy: Policy) -> [Promise] {
            guard isPromised else { return [] }
            return evidence.acquisitions.map {
                Promise(entitlement: entitlement, acquisition: $0.key, policy: policy, until: nil)
            }
        }
    }

    private static func date(_ text: String) -> Date { Date(rfc3339: text) ?? .distantPast }

    private static func app(_ version: String?, _ day: String, revoked: String? = nil) -> AppProof {
        AppProof(
            kind: .appTransaction, signedDate: date("2015-07-31T00:00:00Z"), id: .appTransaction("1"),
            originalPlatform: .iOS, originalAppVersion: version, originalPurchaseDate: date(day),
            revocationDate: revoked.map(date))
    }

    private static func evidence(
        _ app: AppProof?, bought: Purchase? = nil, isInBillingRetry: Bool = false, isComplete: Bool = true,
        support: [SupportGrant] = [], environment: AppStoreEnvironment = .production
    ) -> Evidence {
        let renewal = Renewal(
            originalTransactionID: "1", productID: nil, gracePeriodExpiresDate: nil, isInBillingRetryPeriod: true,
            signedDate: nil)
        return Evidence(
            environment: environment, app: [app].compactMap(\.self), transactions: [bought].compactMap(\.self),
            renewals: isInBillingRetry ? [renewal] : [], purchasesAreComplete: isComplete, support: support)
    }

    private static func yearly(expires: String, revoked: String? = nil) -> Purchase {
        Purchase(
            transactionID: "1", productID: "com.example.calculator.yearly", type: .autoRenewable,
            purchaseDate: date("2015-06-20T00:00:00Z"), expiresDate: date(expires), revocationDate: revoked.map(date),
            signedDate: nil)
    }

    private static let owner = app("37", "2014-05-01T10:00:00Z")
    private static let lateOwner = app("110", "2015-05-20T10:00:00Z")
    private static let newcomer = app("120", "2015-07-01T10:00:00Z")
    private static let changeover = app("120", "2015-06-10T20:00:00Z")

    private static let customers: [Customer] = [
        Customer(story: "got build 37 in 2014", evidence: evidence(owner)),
        Customer(
            story: "got build 37, but the signed purchase date is in the free era: the build decides",
            evidence: evidence(app("37", "2015-07-01T10:00:00Z"))),
        Customer(
            story: "got the first free build for the old price, and no service keeps promises",
            evidence: evidence(changeover)),
        Customer(story: "the same, with a promise", isPromised: true, evidence: evidence(changeover)),
        Customer(
            story: "got the app a month before the change, about the cloud", entitlement: "cloud",
            evidence: evidence(lateOwner)),
        Customer(
            story: "the same, two years later", entitlement: "cloud", now: date("2017-08-01T00:00:00Z"),
            evidence: evidence(lateOwner)),
        Customer(
            story: "got the app too early for the cloud", entitlement: "cloud", evidence: evidence(owner)),
        Customer(story: "got the free app", evidence: evidence(newcomer)),
        Customer(
            story: "got a refund of the app",
            evidence: evidence(app("37", "2014-05-01T10:00:00Z", revoked: "2015-02-03T09:00:00Z"))),
        Customer(
            story: "subscribed", evidence: evidence(newcomer, bought: yearly(expires: "2016-06-20T09:00:00Z"))),
        Customer(
            story: "the subscription ended",
            evidence: evidence(newcomer, bought: yearly(expires: "2015-07-20T09:00:00Z"))),
        Customer(
            story: "the card of the subscription was declined",
            evidence: evidence(newcomer, bought: yearly(expires: "2015-07-20T09:00:00Z"), isInBillingRetry: true)),
        Customer(
            story: "the subscription was refunded",
            evidence: evidence(
                newcomer, bought: yearly(expires: "2016-06-20T09:00:00Z", revoked: "2015-07-10T09:00:00Z"))),
        Customer(story: "the purchases aren't known yet", evidence: evidence(newcomer, isComplete: false)),
        Customer(story: "nothing is known yet", evidence: evidence(nil)),
        Customer(
            story: "support granted it until the end of the year",
            evidence: evidence(
                newcomer,
                support: [
                    SupportGrant(
                        .grant, of: "everything", date: date("2015-07-15T00:00:00Z"),
                        until: date("2016-01-01T00:00:00Z")
                    )
                ])),
        Customer(
            story: "support withdrew it",
            evidence: evidence(
                owner, support: [SupportGrant(.revocation, of: "everything", date: date("2015-07-15T00:00:00Z"))])),
        Customer(
            story: "a tester", evidence: evidence(app("1.0", "2013-08-01T07:00:00Z"), environment: .sandbox)),
    ]
}
