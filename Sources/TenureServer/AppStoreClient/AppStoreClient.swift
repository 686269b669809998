import Foundation
import Logging
import TenureAppStore
import TenureCore

/// A client of the App Store Server API for one app. The client signs requests with the app's key, stays below Apple's
/// rate limits and repeats failed requests.
///
/// Signed data in responses is verified like data from any other sender. TLS alone proves nothing.
struct AppStoreClient: Sendable {
    let hosts: AppStoreHosts
    let verifier: AppStoreVerifier
    let retryPolicy: RetryPolicy
    let time: AppStoreTime
    private let tokens: AppStoreTokens
    private let limiter: RateLimiter
    private let transport: AppStoreTransport
    private let logger: Logger

    /// - Parameter share: The share of Apple's rate limits to use: 1 is all. Only tests use more.
    init(
        _ credentials: AppStoreCredentials, hosts: AppStoreHosts = AppStoreHosts(), verifier: AppStoreVerifier,
        transport: AppStoreTransport, retryPolicy: RetryPolicy = RetryPolicy(), time: AppStoreTime = .system,
        share: Double = 1, logger: Logger
    ) {
        self.hosts = hosts
        self.verifier = verifier
        self.transport = transport
        self.retryPolicy = retryPolicy
        self.time = time
        self.logger = logger
        tokens = AppStoreTokens(credentials)
        limiter = RateLimiter(time: time, share: share)
    }

    /// Creates a client with the key in the settings. Throws `appStore` if the policy has no bundle ID or a setting has
    /// a mistake, and `keyFile` if the key can't be read.
    init(
        _ settings: AppStoreSettings, verifier: AppStoreVerifier, transport: AppStoreTransport,
        time: AppStoreTime = .system, share: Double = 1, logger: Logger
    ) throws(ServiceError) {
        guard let bundleID = verifier.app.bundleID else {
            throw .appStore("the policy has no bundle ID; add `bundleID` to its `app`")
        }
        self.init(
            try AppStoreCredentials(settings, bundleID: bundleID), hosts: settings.hosts, verifier: verifier,
            transport: transport, time: time, share: share, logger: logger)
    }

    /// The environments that the service accepts and for which Apple has a server, production first.
    var environments: [AppStoreEnvironment] { [.production, .sandbox].filter(verifier.trust.environments.contains) }

    /// Makes a call, and repeats it until it succeeds, fails permanently, or reaches a limit of `retryPolicy`.
    ///
    /// - Parameter end: The time on the clock `AppStoreTime.uptime` after which the client sends no request, if that is
    ///   before the timeout of `retryPolicy`.
    func answer(
        to call: AppStoreCall, in environment: AppStoreEnvironment, before end: TimeInterval = .infinity
    ) async throws(AppStoreFailure) -> AppStoreReply {
        guard environments.contains(environment), let host = hosts.url(of: environment) else {
            throw .notServed(environment)
        }
        let end = min(end, time.uptime() + retryPolicy.timeout)
        var failures = 0
        var rejectedTokens = 0
        var nextRejectionIsFinal = false
        while true {
            // Waits until Apple's rate limit allows the call.
            try await sleep(try await limiter.takeToken(call.endpoint, in: environment, before: end))
            let askedAt = time.now()
            let token = try await tokens.token(at: askedAt)
            do {
                return try await exchange(call, at: host, in: environment, token)
            } catch {
                log(error, of: call, in: environment)
                if case .notAuthorized = error, !nextRejectionIsFinal {
                    // Tries again at once with a new token. If the App Store rejects the new token, too, the key is
                    // wrong. But if the clock was changed, this token may have expired on its way. Then its rejection
                    // says nothing about the key, so the next rejection isn't final yet.
                    let hasExpired = time.now().timeIntervalSince(askedAt) >= AppStoreCredentials.lifetime
                    rejectedTokens += 1
                    nextRejectionIsFinal = !hasExpired || rejectedTokens >= retryPolicy.attempts
                    await tokens.discard(token)
                    continue
                }
                // If the App Store says how long to wait, all calls of the endpoint wait.
                if case .refused(let refusal) = error, refusal.isRateLimit, let instant = refusal.retryAt {
                    await limiter.hold(
                        call.endpoint, in: environment, for: max(0, instant.timeIntervalSince(time.now())))
                }
                failures += 1
                guard error.isRetryable, failures < retryPolicy.attempts else { throw error }
                let wait = max(
                    retryPolicy.wait(after: failures, random: time.random()),
                    error.retryAt?.timeIntervalSince(time.now()) ?? 0)
                guard time.uptime() + wait <= end else { throw error }
                try await sleep(wait)
            }
        }
    }

    /// Calls `ask`, which looks up an ID in an environment, and returns its result.
    ///
    /// If `environment` is nil, tries each environment until one of them knows the ID. If none knows the ID, throws the
    /// first failure. A failure with another cause is thrown at once.
    func locating<Result: Sendable>(
        _ environment: AppStoreEnvironment?, _ ask: (AppStoreEnvironment) async throws(AppStoreFailure) -> Result
    ) async throws(AppStoreFailure) -> Result {
        var firstFailure: AppStoreFailure?
        let candidates = environment.map { [$0] } ?? environments
        for candidate in candidates {
            do {
                return try await ask(candidate)
            } catch {
                guard error.isUnknownID else { throw error }
                firstFailure = firstFailure ?? error
            }
        }
        throw firstFailure ?? .notServed(environment ?? .production)
    }

    /// Sends one request, and returns the JSON of a response with status 2xx.
    private func exchange(
        _ call: AppStoreCall, at host: String, in environment: AppStoreEnvironment, _ token: String
    ) async throws(AppStoreFailure) -> AppStoreReply {
        let answer = try await transport.send(
            AppStoreTransport.Request(
                method: call.endpoint.method, url: host + call.target, token: Secret(token), body: call.body))
        switch answer.status {
        case 200...299: return try AppStoreReply(answer.body)
        case 401: throw .notAuthorized(environment)
        default: throw .refused(AppStoreRefusal(answer, to: call.endpoint, in: environment, now: time.now()))
        }
    }

    private func sleep(_ seconds: TimeInterval) async throws(AppStoreFailure) {
        guard !Task.isCancelled else { throw .canceled }
        guard seconds > 0 else { return }
        do {
            try await time.sleep(seconds)
        } catch {
            throw .canceled
        }
    }

    /// Logs a failed request, without IDs and tokens.
    private func log(_ failure: AppStoreFailure, of call: AppStoreCall, in environment: AppStoreEnvironment) {
        logger.debug(
            "a request to the App Store failed",
            metadata: [
                "endpoint": "\(call.endpoint.rawValue)", "environment": "\(environment.rawValue)",
                "detail": "\(failure)",
            ])
    }
}
