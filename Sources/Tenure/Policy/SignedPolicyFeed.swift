import Foundation
package import TenureCore
import TenurePolicyFile

/// The newest signed policy, refreshed from a web server and stored for the next start.
package actor SignedPolicyFeed {
    private let url: URL
    private let cache: PolicyCache
    private let fetcher: any PolicyFetcher
    private var hand: CurrentPolicy

    /// The bundled policy, which holds until `restore()` or `refresh()` finds a newer one.
    nonisolated let initial: Policy

    /// - Throws: if the bundled policy can't be read; see `CurrentPolicy`.
    init(
        url: URL, keys: [PinnedKey], bundled: Data, cache: PolicyCache,
        fetcher: any PolicyFetcher = HTTPPolicyFetcher()
    ) throws(SignedPolicyError) {
        self.url = url
        self.cache = cache
        self.fetcher = fetcher
        hand = try CurrentPolicy(bundled: bundled, keys: keys, kept: nil)
        initial = hand.policy
    }

    /// Reads what an earlier start stored. Blocks, unlike `init`.
    func restore() -> Policy {
        if hand.kept == nil, let kept = cache.read() { hand.restore(kept) }
        return hand.policy
    }

    package var policy: Policy { hand.policy }
    var counter: Int64? { hand.counter }

    /// Asks the server once. Afterward `policy` is as before, or newer.
    package func refresh() async -> PolicyRefresh {
        let answer: PolicyAnswer
        do throws(PolicyFetchError) {
            answer = try await fetcher.fetch(url, unlessTagged: hand.tag)
        } catch {
            return .failed(error)
        }
        guard case .text(let text, let tag) = answer else { return .unchanged }
        let before = hand.kept
        let result = hand.take(text, tag: tag)
        if let kept = hand.kept, kept != before { cache.write(kept) }
        return result
    }
}
