package import Foundation
package import TenureCore
package import TenurePolicyFile

/// The policy on hand, kept up to date from a web server and kept for the next start.
package actor SignedPolicyFeed {
    private let url: URL
    private let shelf: any PolicyShelf
    private let fetcher: any PolicyFetcher
    private var hand: PolicyOnHand

    /// What holds from the first moment on, before anybody could be asked.
    package nonisolated let initial: Policy

    /// - Throws: where the bundled policy cannot be read; see `PolicyOnHand`.
    package init(
        url: URL, keys: [PinnedKey], bundled: Data, shelf: any PolicyShelf,
        fetcher: any PolicyFetcher = HTTPPolicyFetcher()
    ) throws(SignedPolicyError) {
        self.url = url
        self.shelf = shelf
        self.fetcher = fetcher
        hand = try PolicyOnHand(bundled: bundled, keys: keys, kept: shelf.read())
        initial = hand.policy
    }

    package var policy: Policy { hand.policy }
    package var counter: Int64? { hand.counter }

    /// Asks the server once. Whatever comes of it, `policy` is as before or better.
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
        if let kept = hand.kept, kept != before { shelf.write(kept) }
        return result
    }
}
