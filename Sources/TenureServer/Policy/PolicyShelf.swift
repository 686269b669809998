import Foundation
import TenureCore
import TenurePolicyFile
import TenureStore

/// All versions of the policy that this process has seen, and which of them decides, as far as it knows.
///
/// Versions never change; other processes add to them, and publish.
final class PolicyShelf: @unchecked Sendable {
    // Sound: the three variables are touched between `lock.lock()` and `lock.unlock()` only.
    private let lock = NSLock()
    private var policies: [Int64: Policy] = [:]
    private var latest: PolicyBook.Present
    private var asked: ContinuousClock.Instant

    init(_ present: PolicyBook.Present, asked: ContinuousClock.Instant) {
        latest = present
        self.asked = asked
        policies[present.version] = present.policy
    }

    var present: PolicyBook.Present {
        lock.lock()
        defer { lock.unlock() }
        return latest
    }

    /// When the record was last asked what decides.
    var lastAsked: ContinuousClock.Instant {
        lock.lock()
        defer { lock.unlock() }
        return asked
    }

    subscript(version: Int64) -> Policy? {
        lock.lock()
        defer { lock.unlock() }
        return policies[version]
    }

    /// What the record said when it was asked at that instant. An answer that was overtaken changes nothing.
    func adopt(_ present: PolicyBook.Present?, asked: ContinuousClock.Instant) {
        lock.lock()
        defer { lock.unlock() }
        if let present, present.publication > latest.publication {
            // The version as it was read first, so that it is one value for promises and for what decides.
            latest = present.deciding(by: policies[present.version] ?? present.policy)
        }
        self.asked = max(self.asked, asked)
    }

    func add(_ recorded: [RecordedPolicy]) throws(ServiceError) {
        for version in recorded where self[version.version] == nil {
            let policy = try version.read()
            lock.lock()
            policies[version.version] = policy
            lock.unlock()
        }
    }
}

extension RecordedPolicy {
    /// Throws `brokenPolicy` with every mistake.
    func read() throws(ServiceError) -> Policy {
        do {
            return try PolicyFile.read(compiled, named: "policy \(version) of the record")
        } catch {
            throw .brokenPolicy(error.mistakes.map(\.description))
        }
    }
}
