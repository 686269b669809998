import Foundation
import TenureCore
import Testing

@testable import Tenure

/// A device keeps only a few of the app transactions that it has seen. The decision must be the same as with all.
@Suite struct `App transactions on the device` {
    private static let change = Date(timeIntervalSince1970: 1_433_959_200)

    private static func policy() throws -> Policy {
        try Policy(
            app: Policy.App(bundleID: "com.example.calculator"),
            eras: [
                Era(name: "paid", model: .paid),
                Era(
                    name: "freemium", model: .free,
                    begins: [.iOS: .at(version: AppVersion("120"), date: change)], changeover: .noWindow),
            ],
            buildNumbers: .increasing,
            entitlements: [Entitlement(name: "everything", honors: [Honor(era: "paid")])])
    }

    /// App transactions signed once a month, from half a year before the change.
    ///
    /// - Parameter revoked: the index of the app transaction with the refund.
    private static func proofs(_ count: Int, revoked: Int) -> [AppProof] {
        (0..<count).map { month in
            let signed = change.addingTimeInterval(Double(month - 6) * 30 * 86_400)
            return AppProof(
                kind: .appTransaction, signedDate: signed, id: .appTransaction("1"), originalPlatform: .iOS,
                originalAppVersion: "37", originalPurchaseDate: change.addingTimeInterval(-400 * 86_400),
                revocationDate: month == revoked ? signed.addingTimeInterval(-86_400) : nil)
        }
    }

    @Test func `a device stores at most 400 app transactions, however many it has seen`() {
        let kept = Account.proofsToStore(Self.proofs(2000, revoked: 1000))
        #expect(kept.count <= 400)
        #expect(kept.contains { $0.revocationDate != nil }, "the refund isn't forgotten")
    }

    @Test(arguments: 0..<12) func `removing superfluous app transactions changes no decision`(revoked: Int) throws {
        let policy = try Self.policy()
        var kept: [AppProof] = []
        for proof in Self.proofs(12, revoked: revoked) {
            kept = Account.proofsToStore(kept + [proof])
        }
        func decision(_ proofs: [AppProof]) -> Decision? {
            decide(
                Evidence(environment: .production, app: proofs, transactions: [], purchasesAreComplete: true),
                under: policy, at: Self.change.addingTimeInterval(400 * 86_400)
            ).first
        }
        let whole = decision(Self.proofs(12, revoked: revoked))
        #expect(decision(kept)?.outcome == whole?.outcome && decision(kept)?.until == whole?.until)
        #expect((whole?.outcome == .granted) == (revoked < 5))
    }
}
