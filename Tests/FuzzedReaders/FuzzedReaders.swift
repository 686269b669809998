public import Foundation
import LocalAppStore
import Tenure
public import TenureCore
import TenurePolicyFile
import TenureServer
import TenureStore

/// Readers of untrusted bytes that only this package sees, for `Fuzz`, which is a package of its own.
///
/// Each ends in a trap where what it read does not survive being written.
public enum FuzzedReaders {
    /// What the record holds of a customer.
    public static func facts(_ input: [UInt8]) {
        guard let facts = try? CustomerFacts(decoding: input) else { return }
        // By their bytes: a date that is no number is not equal to itself.
        let written = facts.encoded
        guard let again = try? CustomerFacts(decoding: written), again.encoded == written else {
            fatalError("facts do not survive being written")
        }
    }

    /// Sound ones.
    public static func facts(
        of proofs: [AppProof], _ purchases: [Purchase], _ renewals: [Renewal]
    ) -> [UInt8] {
        var facts = CustomerFacts()
        facts.add(proofs)
        facts.add(purchases)
        facts.add(renewals)
        facts.add(SupportAct(.grant, of: "everything", date: Date(timeIntervalSince1970: 1_795_176_000)))
        facts.purchasesAreComplete = true
        return facts.encoded
    }

    /// The body of `POST /v1/sync`.
    public static func sync(_ input: [UInt8]) {
        let limits = ServiceConfiguration(databasePath: "", policy: policy).limits
        guard let request = try? SyncRequest(reading: Data(input), limits: limits) else { return }
        guard request.transactions?.count ?? 0 <= limits.transactions,
            request.renewalInfos?.count ?? 0 <= limits.renewalInfos
        else { fatalError("a request beyond its limits was read") }
        _ = try? ClaimedDevice(of: request)
    }

    /// A policy as an app bundles it: JSON, strictly.
    public static func compiledPolicy(_ input: [UInt8]) {
        guard let policy = try? Policy.compiled(Data(input)) else { return }
        let written = PolicyFile.compile(policy)
        guard let again = try? Policy.compiled(Data(written)), again == policy else {
            fatalError("a policy does not survive being compiled")
        }
    }

    public static func scenario(_ input: [UInt8]) {
        _ = try? ScenarioReader.read(input, named: "scenario.yaml")
    }

    private static let policy: Policy = {
        do {
            return try Policy(
                app: Policy.App(bundleID: "com.example.calculator", appleID: 828_838_134),
                eras: [Era(name: "paid", model: .paid)],
                entitlements: [Entitlement(name: "everything", honours: [Honour(era: "paid")])])
        } catch {
            fatalError("the policy of the fuzzers is none: \(error)")
        }
    }()
}
