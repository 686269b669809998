import Foundation
import TenureCore
import TenurePolicyFile
import Testing

@testable import Tenure

/// The policy that an app uses if web servers, proxies and files have different ones.
@Suite struct CurrentPolicyTests {
    private let signer = PolicySigner()

    private func currentPolicy(cached: CachedPolicy? = nil, bundled: SignedPolicy? = nil) throws -> CurrentPolicy {
        let data =
            try bundled.map { Data($0.text.utf8) } ?? Data(PolicyFile.compile(PolicySigner.policy(build: "119")))
        return try CurrentPolicy(bundled: data, keys: [signer.pin], cached: cached)
    }

    private func text(build: String, counter: Int64) throws -> Data {
        Data(try signer.sign(PolicySigner.policy(build: build), counter: counter).text.utf8)
    }

    @Test func `a newer signed policy replaces the bundled policy, and is still used at the next start`() throws {
        var current = try currentPolicy()
        #expect(current.policy == (try PolicySigner.policy(build: "119")) && current.counter == nil)
        #expect(current.update(with: try text(build: "120", counter: 5), tag: "\"a\"") == .updated(counter: 5))
        #expect(current.policy == (try PolicySigner.policy(build: "120")))

        let next = try self.currentPolicy(cached: current.cachedPolicy)
        #expect(next.policy == current.policy && next.counter == 5 && next.tag == "\"a\"")
    }

    @Test func `a replayed older policy is refused with a reason`() throws {
        var current = try currentPolicy()
        let old = try text(build: "100", counter: 4)
        #expect(current.update(with: old, tag: nil) == .updated(counter: 4))
        #expect(current.update(with: try text(build: "120", counter: 5), tag: nil) == .updated(counter: 5))

        let answer = current.update(with: old, tag: nil)
        #expect(answer == .refused(.older(counter: 4, known: 5)))
        guard case .refused(let error) = answer else { return }
        #expect(error.description.contains("lower than the known counter 5"))
        #expect(current.policy == (try PolicySigner.policy(build: "120")) && current.cachedPolicy?.highestCounter == 5)

        // Also after a restart, and if only the counter survived.
        var next = try self.currentPolicy(cached: current.cachedPolicy)
        #expect(next.update(with: old, tag: nil) == .refused(.older(counter: 4, known: 5)))
        var damaged = try self.currentPolicy(cached: CachedPolicy(text: "gone", tag: "\"a\"", highestCounter: 5))
        #expect(damaged.tag == nil)
        #expect(damaged.update(with: old, tag: nil) == .refused(.older(counter: 4, known: 5)))
        #expect(damaged.update(with: try text(build: "120", counter: 5), tag: nil) == .updated(counter: 5))
    }

    @Test func `a policy that a proxy signed with its own key is refused, and the stored policy stays`() throws {
        var current = try currentPolicy()
        #expect(current.update(with: try text(build: "120", counter: 5), tag: nil) == .updated(counter: 5))
        let proxy = PolicySigner()
        let forged = try proxy.sign(PolicySigner.policy(build: "9999"), counter: 6)
        #expect(current.update(with: Data(forged.text.utf8), tag: nil) == .refused(.wrongSignature))
        // An unsigned policy, and a login page.
        let plain = Data(PolicyFile.compile(try PolicySigner.policy(build: "9999")))
        for text in [plain, Data("<html>".utf8), Data()] {
            guard case .refused = current.update(with: text, tag: nil) else {
                Issue.record("updated")
                return
            }
        }
        #expect(current.policy == (try PolicySigner.policy(build: "120")) && current.counter == 5)
    }

    @Test func `a different signed policy with the same counter is refused`() throws {
        var current = try currentPolicy()
        #expect(current.update(with: try text(build: "120", counter: 5), tag: nil) == .updated(counter: 5))
        #expect(current.update(with: try text(build: "130", counter: 5), tag: nil) == .refused(.sameCounter(5)))
        // The same policy, signed again, has another text.
        let again = try text(build: "120", counter: 5)
        #expect(current.update(with: again, tag: "\"b\"") == .unchanged)
        #expect(current.tag == "\"b\"")
    }

    @Test func `a newer policy in an update of the app replaces the policy that was fetched before`() throws {
        let bundled = try signer.sign(PolicySigner.policy(build: "130"), counter: 8)
        var current = try currentPolicy()
        #expect(current.update(with: try text(build: "120", counter: 5), tag: nil) == .updated(counter: 5))
        var updated = try self.currentPolicy(cached: current.cachedPolicy, bundled: bundled)
        #expect(updated.policy == bundled.policy && updated.counter == 8)
        #expect(updated.tag == nil)
        #expect(
            updated.update(with: try text(build: "120", counter: 5), tag: nil) == .refused(.older(counter: 5, known: 8))
        )
    }

    @Test func `a forged or foreign policy in the cache is ignored`() throws {
        let other = PolicySigner()
        let forged = try other.sign(PolicySigner.policy(build: "9999"), counter: 9)
        let foreign = try signer.sign(PolicySigner.policy(build: "9999", bundleID: "com.example.planner"), counter: 9)
        for text in [forged.text, foreign.text, "", "a.b.c"] {
            let current = try currentPolicy(cached: CachedPolicy(text: text, tag: "\"x\"", highestCounter: 0))
            #expect(current.policy == (try PolicySigner.policy(build: "119")) && current.tag == nil)
        }
    }

    @Test func `a compiled policy that is bundled after spaces and empty lines is read`() throws {
        let policy = try PolicySigner.policy(build: "119")
        let bundled = Data(" \r\n\t".utf8) + Data(PolicyFile.compile(policy))
        #expect(try CurrentPolicy(bundled: bundled, keys: [signer.pin], cached: nil).policy == policy)
    }

    @Test func `an invalid bundled policy is reported at the first start`() throws {
        let stranger = try PolicySigner().sign(PolicySigner.policy(), counter: 1)
        for bundled in [Data(), Data("{}".utf8), Data("app: {}".utf8), Data(stranger.text.utf8)] {
            #expect(throws: SignedPolicyError.self) {
                try CurrentPolicy(bundled: bundled, keys: [signer.pin], cached: nil)
            }
        }
    }
}
