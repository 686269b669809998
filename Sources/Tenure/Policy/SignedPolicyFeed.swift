import Foundation
import TenureCore
import TenureHTTP
import TenurePolicyFile

/// Fetches newer signed policies from the developer's web server, and stores the newest policy for the next start.
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
        let tag = response.header("ETag").flatMap { $0.utf8.count <= 256 ? $0 : nil }
        let before = current.cachedPolicy
        let result = current.update(with: response.body, tag: tag)
        if let cached = current.cachedPolicy, cached != before { cache.write(cached) }
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

/// Keeps a policy up to date that a web server can replace.
extension Engine {
    /// Downloads the signed policy from the developer's web server, if the app set its URL. Does nothing if the last
    /// request was less than a day ago.
    func refreshPolicy() async {
        guard let feed else { return }
        let now = setup.clock()
        if let asked = policyRequestedAt, abs(now.timeIntervalSince(asked)) < Self.policyWait { return }
        policyRequestedAt = now
        let result: PolicyRefresh
        do {
            result = try await withTimeout(setup.options.serviceTimeout) { await feed.refresh() }
        } catch {
            result = .failed(.unreachable("\(error)"))
        }
        switch result {
        case .updated(let counter):
            device.facts.policy = await feed.policy
            // The stored denials are decisions of the previous policy, so discard them.
            device.stored.account.denials = []
            setup.options.log.info("a newer policy is in use, with the counter \(counter)")
            device.snapshot.note(.policy, .done)
            device.post()
        case .unchanged: device.snapshot.note(.policy, .done)
        case .refused(let error):
            setup.options.log.error("\(error)")
            device.snapshot.note(.policy, .failed("\(error)"))
        case .failed(let error):
            setup.options.log.info("\(error)")
            device.snapshot.note(.policy, .failed("\(error)"))
            // The next search of the App Store asks again.
            if error.isRetryable { policyRequestedAt = nil }
        }
    }

    /// The time between two requests for the policy, in seconds. It is slightly less than a day, so that an app that is
    /// opened once a day makes a request each time.
    private static let policyWait: TimeInterval = 82_800
}

/// The newest policy that this device has: the bundled policy, or a newer signed policy from a web server.
///
/// The bundled policy is part of the app, so there is always a policy. A stored policy is verified each time it is
/// read, so another process that can write the policy's file can't forge a policy.
struct CurrentPolicy: Sendable {
    /// The public keys that may sign the policy.
    private let keys: [PinnedKey]
    private let bundled: Policy
    /// The newest signed policy, which may be the bundled policy. Nil while a bundled policy without a signature is
    /// used.
    private var newestSigned: SignedPolicy?
    /// The fetched policy to store for the next start. Nil until a policy was fetched or restored.
    private(set) var cachedPolicy: CachedPolicy?

    /// - Parameters:
    ///   - bundled: the output of `tenure policy compile` or `tenure policy sign`. A signed policy has a counter. After
    ///     an update of the app, the counter shows whether the bundled policy is newer than the stored policy.
    ///   - keys: the public keys that may sign the policy. There are two keys while a new key replaces an old key.
    ///   - cached: `cachedPolicy` from an earlier start. If its text can't be verified or is for another app, only its
    ///     highest counter is used.
    /// - Throws: an error if the bundled policy can't be read, or if none of the keys signed it.
    init(bundled: Data, keys: [PinnedKey], cached: CachedPolicy?) throws(SignedPolicyError) {
        self.keys = keys
        // JSON begins with a brace, and a JWS never does.
        if bundled.first(where: { !" \t\r\n".utf8.contains($0) }) == UInt8(ascii: "{") {
            do throws(PolicyFileError) {
                self.bundled = try Policy.compiled(bundled)
            } catch {
                throw .invalidPolicy(error)
            }
        } else {
            let signed = try SignedPolicy.verify(bundled, keys: keys, bundleID: nil)
            self.bundled = signed.policy
            newestSigned = signed
        }
        if let cached { restore(cached) }
    }

    /// Uses the stored policy if it can be verified and is newer than the bundled policy. Otherwise, only its highest
    /// counter is used.
    mutating func restore(_ cached: CachedPolicy) {
        cachedPolicy = cached
        guard let signed = try? SignedPolicy.verify(cached.text.utf8, keys: keys, bundleID: bundled.app.bundleID),
            signed.counter > newestSigned?.counter ?? 0
        else { return }
        newestSigned = signed
    }

    /// The policy to use now.
    var policy: Policy { newestSigned?.policy ?? bundled }

    /// The counter of the policy in use, which is higher in each newer policy. Nil while a bundled policy without a
    /// signature is used.
    var counter: Int64? { newestSigned?.counter }

    /// The server's `ETag` for the policy in use, to ask whether the server has another. Nil to fetch the whole policy,
    /// because the stored text is lost, or isn't the policy in use.
    var tag: String? { cachedPolicy?.text == newestSigned?.text ? cachedPolicy?.tag : nil }

    /// Uses the server's policy from now on if it is valid and newer.
    ///
    /// - Parameters:
    ///   - text: the body of the server's response.
    ///   - tag: the `ETag` of the response.
    mutating func update(with text: Data, tag: String?) -> PolicyRefresh {
        do throws(SignedPolicyError) {
            let fetched = try SignedPolicy.verify(text, keys: keys, bundleID: bundled.app.bundleID)
            let known = max(cachedPolicy?.highestCounter ?? 0, newestSigned?.counter ?? 0)
            guard fetched.counter >= known else { throw .older(counter: fetched.counter, known: known) }
            let isNew = fetched.counter > newestSigned?.counter ?? 0
            if !isNew, fetched.policy != newestSigned?.policy { throw .sameCounter(fetched.counter) }
            newestSigned = fetched
            cachedPolicy = CachedPolicy(text: fetched.text, tag: tag, highestCounter: fetched.counter)
            return isNew ? .updated(counter: fetched.counter) : .unchanged
        } catch {
            return .refused(error)
        }
    }
}

/// A signed policy from the web server, as the device stores it for the next start.
package struct CachedPolicy: Sendable, Hashable, Codable {
    /// The signed text.
    package let text: String
    /// The server's `ETag`.
    package let tag: String?
    /// The highest counter that this device has accepted, even if the text is lost.
    let highestCounter: Int64
}

/// The result of a request for a newer policy.
enum PolicyRefresh: Sendable, Hashable {
    /// The server has a newer policy, which is used from now on.
    case updated(counter: Int64)
    /// The server still has the policy that the device knows.
    case unchanged
    /// The server's policy is rejected, for this reason.
    case refused(SignedPolicyError)
    /// The server didn't respond, or had no policy.
    case failed(PolicyFetchError)
}
