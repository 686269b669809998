import Foundation
import TenureCore
import TenurePolicyFile
import TenureStore

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
    /// policy stored here was still in effect. A publication older than the stored one changes nothing, because the
    /// database's responses may arrive in any order.
    func updateInEffect(_ inEffect: ActivePolicy.InEffect?, askedAt: ContinuousClock.Instant) {
        state.withLock { state in
            if let inEffect, inEffect.publication > state.latest.publication {
                // Uses the policy that was read first, so that promises and decisions share one value.
                state.latest = inEffect.with(state.policies[inEffect.version] ?? inEffect.policy)
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
