import Foundation
import TenureCore
import Testing

@testable import TenureStore

private let bought = Date(timeIntervalSince1970: 1_400_000_000)

private func account(_ id: String?, _ seconds: Double? = nil) -> AppProof {
    AppProof(
        kind: .appTransaction, signedDate: bought, id: id.map { .appTransaction($0) },
        originalPurchaseDate: seconds.map { bought.addingTimeInterval($0) })
}

private func download(_ id: String, _ seconds: Double? = nil) -> AppProof {
    AppProof(
        kind: .receipt, signedDate: bought, id: .download(id),
        originalPurchaseDate: seconds.map { bought.addingTimeInterval($0) })
}

/// Which customers a bound sync may be about, by what its artifacts prove.
@Suite struct `the acquisition that a sync proves` {
    private func customer(_ proofs: [AppProof], _ purchases: [Purchase] = []) -> Customer {
        var facts = CustomerFacts()
        facts.add(proofs)
        facts.add(purchases)
        return Customer(id: 1, realm: Realm(.production), publicID: "cus_1", createdAt: bought, facts: facts)
    }

    private func purchase(_ id: String, original: String? = nil) -> Purchase {
        Purchase(
            transactionID: id, originalTransactionID: original, productID: "p", type: .autoRenewable,
            purchaseDate: bought, signedDate: bought)
    }

    @Test(
        arguments: [
            (account("1"), account("1"), true), (account("1"), account("2"), false),
            (account("1", 0), account("2", 0), false), (account(nil, 0), account("2", 1), true),
            (account(nil, 0), account("2", 60), false), (account("1"), account(nil, 0), true),
            (download("5"), download("5", 0), true), (download("5", 0), download("6", 0), false),
            (download("5"), account("1"), true), (download("5", 0), account("1", 1), true),
            (download("5", 0), account("1", 60), false),
        ] as [(AppProof, AppProof, Bool)])
    func `a sync isn't about a customer with proofs that contradict the sync's proofs`(
        sent: AppProof, known: AppProof, mayBelong: Bool
    ) {
        let acquisition = ProvenAcquisition([sent], accountPurchases: [])
        #expect(acquisition.mayBelong(to: customer([known])) == mayBelong)
        // One matching acquisition of several is enough, and a customer without proofs has nothing to contradict.
        #expect(acquisition.mayBelong(to: customer([account("9", 9_000), known])) == mayBelong)
        #expect(acquisition.mayBelong(to: customer([])))
    }

    @Test func `purchases of an account aren't about a customer with an app transaction and without these purchases`() {
        let acquisition = ProvenAcquisition([], accountPurchases: ["x", "y"])
        let proof = account("1", 0)
        #expect(!acquisition.mayBelong(to: customer([proof])))
        #expect(!acquisition.mayBelong(to: customer([proof], [purchase("z")])))
        #expect(acquisition.mayBelong(to: customer([proof], [purchase("z"), purchase("y")])))
        #expect(acquisition.mayBelong(to: customer([proof], [purchase("z", original: "x")])))
        #expect(acquisition.mayBelong(to: customer([download("5", 0)], [purchase("z")])))
        let none = ProvenAcquisition([], accountPurchases: [])
        #expect(none.mayBelong(to: customer([proof], [purchase("z")])))
    }
}
