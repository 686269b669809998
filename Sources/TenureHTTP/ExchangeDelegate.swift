import Foundation
import TenureCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Takes what URLSession receives to the exchanges it belongs to. Everything here runs on the session's delegate queue.
final class ExchangeDelegate: NSObject, URLSessionDataDelegate, Sendable {
    /// Exchanges under way, by the identifier of their task.
    private let exchanges = Locked<[Int: Exchange]>([:])

    func add(_ exchange: Exchange, _ task: URLSessionTask) {
        exchange.task = task
        exchanges.withLock { $0[task.taskIdentifier] = exchange }
    }

    func cancel(_ exchange: Exchange) {
        guard let task = exchange.task else { return }
        _ = remove(task)
        task.cancel()
    }

    private func remove(_ task: URLSessionTask) -> Exchange? {
        let exchange = exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        exchange?.task = nil
        return exchange
    }

    private func exchange(of task: URLSessionTask) -> Exchange? {
        exchanges.withLock { $0[task.taskIdentifier] }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let exchange = exchange(of: dataTask)
        guard let exchange, exchange.receive(response) else {
            // FoundationNetworking ignores the disposition: only canceling the task stops the body.
            if let exchange { cancel(exchange) }
            return completionHandler(.cancel)
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let exchange = exchange(of: dataTask), !exchange.receive(data) else { return }
        exchange.end(.failure(.bodyTooLarge(limit: exchange.request.bodyLimit)))
        cancel(exchange)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let exchange = remove(task) else { return }
        guard let error else { return exchange.end(task.response) }
        exchange.end(.failure(.connection(error as? URLError ?? URLError(.unknown))))
    }

    /// Redirects are not followed: a request, with its secrets, goes to one server only.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        #if canImport(FoundationNetworking)
            // FoundationNetworking traps if the delegate answers for a canceled task.
            guard exchange(of: task) != nil else { return }
        #endif
        completionHandler(nil)
    }

    #if canImport(FoundationNetworking)
        /// FoundationNetworking asks for credentials after a 401, and waits without end if the request has none. Apple's
        /// URLSession returns the response.
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            guard let exchange = exchange(of: task) else { return }
            exchange.end(task.response)
            cancel(exchange)
        }
    #endif
}
