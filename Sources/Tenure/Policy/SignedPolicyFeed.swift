import Foundation
import TenureCore
import TenureHTTP
import TenurePolicyFile

/// Fetches newer signed policies from the developer's web server, and stores the newest policy for the next start. Not
/// used if the app has only its bundled policy.
actor SignedPolicyFeed {
    private let url: URL
    private let cache: PolicyCache
    private let transport: any Transport
    /// The timeout of a request, in seconds.
    private let timeout: Double
    private var current: CurrentPolicy

    /// The bundled policy, which is used until `restore()` or `refresh()` finds a newer policy.
    nonisolated let bundledPolicy: Policy

    /// - Throws: an error if the bundled policy can't be read, or if none of the keys signed it.
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

    /// Reads the policy that an earlier start stored, and returns the newer of this policy and the bundled policy.
    /// Unlike `init`, this method reads a file.
    func restore() -> Policy {
        if current.cachedPolicy == nil, let cached = cache.read() { current.restore(cached) }
        return current.policy
    }

    /// The policy to use now.
    var policy: Policy { current.policy }
    var counter: Int64? { current.counter }

    /// Fetches the policy from the server once, and uses it if it is newer.
    func refresh() async -> PolicyRefresh {
        var request = TransportRequest(url, timeout: timeout, bodyLimit: SignedPolicy.maximumTextSize)
        request.headers["If-None-Match"] = current.tag
        let response: TransportResponse
        do throws(TransportFailure) {
            response = try await transport.send(request)
        } catch {
            return .failed(PolicyFetchError(error))
        }
        if response.status == 304 { return .unchanged }
        guard response.status == 200 else { return .failed(.status(response.status)) }
        // Ignore an unusually long tag, because it is stored and sent back with each request.
        let tag = response.header("ETag").flatMap { $0.utf8.count <= 256 ? $0 : nil }
        let previous = current.cachedPolicy
        let result = current.update(with: response.body, tag: tag)
        if let cached = current.cachedPolicy, cached != previous { cache.write(cached) }
        return result
    }
}

/// The file in which a fetched policy is stored for the next start. The policy is verified again when it is read.
struct PolicyCache: Sendable {
    let url: URL

    /// Returns the stored policy. Nil if it is missing or can't be read.
    func read() -> CachedPolicy? { Disk.decoded(CachedPolicy.self, at: url.path, maximumSize: Self.maximumFileSize) }

    /// Stores the policy atomically. If the file can't be written, the next start fetches the policy again.
    func write(_ policy: CachedPolicy) {
        guard let data = try? JSONEncoder().encode(policy) else { return }
        try? FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try? data.write(to: url, options: .atomic)
    }

    /// The maximum size of the file in bytes: a policy's text and its tag.
    private static let maximumFileSize = 2 << 20
}

/// Why the policy couldn't be fetched.
struct PolicyFetchError: Sendable, Hashable, CustomStringConvertible {
    let description: String
    /// Whether the same request may succeed later.
    let isRetryable: Bool

    /// There is no connection, the host is unknown, or the response isn't complete in time.
    static func unreachable(_ detail: String) -> Self {
        Self(description: "the policy server didn't respond (\(detail)); Tenure tries again later", isRetryable: true)
    }

    /// The server responded with a status other than 200 and 304.
    static func status(_ code: Int) -> Self {
        Self(
            description: "the policy server responded with status \(code); check the URL of the policy",
            isRetryable: code == 408 || code == 429 || code >= 500)
    }

    /// The response is longer than any policy, so it wasn't read to its end.
    static func tooLarge(limit: Int) -> Self {
        Self(
            description: "the policy server's response is larger than \(limit) bytes, so it isn't a policy; "
                + "check the URL", isRetryable: false)
    }

    static let canceled = Self(
        description: "the request for the policy was canceled; Tenure tries again later", isRetryable: true)
}

extension PolicyFetchError {
    init(_ failure: TransportFailure) {
        switch failure {
        case .canceled: self = .canceled
        case .bodyTooLarge(let limit): self = .tooLarge(limit: limit)
        case .connection, .timedOut: self = .unreachable(failure.description)
        }
    }
}
