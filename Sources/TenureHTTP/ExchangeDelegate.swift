import Foundation
import TenureCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Passes the events of URLSession to their exchanges. All methods run on the session's delegate queue.
final class ExchangeDelegate: NSObject, URLSessionDataDelegate, Sendable {
    /// The exchanges that haven't ended, by the identifiers of their tasks.
    private let exchanges = Locked<[Int: Exchange]>([:])

    /// Adds an exchange before its task starts.
    func add(_ exchange: Exchange, _ task: URLSessionTask) {
        exchange.task = task
        exchanges.withLock { $0[task.taskIdentifier] = exchange }
    }

    /// Removes an exchange, so that it gets no more events, and cancels its task.
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
            // FoundationNetworking ignores `.cancel`. So cancel the task, to receive no body.
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

    /// Doesn't follow redirects, so that a request and its secrets are sent to only one server.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        #if canImport(FoundationNetworking)
            // FoundationNetworking traps if the completion handler is called for a canceled task.
            guard exchange(of: task) != nil else { return }
        #endif
        completionHandler(nil)
    }

    #if canImport(FoundationNetworking)
        /// Called after a response with status 401, to ask for a user name and password. Ends the exchange with this
        /// response, as Apple's URLSession does. Otherwise, FoundationNetworking would wait forever.
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
