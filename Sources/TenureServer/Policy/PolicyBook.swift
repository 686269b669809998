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
    private let policies: RecordedPolicies
    private let store: any Store

    /// By what a policy is known: the hash of its compiled form.
    static func digest(of policy: Policy) -> [UInt8] { digest(of: PolicyFile.compile(policy)) }

    private static func digest(of compiled: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: compiled)) }

    /// Records the policy, once however often the service starts with it.
    init(_ policy: Policy, in store: any Store, at now: Date) async throws(ServiceError) {
        let compiled = PolicyFile.compile(policy)
        let digest = Self.digest(of: compiled)
        let recorded: [RecordedPolicy]
        do {
            recorded = try await store.record(policy: compiled, sha256: digest, at: now)
        } catch {
            throw ServiceError(error)
        }
        guard let currentVersion = recorded.first(where: { $0.sha256 == digest })?.version else {
            throw .record("the record did not keep the policy")
        }
        current = policy
        self.currentVersion = currentVersion
        self.store = store
        policies = RecordedPolicies([currentVersion: policy])
        try policies.add(recorded)
    }

    /// Runs `body`, and once more where another process has recorded a policy that it rests on since this one looked.
    ///
    /// `body` must be such that a second run adds nothing to a first.
    func upToDate<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let problem as Problem where problem == Self.unknownVersion {
            try policies.add(try await store.policies())
            return try await body()
        }
    }

    /// Whether this process has seen all versions on which these rest.
    func know(_ promises: [RecordedPromise]) -> Bool {
        promises.allSatisfy { policies[$0.policyVersion] != nil }
    }

    private static let unknownVersion = Problem(
        .busy, "a promise rests on a policy that another process recorded just now; try again", retryAfter: 1)

    /// Throws a problem where a promise rests on a version that another process recorded since; see `upToDate`.
    func promises(_ recorded: [RecordedPromise]) throws(Problem) -> [Promise] {
        var promises: [Promise] = []
        for promise in recorded {
            guard let policy = policies[promise.policyVersion] else {
                throw Self.unknownVersion
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

    /// Decides on what an act leaves, and adds the promises that follow to it.
    func decide(
        _ amendment: inout Amendment, in environment: AppStoreEnvironment, at now: Date
    ) throws(Problem) -> (evidence: Evidence, decisions: [Decision]) {
        let evidence = amendment.facts.evidence(in: environment)
        let decisions = try decide(amendment.facts, evidence, at: now)
        amendment.promise(decisions.flatMap { promises(of: $0, at: now) })
        return (evidence, decisions)
    }
}

/// All versions of the policy that this process has seen. They never change; other processes add to them.
private final class RecordedPolicies: @unchecked Sendable {
    // Sound: `policies` is touched between `lock.lock()` and `lock.unlock()` only.
    private let lock = NSLock()
    private var policies: [Int64: Policy]

    init(_ policies: [Int64: Policy]) {
        self.policies = policies
    }

    subscript(version: Int64) -> Policy? {
        lock.lock()
        defer { lock.unlock() }
        return policies[version]
    }

    func add(_ recorded: [RecordedPolicy]) throws(ServiceError) {
        for version in recorded where self[version.version] == nil {
            let policy: Policy
            do {
                policy = try PolicyFile.read(
                    version.compiled, named: "policy \(version.version) of the record")
            } catch {
                throw .brokenPolicy(error.mistakes.map(\.description))
            }
            lock.lock()
            policies[version.version] = policy
            lock.unlock()
        }
    }
}
