package import Foundation
import TenureCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends requests with URLSession.
///
/// FoundationNetworking on Linux can crash or deadlock if a task is canceled when its response is received. Four rules
/// avoid that. `Docs/adr/0033-one-http-transport.md` has the reasons.
/// - The session has no cache.
/// - Tasks start, are canceled and call back on one serial queue, the session's delegate queue.
/// - No task is canceled in a cancellation handler. The handler ends the exchange, and the queue cancels the task.
/// - The session exists until the process ends.
package final class URLSessionTransport: Transport {
    /// The transport of the process.
    package static let shared = URLSessionTransport()

    private let session: URLSession
    private let delegate: ExchangeDelegate
    /// The serial queue on which tasks start, are canceled and call back.
    private let queue: OperationQueue

    private init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.urlCredentialStorage = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        // A long poll occupies a connection. With the default of six connections to a host, six long polls would block
        // all other requests.
        configuration.httpMaximumConnectionsPerHost = 128
        // URLSession's timeouts are disabled, because exchanges have their own timeouts.
        configuration.timeoutIntervalForRequest = Self.longestTimeout
        configuration.timeoutIntervalForResource = Self.longestTimeout
        queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        delegate = ExchangeDelegate()
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
    }

    /// The longest timeout in seconds: a week.
    private static let longestTimeout: TimeInterval = 7 * 86_400

    package func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
        // The request and its timeout run at the same time. The first result is the outcome.
        let outcome = await withTaskGroup(of: Exchange.Outcome.self) { group in
            group.addTask { await self.outcome(of: Exchange(request)) }
            group.addTask {
                let nanoseconds = UInt64(min(max(0, request.timeout), Self.longestTimeout) * 1e9)
                let hasElapsed = (try? await Task.sleep(nanoseconds: nanoseconds)) != nil
                return .failure(hasElapsed ? .timedOut(seconds: request.timeout) : .canceled)
            }
            defer { group.cancelAll() }
            return await group.next() ?? .failure(.canceled)
        }
        return try outcome.get()
    }

    package func receive(
        _ request: TransportRequest, accept: @escaping @Sendable (TransportResponse) -> Bool,
        body: (Data) throws -> Void
    ) async throws -> TransportResponse {
        let exchange = Exchange(request, accept: accept)
        // If `body` throws, the rest of the response would still be received, so the exchange is stopped.
        defer { stop(exchange, .canceled) }
        let watch = Task { await endAfterSilence(exchange) }
        defer { watch.cancel() }
        return try await withTaskCancellationHandler {
            start(exchange)
            while true {
                switch await exchange.next() {
                case .pieces(let pieces): for piece in pieces { try body(piece) }
                case .end(let outcome): return try outcome.get()
                }
            }
        } onCancel: {
            stop(exchange, .canceled)
        }
    }

    /// Ends an exchange if no byte is received for the request's `timeout`.
    private func endAfterSilence(_ exchange: Exchange) async {
        let limit = min(max(0, exchange.request.timeout), Self.longestTimeout)
        while let silence = exchange.silence {
            guard silence < limit else { return stop(exchange, .timedOut(seconds: exchange.request.timeout)) }
            // One millisecond more, so that the limit has passed afterward.
            let pause = UInt64((limit - silence) * 1e9) + 1_000_000
            guard (try? await Task.sleep(nanoseconds: pause)) != nil else { return }
        }
    }

    /// Sends a request and blocks the thread until the whole response is received, for callers that can't suspend.
    package func sendBlocking(_ request: TransportRequest) throws(TransportFailure) -> TransportResponse {
        let exchange = Exchange(request)
        let end = DispatchSemaphore(value: 0)
        let outcome = Locked<Exchange.Outcome>(.failure(.timedOut(seconds: request.timeout)))
        exchange.onCompletion { result in
            outcome.withLock { $0 = result }
            end.signal()
        }
        start(exchange)
        if end.wait(timeout: .now() + request.timeout) == .timedOut {
            stop(exchange, .timedOut(seconds: request.timeout))
        }
        return try outcome.withLock { $0 }.get()
    }

    /// Returns the number of unfinished requests to the host and port of a URL, for tests.
    package func openTasks(to server: URL) async -> Int {
        await withCheckedContinuation { continuation in
            session.getAllTasks { tasks in
                let urls = tasks.compactMap { $0.originalRequest?.url }
                continuation.resume(returning: urls.filter { $0.host == server.host && $0.port == server.port }.count)
            }
        }
    }

    /// Starts an exchange, and returns its outcome. If the current task is canceled, ends the exchange.
    private func outcome(of exchange: Exchange) async -> Exchange.Outcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                exchange.onCompletion { continuation.resume(returning: $0) }
                start(exchange)
            }
        } onCancel: {
            stop(exchange, .canceled)
        }
    }

    /// Starts an exchange on the queue, unless it has ended.
    private func start(_ exchange: Exchange) {
        queue.addOperation { [session, delegate] in
            guard !exchange.isOver else { return }
            // FoundationNetworking traps on other schemes.
            guard ["http", "https"].contains(exchange.request.url.scheme?.lowercased()) else {
                return exchange.end(.failure(.connection(URLError(.unsupportedURL))))
            }
            let task = session.dataTask(with: Self.urlRequest(exchange.request))
            delegate.add(exchange, task)
            task.resume()
        }
    }

    /// Ends an exchange immediately. The queue cancels its task afterward.
    private func stop(_ exchange: Exchange, _ failure: TransportFailure) {
        exchange.end(.failure(failure))
        queue.addOperation { [delegate] in delegate.cancel(exchange) }
    }

    private static func urlRequest(_ request: TransportRequest) -> URLRequest {
        var result = URLRequest(
            url: request.url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: longestTimeout)
        result.httpMethod = request.method
        result.httpShouldHandleCookies = false
        #if !canImport(FoundationNetworking)
            result.allowsExpensiveNetworkAccess = request.allowsExpensiveNetwork
            result.allowsConstrainedNetworkAccess = request.allowsConstrainedNetwork
        #endif
        for (name, value) in request.headers { result.setValue(value, forHTTPHeaderField: name) }
        result.httpBody = request.body
        return result
    }
}
