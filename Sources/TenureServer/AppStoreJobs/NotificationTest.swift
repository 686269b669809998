package import Foundation
package import Logging
package import TenureCore

/// Asks the App Store to send a `TEST` notification to the URL in App Store Connect, and then for the result.
package struct NotificationTest: Sendable {
    private let client: AppStoreClient
    /// The transport to close after the test; nil if the caller closes it.
    private let transport: HTTPTransport?
    /// The seconds before each request for the result, because Apple takes a moment to send the notification.
    private static let pause: TimeInterval = 2
    /// The maximum number of requests for the result.
    private static let maximumRequests = 15

    /// One of the App Store's attempts to send the notification.
    package struct Attempt: Sendable, Hashable {
        /// When the App Store tried; nil if its response doesn't say it.
        package let date: Date?
        /// `SUCCESS`, Apple's code of the failure, or `UNKNOWN` if the response has no result.
        package let result: String
    }

    /// Creates a test with its own connections. Throws if the configuration has no key for the App Store Server API, or
    /// the key can't be read.
    package init(_ configuration: ServiceConfiguration, logger: Logger) throws(ServiceError) {
        guard let settings = configuration.appStore else {
            throw .appStore(
                """
                the service has no key for the App Store Server API; set `appStore.issuerID`, `appStore.keyID` \
                and `appStore.privateKeyFile`
                """)
        }
        let transport = HTTPTransport()
        self.init(
            try AppStoreClient(
                settings, verifier: try configuration.verifier(), transport: transport.transport, logger: logger),
            closing: transport)
    }

    init(_ client: AppStoreClient, closing transport: HTTPTransport? = nil) {
        self.client = client
        self.transport = transport
    }

    /// Returns the attempts, the latest one last; empty if the App Store reports none within half a minute. Throws an
    /// `AppStoreFailure`, or `CancellationError`.
    package func run(in environment: AppStoreEnvironment) async throws -> [Attempt] {
        // The transport is closed after a failure, too.
        let result: Result<[Attempt], any Error>
        do {
            result = .success(try await attempts(in: environment))
        } catch {
            result = .failure(error)
        }
        try? await transport?.close()
        return try result.get()
    }

    private func attempts(in environment: AppStoreEnvironment) async throws -> [Attempt] {
        let token = try await client.requestTestNotification(in: environment)
        for _ in 0..<Self.maximumRequests {
            try await client.time.sleep(Self.pause)
            do throws(AppStoreFailure) {
                let attempts = try await client.testNotification(token, in: environment).attempts
                if !attempts.isEmpty { return attempts.map { Attempt(date: $0.date, result: $0.result ?? "UNKNOWN") } }
            } catch {
                // The App Store answers 404 until it has sent the notification.
                guard case .refused(let refusal) = error, refusal.status == 404 else { throw error }
            }
        }
        return []
    }
}
