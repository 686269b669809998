import Foundation
import TenureCore
import TenureStore

extension Sample {
    /// Derives facts from the rows that `bring` wrote. The sample artifacts contain their facts in plain text.
    @Sendable static func facts(of transaction: CustomerRows) throws(StoreError) -> CustomerFacts {
        var facts = try proven(by: transaction.artifacts.map(\.artifact))
        facts.add(transaction.promises)
        for support in transaction.support { facts.add(support.grant) }
        facts.purchasesAreComplete = transaction.purchasesAreComplete
        facts.isUnbound = transaction.isUnbound
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

    static func promise(to id: String, policy: Int64) -> StoredPromise {
        StoredPromise(
            entitlement: "everything",
            acquisition: AcquisitionKey(
                appTransactionID: id, downloadID: nil, originalPurchaseDate: Date(timeIntervalSince1970: 1_400_000_000)
            ),
            policyVersion: policy, until: nil, recordedAt: now)
    }
}

extension Store {
    /// Writes what a sync of one acquisition writes: its proof, some purchases, and perhaps a promise.
    func bring(_ id: String, purchases: [String] = [], promisedUnder policy: Int64? = nil) async throws -> Customer {
        try await update(id) { update in
            update.add([Sample.artifact("proof-\(id)")], proving: [Sample.proof(id)])
            for purchase in purchases {
                update.add(
                    [Sample.artifact("purchase-\(purchase)", .transaction)], purchases: [Sample.purchase(purchase)])
            }
            if let policy { update.promise(Sample.promise(to: id, policy: policy)) }
        }
    }

    func change(
        _ change: CustomerChange, on customer: Customer, actor: String = "ada", reason: String? = nil,
        request: String? = nil
    ) async throws -> ChangeOutcome {
        try await perform(
            RequestedChange(change, actor: actor, reason: reason, at: Sample.now, request: request),
            on: .publicID(customer.publicID), using: Sample.rederivation)
    }

    func present(_ customer: Customer) async throws -> Customer {
        try unwrap(try await lookUp(customer.id), "the customer")
    }
}

extension ChangeOutcome {
    var isNew: Bool {
        if case .done(_, let isNew) = self { isNew } else { false }
    }

    var refusal: Refusal? {
        if case .refused(let refusal) = self { refusal } else { nil }
    }
}
