import Foundation
import TenureCore
import TenureStore

extension Sample {
    /// What `bring` wrote, read again: the way of all facts, with artifacts that say in clear what they prove.
    @Sendable static func facts(of ledger: CustomerLedger) throws(StoreError) -> CustomerFacts {
        var facts = try proven(by: ledger.artifacts.map(\.artifact))
        facts.add(ledger.promises)
        for support in ledger.support { facts.add(support.act) }
        facts.purchasesAreComplete = ledger.purchasesAreComplete
        facts.isUnbound = ledger.isUnbound
        return facts
    }

    static let rederivation = Rederivation { entries throws(StoreError) in
        try proven(by: entries.artifacts.map(\.artifact))
    }

    static func proven(by artifacts: [Artifact]) throws(StoreError) -> CustomerFacts {
        var facts = CustomerFacts()
        for artifact in artifacts {
            let words = String(decoding: artifact.bytes, as: UTF8.self).split(separator: ".").dropFirst().first ?? ""
            switch words.split(separator: "-").map(String.init) {
            case let parts where parts.first == "proof" && parts.count == 2: facts.add([Sample.proof(parts[1])])
            case let parts where parts.first == "purchase" && parts.count == 2: facts.add([Sample.purchase(parts[1])])
            default: throw .damaged("`\(words)` proves nothing")
            }
        }
        return facts
    }

    static func promise(to id: String, policy: Int64) -> RecordedPromise {
        RecordedPromise(
            entitlement: "everything",
            acquisition: AcquisitionKey(
                appTransactionID: id, downloadID: nil, originalPurchaseDate: Date(timeIntervalSince1970: 1_400_000_000)
            ),
            policyVersion: policy, until: nil, recordedAt: now)
    }
}

extension Store {
    /// What a sync of one acquisition leaves: proof of it, some purchases, and perhaps a promise.
    func bring(_ id: String, purchases: [String] = [], promisedUnder policy: Int64? = nil) async throws -> Customer {
        try await amend(id) { amendment in
            amendment.add([Sample.artifact("proof-\(id)")], proving: [Sample.proof(id)])
            for purchase in purchases {
                amendment.add(
                    [Sample.artifact("purchase-\(purchase)", .transaction)], purchases: [Sample.purchase(purchase)])
            }
            if let policy { amendment.promise(Sample.promise(to: id, policy: policy)) }
        }
    }

    func act(
        _ act: CustomerAct, on customer: Customer, actor: String = "ada", reason: String? = nil, request: String? = nil
    ) async throws -> ActOutcome {
        try await perform(
            RequestedAct(act, actor: actor, reason: reason, at: Sample.now, request: request),
            on: .publicID(customer.publicID), by: Sample.rederivation)
    }

    func present(_ customer: Customer) async throws -> Customer {
        try unwrap(try await self.customer(customer.id), "the customer")
    }
}

extension ActOutcome {
    var isNew: Bool {
        if case .done(_, let isNew) = self { isNew } else { false }
    }

    var refusal: Refusal? {
        if case .refused(let refusal) = self { refusal } else { nil }
    }
}
