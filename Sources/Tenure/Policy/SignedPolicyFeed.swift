import Foundation
import TenureCore
import TenurePolicyFile

/// The newest signed policy, refreshed from a web server and stored for the next start.
actor SignedPolicyFeed {
    private let url: URL
    private let cache: PolicyCache
    private let fetcher: any PolicyFetcher
    private var current: CurrentPolicy

    /// The bundled policy, which is used until `restore()` or `refresh()` finds a newer policy.
    nonisolated let bundledPolicy: Policy

    /// - Throws: if the bundled policy can't be read; see `CurrentPolicy`.
    init(
        url: URL, keys: [PinnedKey], bundled: Data, cache: PolicyCache,
        fetcher: any PolicyFetcher = HTTPPolicyFetcher()
    ) throws(SignedPolicyError) {
        self.url = url
        self.cache = cache
        self.fetcher = fetcher
        current = try CurrentPolicy(bundled: bundled, keys: keys, cached: nil)
        bundledPolicy = current.policy
    }

    /// Reads the policy that an earlier start stored. Unlike `init`, this method reads a file.
    func restore() -> Policy {
        if current.cachedPolicy == nil, let cached = cache.read() { current.restore(cached) }
        return current.policy
    }

    var policy: Policy { current.policy }
    var counter: Int64? { current.counter }

    /// Fetches the policy from the server once, and uses it if it is newer.
    func refresh() async -> PolicyRefresh {
        let answer: PolicyAnswer
        do throws(PolicyFetchError) {
            answer = try await fetcher.fetch(url, unlessTagged: current.tag)
        } catch {
            return .failed(error)
        }
        guard case .text(let text, let tag) = answer else { return .unchanged }
        let before = current.cachedPolicy
        let result = current.update(with: text, tag: tag)
        if let cached = current.cachedPolicy, cached != before { cache.write(cached) }
        return result
    }
}
