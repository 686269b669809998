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
        // Whether another rejection of a token is final, and how many tokens were rejected.
        var (hasRenewedToken, renewals) = (false, 0)
        while true {
            // Waits until Apple's rate limit allows the call.
            try await sleep(try await limiter.takeToken(call.endpoint, in: environment, before: end))
            let askedAt = time.now()
            let token = try await tokens.token(at: askedAt)
            do {
                return try await exchange(call, at: host, in: environment, token)
            } catch {
                log(error, of: call, in: environment)
                if case .notAuthorized = error, !hasRenewedToken {
                    // Tries again at once with a new token. If the App Store rejects that, too, the key is wrong. But
                    // if someone changes the clock, a token may expire while the request is on its way. Such a
                    // rejection says nothing about the key, so it isn't counted.
                    let hasExpired = time.now().timeIntervalSince(askedAt) >= AppStoreCredentials.lifetime
                    renewals += 1
                    hasRenewedToken = !hasExpired || renewals >= retryPolicy.attempts
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

    /// Calls `ask` with the given environment; if it is nil, with each environment until one of them knows the ID that
    /// `ask` looks up. Throws the first failure if no environment knows the ID.
    func locating<Result: Sendable>(
        _ environment: AppStoreEnvironment?, _ ask: (AppStoreEnvironment) async throws(AppStoreFailure) -> Result
    ) async throws(AppStoreFailure) -> Result {
        var firstFailure: AppStoreFailure?
        for candidate in environment.map({ [$0] }) ?? environments {
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

/// How often and for how long a call to the App Store is repeated. Times are in seconds.
struct RetryPolicy: Sendable, Hashable {
    /// The maximum number of attempts, including the first.
    var attempts = 6
    /// The longest wait before the second attempt, in seconds. The longest wait doubles with each further attempt.
    var firstWait: TimeInterval = 0.5
    /// The longest wait before any attempt.
    var maximumWait: TimeInterval = 30
    /// The longest time from the beginning of the first attempt to the beginning of the last attempt.
    var timeout: TimeInterval = 120

    /// Returns the seconds to wait after `failures` failed attempts: a random part of the longest wait, which doubles
    /// with each failure up to `maximumWait`. The wait is random so that processes that failed at the same time don't
    /// all try again at once.
    ///
    /// - Parameter random: A random number from 0 up to 1.
    func wait(after failures: Int, random: Double) -> TimeInterval {
        let exponent = Double(min(max(failures - 1, 0), 30))
        return min(maximumWait, firstWait * pow(2, exponent)) * random
    }
}
