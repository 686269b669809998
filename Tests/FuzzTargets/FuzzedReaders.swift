import Foundation
import TenureAPI
public import TenureCore
import TenureStore

/// Readers of untrusted bytes. Each traps if what it read doesn't survive being written.
public enum FuzzedReaders {
    /// The facts of a customer, as the database stores them.
    public static func facts(_ input: [UInt8]) {
        guard let facts = try? CustomerFacts(decoding: input) else { return }
        // Compares the bytes, because a date that isn't a number is not equal to itself.
        let written = facts.encoded
        guard let again = try? CustomerFacts(decoding: written), again.encoded == written else {
            fatalError("facts do not survive being written")
        }
    }

    /// Valid facts of a customer, as the database stores them.
    public static func facts(
        of proofs: [AppProof], _ purchases: [Purchase], _ renewals: [Renewal]
    ) -> [UInt8] {
        var facts = CustomerFacts()
        facts.add(proofs)
        facts.add(purchases)
        facts.add(renewals)
        facts.add(SupportGrant(.grant, of: "everything", date: Date(timeIntervalSince1970: 1_795_176_000)))
        facts.purchasesAreComplete = true
        return facts.encoded
    }

    /// The body of `POST /v1/sync`.
    public static func sync(_ input: [UInt8]) {
        guard let request = try? SyncRequest(reading: Data(input), limits: (transactions: 4, renewalInfos: 2)) else {
            return
        }
        guard request.transactions?.count ?? 0 <= 4, request.renewalInfos?.count ?? 0 <= 2 else {
            fatalError("a request beyond its limits was read")
        }
        _ = try? ClaimedDevice(of: request)
    }
}
