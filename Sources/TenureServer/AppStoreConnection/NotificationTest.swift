package import Foundation
package import Logging
import TenureAppStore
package import TenureCore

/// Lets the App Store send a notification of the type `TEST` to the address in App Store Connect, and asks it how that
/// went.
package struct NotificationTest: Sendable {
    private let connection: AppStoreConnection
    private let transport: HTTPTransport?
    /// Seconds between two questions, and how many of them there are: Apple takes a moment to send it.
    private static let pause: TimeInterval = 2
    private static let questions = 15

    /// How the App Store says that it went; the latest attempt last.
    package struct Attempt: Sendable, Hashable {
        package let date: Date?
        /// `SUCCESS`, or why not, in Apple's words.
        package let result: String
    }

    /// Throws where the configuration has no key, or one that cannot be read.
    package init(_ configuration: ServiceConfiguration, logger: Logger) throws(ServiceError) {
        guard let settings = configuration.appStore else {
            throw .appStore(
                """
                there is no key to ask the App Store with; name one by `appStore.issuerID`, `appStore.keyID` and \
                `appStore.privateKeyFile`
                """)
        }
        let transport = HTTPTransport()
        self.init(
            try AppStoreConnection(
                settings, verifier: try configuration.verifier(), transport: transport.transport, logger: logger),
            closing: transport)
    }

    init(_ connection: AppStoreConnection, closing transport: HTTPTransport? = nil) {
        self.connection = connection
        self.transport = transport
    }

    /// Empty where the App Store has nothing to say of it after half a minute. Throws an `AppStoreFailure`, whose
    /// description is for people.
    package func run(in environment: AppStoreEnvironment) async throws -> [Attempt] {
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
        let token = try await connection.requestTestNotification(in: environment)
        for _ in 0..<Self.questions {
            try await connection.time.sleep(Self.pause)
            do throws(AppStoreFailure) {
                let attempts = try await connection.testNotification(token, in: environment).attempts
                if !attempts.isEmpty { return attempts.map { Attempt(date: $0.date, result: $0.result ?? "UNKNOWN") } }
            } catch {
                // Not sent yet.
                guard case .refused(let refusal) = error, refusal.status == 404 else { throw error }
            }
        }
        return []
    }
}
