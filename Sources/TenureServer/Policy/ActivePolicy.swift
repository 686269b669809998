import Crypto
import Foundation
import TenureAPI
import TenureCore
import TenurePolicyFile
import TenureStore

/// Decides under the policy in effect. Also knows every earlier version of the policy that a promise refers to. A
/// promise is a right that a version of the policy gave to a customer, stored so that later versions can't take it.
///
/// The policy in effect is the last policy that any process published in the database. This process reads the policy
/// again when its copy may be too old.
struct ActivePolicy: Sendable {
    /// The policy in effect and its version as one value, so that a decision never mixes two policies.
    struct InEffect: Sendable {
        /// The number of the publication that put the policy into effect. A version may be published several times.
        let publication: Int64
        /// The number of the policy's version.
        let version: Int64
        /// The SHA-256 of the compiled policy, which identifies the policy.
        let sha256: [UInt8]
        fileprivate(set) var policy: Policy
    }

    private let versions: PolicyVersions
    private let store: Store
    /// How long `refresh` trusts the copy of the policy in effect. So a request that only reads may miss for this long
    /// that another process published a policy. Transactions that write notice it immediately.
    private let staleness: Swift.Duration

    static let defaultStaleness = Swift.Duration.seconds(1)

    /// The policy in effect, as far as this process knows.
    var inEffect: InEffect { versions.inEffect }
    var current: Policy { inEffect.policy }
    var currentVersion: Int64 { inEffect.version }

    /// The SHA-256 of the compiled policy, which identifies the policy.
    static func digest(of policy: Policy) -> [UInt8] { digest(of: PolicyFile.compile(policy)) }

    /// The SHA-256 of a compiled policy.
    static func digest(of compiled: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: compiled)) }

    /// Publishes `policy` if the database has no policy yet. Otherwise, the last published policy stays in effect.
    /// Throws if a policy has mistakes, or if the database fails.
    init(
        _ policy: Policy, in store: Store, at now: Date, staleness: Swift.Duration = Self.defaultStaleness
    ) async throws(ServiceError) {
        let compiled: [UInt8]
        do throws(PolicyFileError) {
            // The database keeps versions permanently, so it must be possible to read each one again.
            compiled = try PolicyFile.compileChecked(policy, named: "policy")
        } catch {
            throw .brokenPolicy(error.mistakes.map(\.description))
        }
        self.store = store
        self.staleness = staleness
        let askedAt = ContinuousClock.now
        do {
            let publication = try await store.write(at: now, locking: [.policies]) {
                try $0.start(with: compiled, sha256: Self.digest(of: compiled))
            }
            let storedPolicies = try await store.read { try $0.policies() }
            versions = PolicyVersions(try Self.inEffect(publication, among: storedPolicies), askedAt: askedAt)
            try versions.add(storedPolicies)
        } catch {
            throw ServiceError(wrapping: error)
        }
    }

    /// Returns the policy of a publication.
    private static func inEffect(
        _ publication: StoredPublication, among storedPolicies: [StoredPolicy]
    ) throws(ServiceError) -> InEffect {
        guard let version = storedPolicies.first(where: { $0.version == publication.version }) else {
            throw .database("the database doesn't have the policy that it published last; restore it from a backup")
        }
        return InEffect(
            publication: publication.id, version: version.version, sha256: version.sha256, policy: try version.read())
    }

    /// Whether the database was last asked for the policy in effect less than `staleness` ago.
    var isFresh: Bool { ContinuousClock.now - versions.lastAsked < staleness }

    /// Asks the database for the policy in effect, unless this process asked less than `staleness` ago.
    func refresh() async throws { if !isFresh { try await refreshNow() } }

    /// Asks the database for the policy in effect.
    func refreshNow() async throws {
        let askedAt = ContinuousClock.now
        let publication = try await store.read { try $0.publication() }
        guard let publication, publication.id != versions.inEffect.publication else {
            return versions.updateInEffect(nil, askedAt: askedAt)
        }
        let storedPolicies = try await store.read { try $0.policies() }
        try versions.add(storedPolicies)
        versions.updateInEffect(try Self.inEffect(publication, among: storedPolicies), askedAt: askedAt)
    }

    /// Runs `body` under the policy in effect. Runs it again, at most three times, if another process published a
    /// policy in the meantime, or if a promise refers to a version that this process hasn't read yet.
    ///
    /// So running `body` several times must have the same effect as running it once.
    func upToDate<Value>(_ body: () async throws -> Value) async throws -> Value {
        try await refresh()
        for _ in 0..<3 {
            do {
                return try await body()
            } catch let problem as Problem where problem == Self.unknownVersion {
                try versions.add(try await store.read { try $0.policies() })
            } catch StoreError.policyChanged {
                try await refreshNow()
            }
        }
        return try await body()
    }

    /// Whether this process has read all versions to which these promises refer.
    func hasReadVersions(of promises: [StoredPromise]) -> Bool {
        promises.allSatisfy { versions[$0.policyVersion] != nil }
    }

    /// A promise refers to a version that this process hasn't read yet. `upToDate` recognizes this problem.
    private static let unknownVersion = Problem(
        .busy, "another process published a policy just now; try again", retryAfter: 1)

    /// Returns the promises with their policies. Throws a problem if a promise refers to a version that this process
    /// hasn't read yet; `upToDate` then reads the version and tries again.
    func promises(_ storedPromises: [StoredPromise]) throws(Problem) -> [Promise] {
        try storedPromises.map { promise throws(Problem) in
            guard let policy = versions[promise.policyVersion] else { throw Self.unknownVersion }
            return Promise(
                entitlement: promise.entitlement, acquisition: promise.acquisition, policy: policy,
                until: promise.until)
        }
    }

    /// Decides on a customer's facts and evidence under the given policy, or under the policy in effect if `inEffect`
    /// is nil. Throws if a promise refers to a version that this process hasn't read yet.
    func decide(
        _ facts: CustomerFacts, _ evidence: Evidence, under inEffect: InEffect? = nil, at now: Date
    ) throws(Problem) -> [Decision] {
        let policy = inEffect?.policy ?? current
        return TenureCore.decide(evidence, promises: try promises(facts.promises), under: policy, at: now)
    }

    /// Returns the promises that follow from a decision under the policy in effect.
    func promises(of decision: Decision, under inEffect: InEffect, at now: Date) -> [StoredPromise] {
        decision.eraRights.map {
            StoredPromise(
                entitlement: decision.entitlement, acquisition: $0.acquisition, policyVersion: inEffect.version,
                until: $0.until, recordedAt: now)
        }
    }

    /// Decides on the customer's facts after an update. Adds the promises that follow from the decisions, and the
    /// policy's version, to the update.
    func decide(
        _ update: inout CustomerUpdate, in environment: AppStoreEnvironment, at now: Date
    ) throws(Problem) -> (evidence: Evidence, decisions: [Decision]) {
        let inEffect = inEffect
        let evidence = update.facts.evidence(in: environment)
        var decisions = try decide(update.facts, evidence, under: inEffect, at: now)
        update.policyVersion = inEffect.version
        update.promise(decisions.flatMap { promises(of: $0, under: inEffect, at: now) })
        for index in decisions.indices { decisions[index].recordPromises() }
        return (evidence, decisions)
    }
}

