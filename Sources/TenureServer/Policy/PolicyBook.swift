import Crypto
import Foundation
import TenureAPI
import TenureCore
import TenurePolicyFile
import TenureStore

/// The policy that decides now, and every earlier version by which promises are judged.
struct PolicyBook: Sendable {
    let current: Policy
    let currentVersion: Int64
    private let policies: [Int64: Policy]

    /// By what a policy is known: the hash of its compiled form.
    static func digest(of policy: Policy) -> [UInt8] {
        Array(SHA256.hash(data: PolicyFile.compile(policy)))
    }

    /// Records the policy, once however often the service starts with it.
    init(_ policy: Policy, in store: any Store, at now: Date) async throws(ServiceError) {
        let compiled = PolicyFile.compile(policy)
        let digest = Array(SHA256.hash(data: compiled))
        let recorded: [RecordedPolicy]
        do {
            recorded = try await store.record(policy: compiled, sha256: digest, at: now)
        } catch {
            throw ServiceError(error)
        }
        var policies: [Int64: Policy] = [:]
        var currentVersion: Int64?
        for version in recorded {
            if version.sha256 == digest {
                policies[version.version] = policy
                currentVersion = version.version
                continue
            }
            do {
                policies[version.version] = try PolicyFile.read(
                    version.compiled, named: "policy \(version.version) of the record")
            } catch {
                throw .brokenPolicy(error.mistakes.map(\.description))
            }
        }
        guard let currentVersion else { throw .record("the record did not keep the policy") }
        current = policy
        self.currentVersion = currentVersion
        self.policies = policies
    }

    /// Throws a problem where a promise rests on a version that another process recorded after this one started.
    func promises(_ recorded: [RecordedPromise]) throws(Problem) -> [Promise] {
        var promises: [Promise] = []
        for promise in recorded {
            guard let policy = policies[promise.policyVersion] else {
                throw Problem(.internalError, "a promise rests on a policy that this process does not know; restart it")
            }
            promises.append(
                Promise(
                    entitlement: promise.entitlement, acquisition: promise.acquisition, policy: policy,
                    until: promise.until))
        }
        return promises
    }

    /// What a decision under the present policy promises.
    func promises(of decision: Decision, at now: Date) -> [RecordedPromise] {
        decision.eraRights.map {
            RecordedPromise(
                entitlement: decision.entitlement, acquisition: $0.acquisition, policyVersion: currentVersion,
                until: $0.until, recordedAt: now)
        }
    }

    func decide(_ facts: CustomerFacts, _ evidence: Evidence, at now: Date) throws(Problem) -> [Decision] {
        TenureCore.decide(evidence, promises: try promises(facts.promises), under: current, at: now)
    }
}
