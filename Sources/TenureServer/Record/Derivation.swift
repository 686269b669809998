import Foundation
package import TenureAppStore
import TenureCore
package import TenureStore

/// What a customer's ledger proves, derived from it alone: each artifact and notification is verified anew, as on the day it came.
///
/// The record keeps the result beside the customer; this is how it is rebuilt, and how it is checked.
package struct Derivation: Sendable {
    package let verifier: AppStoreVerifier

    package init(verifier: AppStoreVerifier) {
        self.verifier = verifier
    }

    /// Throws `damaged`, naming the artifact, where one does not verify any more: its bytes were changed, or it was
    /// signed under an anchor that is not configured here.
    package func facts(of ledger: CustomerRows) throws(StoreError) -> CustomerFacts {
        var facts = try facts(
            of: ledger.artifacts, ledger.notifications, of: ledger.customer.publicID)
        facts.add(ledger.promises)
        for support in ledger.support { facts.add(support.grant) }
        facts.purchasesAreComplete = ledger.purchasesAreComplete
        facts.isUnbound = ledger.isUnbound
        return facts
    }

    /// Throws as above.
    private func facts(
        of artifacts: [(artifact: Artifact, receivedAt: Date)],
        _ notifications: [(notification: StoredNotification, receivedAt: Date)], of publicID: String
    ) throws(StoreError) -> CustomerFacts {
        var proven = Proven()
        for (index, entry) in artifacts.enumerated() {
            do throws(Rejection) {
                try add(entry.artifact, receivedAt: entry.receivedAt, to: &proven)
            } catch {
                throw .damaged(
                    """
                    artifact \(index + 1) (\(entry.artifact.kind)) of \(publicID) does not verify: \
                    \(error.detail)
                    """)
            }
        }
        for entry in notifications {
            do throws(Rejection) {
                let contents = try NotificationContents(
                    entry.notification, receivedAt: entry.receivedAt, by: verifier)
                proven.proofs += contents.proofs
                proven.purchases += contents.purchases
                proven.renewals += contents.renewals
            } catch {
                throw .damaged(
                    """
                    notification \(entry.notification.uuid) of \(publicID) does not verify: \
                    \(error.detail)
                    """)
            }
        }
        return proven.facts
    }

    /// What single entries prove. Facts are made of it once: each addition to facts costs as much as all that is known.
    private struct Proven {
        var proofs: [AppProof] = []
        var purchases: [Purchase] = []
        var renewals: [Renewal] = []

        var facts: CustomerFacts {
            var facts = CustomerFacts()
            facts.add(proofs)
            facts.add(purchases)
            facts.add(renewals)
            return facts
        }
    }

    /// For those who part again: what the entries of all who are one with a customer prove, verified page by page, before
    /// anybody has to wait for it.
    package func rederivation(of customer: CustomerName, in store: Store) async throws(StoreError) -> Rederivation {
        var rederivation = rederivation
        for member in try await store.read({ try $0.members(of: customer) }) {
            var pages: [CustomerFacts] = []
            var end = SignedEntries.Position()
            while let entries = try await store.read({ [end] in
                try $0.signedEntries(of: member, after: end, limit: Rederivation.pageSize)
            }),
                !entries.isEmpty
            {
                pages.append(try rederivation.prove(entries))
                end = entries.end
                await Task.yield()
            }
            rederivation.proven[member, default: Rederivation.Proven()].add(pages, upTo: end)
        }
        return rederivation
    }

    /// Without anything known beforehand.
    package var rederivation: Rederivation {
        Rederivation { entries throws(StoreError) in
            try facts(of: entries.artifacts, entries.notifications, of: entries.publicID)
        }
    }

    private func add(_ artifact: Artifact, receivedAt: Date, to proven: inout Proven) throws(Rejection) {
        switch artifact.kind {
        case .appTransaction:
            // Whatever door it came through, it was let in there.
            let verified = try verifier.verifyAppTransaction(artifact.bytes, from: .appStoreServer, now: receivedAt)
            proven.proofs.append(verified.proof)
        case .transaction:
            proven.purchases.append(try verifier.verifyTransaction(artifact.bytes, now: receivedAt).purchase)
        case .renewalInfo:
            proven.renewals.append(try verifier.verifyRenewalInfo(artifact.bytes, now: receivedAt).renewal)
        case .receipt:
            let verified = try verifier.verifyReceipt(artifact.bytes, now: receivedAt)
            proven.proofs.append(verified.proof)
            proven.purchases += verified.purchases
        }
    }
}
