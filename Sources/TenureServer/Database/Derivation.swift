import Foundation
import TenureAppStore
import TenureCore
import TenurePolicyFile
import TenureStore

/// Derives a customer's facts from their rows in the database. The derivation verifies each artifact and notification
/// again, as of the time at which it was received.
///
/// The database also stores the facts themselves, with the customer, for fast decisions. `tenure database check`,
/// `tenure database rebuild` and undone merges compute the facts again with this type.
struct Derivation: Sendable {
    let verifier: AppStoreVerifier

    /// Returns the customer's facts. Throws `damaged` if an artifact or notification can't be verified, because its
    /// bytes were changed, or because the verifier doesn't have its trust anchor.
    func facts(of rows: CustomerRows) throws(StoreError) -> CustomerFacts {
        var facts = try facts(of: rows.artifacts, rows.notifications, ofCustomer: rows.customer.publicID)
        facts.add(rows.promises)
        for support in rows.support { facts.add(support.grant) }
        facts.purchasesAreComplete = rows.purchasesAreComplete
        facts.isUnbound = rows.isUnbound
        // If a member (a customer who was merged into this one, or the customer itself) has the maximum number of
        // artifacts, the database stores only the facts of further artifacts. So the stored facts are added.
        if rows.isFull { facts.add(rows.customer.facts) }
        return facts
    }

    /// Returns the facts that artifacts and notifications prove. Throws `damaged` if one of them can't be verified.
    private func facts(
        of artifacts: [(artifact: Artifact, receivedAt: Date)],
        _ notifications: [(notification: StoredNotification, receivedAt: Date)], ofCustomer publicID: String
    ) throws(StoreError) -> CustomerFacts {
        var proven = ProvenArtifacts()
        for (index, entry) in artifacts.enumerated() {
            do throws(Rejection) {
                try add(entry.artifact, receivedAt: entry.receivedAt, to: &proven)
            } catch {
                throw .damaged(
                    "artifact \(index + 1) (\(entry.artifact.kind)) of \(publicID) can't be verified: \(error.detail)")
            }
        }
        for entry in notifications {
            do throws(Rejection) {
                let contents = try NotificationContents(
                    entry.notification, receivedAt: entry.receivedAt, verifiedBy: verifier
                ).proven
                proven.proofs += contents.proofs
                proven.purchases += contents.purchases
                proven.renewals += contents.renewals
            } catch {
                throw .damaged(
                    "notification \(entry.notification.uuid) of \(publicID) can't be verified: \(error.detail)")
            }
        }
        return proven.facts
    }

    /// Returns a `Rederivation` of a merged customer, which computes the facts of each member when they are separated
    /// again. A member is a customer who was merged into this customer, or the customer itself.
    ///
    /// This function verifies the artifacts and notifications of all members in advance, page by page, because other
    /// requests wait for the transaction that separates the members. That transaction then verifies only what arrived
    /// later.
    func rederivation(of customer: CustomerName, in store: Store) async throws(StoreError) -> Rederivation {
        var rederivation = rederivation
        for member in try await store.read({ try $0.members(of: customer) }) {
            var pages: [CustomerFacts] = []
            var end = SignedEntries.Position()
            while let entries = try await store.read({ [end] in
                try $0.signedEntries(of: member, after: end, limit: Rederivation.pageSize)
            }), !entries.isEmpty {
                pages.append(try rederivation.prove(entries))
                end = entries.end
                await Task.yield()
            }
            rederivation.provenFacts[member, default: Rederivation.ProvenFacts()].add(pages, upTo: end)
        }
        return rederivation
    }

    /// A `Rederivation` for which nothing was verified in advance: the transaction that separates members verifies
    /// their artifacts and notifications.
    var rederivation: Rederivation {
        Rederivation { entries throws(StoreError) in
            try facts(of: entries.artifacts, entries.notifications, ofCustomer: entries.publicID)
        }
    }

    /// Verifies an artifact, and adds what it proves.
    private func add(_ artifact: Artifact, receivedAt: Date, to proven: inout ProvenArtifacts) throws(Rejection) {
        switch artifact.kind {
        case .appTransaction:
            // The service rejects an app transaction without a device hash if a client sends it, and accepts it from
            // the App Store's server. A stored app transaction was accepted when it was received, so it's verified as
            // if the server had sent it.
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

extension Derivation {
    /// Creates the derivation for a database, under the given trust anchors. Artifacts must be signed for the app in
    /// the last policy that can be read.
    init(trust: TrustConfiguration, policies: [StoredPolicy]) {
        let app = policies.reversed().lazy.compactMap { try? PolicyFile.read($0.compiled, named: "policy").app }.first
        self.init(
            verifier: AppStoreVerifier(
                app: AppIdentity(bundleID: app?.bundleID, appAppleID: app?.appleID), trust: trust))
    }
}
