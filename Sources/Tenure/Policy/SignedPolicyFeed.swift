import Foundation
import TenureCore
import TenureHTTP
import TenurePolicyFile

/// The newest signed policy, refreshed from a web server and stored for the next start.
actor SignedPolicyFeed {
    private let url: URL
    private let cache: PolicyCache
    private let transport: any Transport
    /// Seconds for the whole response.
    private let timeout: Double
    private var current: CurrentPolicy

    /// The bundled policy, which is used until `restore()` or `refresh()` finds a newer policy.
    nonisolated let bundledPolicy: Policy

    /// - Throws: if the bundled policy can't be read; see `CurrentPolicy`.
    init(
        url: URL, keys: [PinnedKey], bundled: Data, cache: PolicyCache, timeout: Double = 30,
        transport: any Transport = URLSessionTransport.shared
    ) throws(SignedPolicyError) {
        self.url = url
        self.cache = cache
        self.timeout = timeout
        self.transport = transport
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
        var request = TransportRequest(url, timeout: timeout, bodyLimit: SignedPolicy.maximumTextSize)
        if let tag = current.tag { request.headers["If-None-Match"] = tag }
        let response: TransportResponse
        do throws(TransportFailure) {
            response = try await transport.send(request)
        } catch {
            return .failed(PolicyFetchError(error))
        }
        if response.status == 304 { return .unchanged }
        guard response.status == 200 else { return .failed(.status(response.status)) }
        let tag = response.header("ETag").flatMap { $0.utf8.count <= 256 ? $0 : nil }
        let before = current.cachedPolicy
        let result = current.update(with: response.body, tag: tag)
        if let cached = current.cachedPolicy, cached != before { cache.write(cached) }
        return result
    }
}