/// The versions of the policy that this process has read, and the policy in effect as far as this process knows.
///
/// A version never changes. Other processes may add versions, and put other versions into effect.
final class PolicyVersions: Sendable {
    private let state: Locked<State>

    private struct State {
        /// The policies by their version.
        var policies: [Int64: Policy]
        /// The policy in effect when the database was asked last.
        var latest: ActivePolicy.InEffect
        /// The time at which the database was asked last.
        var askedAt: ContinuousClock.Instant
    }

    init(_ inEffect: ActivePolicy.InEffect, askedAt: ContinuousClock.Instant) {
        state = Locked(State(policies: [inEffect.version: inEffect.policy], latest: inEffect, askedAt: askedAt))
    }

    var inEffect: ActivePolicy.InEffect { state.withLock { $0.latest } }

    /// The time at which this process last asked the database which version is in effect.
    var lastAsked: ContinuousClock.Instant { state.withLock { $0.askedAt } }

    /// The policy of this version; nil if this process hasn't read the version.
    subscript(version: Int64) -> Policy? { state.withLock { $0.policies[version] } }

    /// Stores which policy was in effect when the database was asked at the instant `askedAt`. `inEffect` is nil if the
    /// policy stored here was still in effect. The database's responses may arrive in any order, so an older
    /// publication doesn't replace a newer one.
    func updateInEffect(_ inEffect: ActivePolicy.InEffect?, askedAt: ContinuousClock.Instant) {
        state.withLock { state in
            if let inEffect, inEffect.publication > state.latest.publication {
                state.latest = inEffect
                // Uses the policy that was read first, which is equal, so that promises and decisions share one value.
                if let policy = state.policies[inEffect.version] { state.latest.policy = policy }
            }
            state.askedAt = max(state.askedAt, askedAt)
        }
    }

    /// Reads and stores the versions that this process hasn't read yet.
    func add(_ storedPolicies: [StoredPolicy]) throws(ServiceError) {
        for version in storedPolicies where self[version.version] == nil {
            let policy = try version.read()
            state.withLock { $0.policies[version.version] = policy }
        }
    }
}

extension StoredPolicy {
    /// Reads the policy. Throws `brokenPolicy` with every mistake.
    func read() throws(ServiceError) -> Policy {
        do {
            return try PolicyFile.read(compiled, named: "policy \(version) of the database")
        } catch {
            throw .brokenPolicy(error.mistakes.map(\.description))
        }
    }
}
