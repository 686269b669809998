import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import ServiceLifecycle
import TenureCore

/// Sends requests to the App Store over HTTP, with limits on the time and size of responses.
///
/// Call `close` after the last request. As a service of a `ServiceGroup`, the transport closes itself at the shutdown,
/// after the services that follow it in the group have ended.
final class HTTPTransport: Service {
    /// The timeout for opening a connection, in seconds.
    private static let connectTimeout: TimeInterval = 10
    /// The timeout for one request and its whole response, in seconds.
    private static let exchangeTimeout: TimeInterval = 30
    /// The maximum number of bytes of a response. A page of 20 notifications has half a megabyte.
    private static let maximumAnswerSize = 4 * 1024 * 1024
    /// The maximum number of connections to one host.
    private static let maximumConnections = 8

    private let configuration: HTTPClient.Configuration
    /// The HTTP client, or the error of requests after `close`. It is nil before the first request: an open client must
    /// be closed, even by a service that doesn't start.
    private let client = Locked<Result<HTTPClient, HTTPClientError>?>(nil)
    private let time: AppStoreTime

    init(time: AppStoreTime = .system) {
        self.time = time
        var configuration = HTTPClient.Configuration(
            // Only the configured host may get the token.
            redirectConfiguration: .disallow,
            timeout: .init(
                connect: .milliseconds(Int64(Self.connectTimeout * 1000)),
                read: .milliseconds(Int64(Self.exchangeTimeout * 1000))))
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = Self.maximumConnections
        // `RetryPolicy` counts the retries.
        configuration.connectionPool.retryConnectionEstablishment = false
        self.configuration = configuration
    }

    func run() async throws {
        try? await gracefulShutdown()
        try await close()
    }

    /// Cancels all requests. Nothing can be sent afterward.
    func close() async throws {
        let previous = client.exchange(.failure(.alreadyShutdown))
        if case .success(let client)? = previous { try await client.shutdown() }
    }

    /// The function with which an `AppStoreClient` sends its requests.
    var transport: AppStoreTransport { AppStoreTransport(send: send) }

    /// Sends a request, and gives up after `exchangeTimeout` even if the HTTP client doesn't.
    @Sendable private func send(
        _ request: AppStoreTransport.Request
    ) async throws(AppStoreFailure) -> AppStoreTransport.Answer {
        do {
            return try await withThrowingTaskGroup(of: AppStoreTransport.Answer?.self) { group in
                defer { group.cancelAll() }
                group.addTask { [self] in try await exchange(request) }
                group.addTask { [time] in
                    try await time.sleep(Self.exchangeTimeout)
                    return nil
                }
                guard let answer = try await group.next() ?? nil else {
                    throw AppStoreFailure.timedOut(Self.exchangeTimeout)
                }
                return answer
            }
        } catch {
            throw failure(error)
        }
    }

    private func exchange(_ request: AppStoreTransport.Request) async throws -> AppStoreTransport.Answer {
        var outgoing = HTTPClientRequest(url: request.url)
        outgoing.method = HTTPMethod(rawValue: request.method)
        outgoing.headers.add(name: "Authorization", value: "Bearer \(request.token.revealed)")
        outgoing.headers.add(name: "Accept", value: "application/json")
        outgoing.headers.add(name: "User-Agent", value: "tenure")
        if let body = request.body {
            outgoing.headers.add(name: "Content-Type", value: "application/json")
            outgoing.body = .bytes(body)
        }
        let response = try await openClient().execute(
            outgoing, timeout: .milliseconds(Int64(Self.exchangeTimeout * 1000)))
        let body = try await response.body.collect(upTo: Self.maximumAnswerSize)
        // If this task was canceled, the body may be incomplete.
        try Task.checkCancellation()
        return AppStoreTransport.Answer(
            status: Int(response.status.code), retryAfter: response.headers.first(name: "Retry-After"),
            body: Array(body.readableBytesView))
    }

    /// Turns any error into a failure.
    private func failure(_ error: any Error) -> AppStoreFailure {
        if let failure = error as? AppStoreFailure { return failure }
        if Task.isCancelled || error is CancellationError { return .canceled }
        if error is NIOTooManyBytesError { return .tooLarge(limit: Self.maximumAnswerSize) }
        switch error as? HTTPClientError {
        case .deadlineExceeded?, .readTimeout?: return .timedOut(Self.exchangeTimeout)
        case .connectTimeout?: return .timedOut(Self.connectTimeout)
        default: return .unreachable(String("\(error)".prefix(200)))
        }
    }

    /// Returns the client, and creates it if this is the first request. Throws after `close`.
    private func openClient() throws -> HTTPClient {
        try client.withLock { client in
            let open = try client?.get() ?? HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
            client = .success(open)
            return open
        }
    }
}
