import Foundation
import TenureCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One request and the received part of its response.
///
/// `URLSessionTransport` starts the exchange, `ExchangeDelegate` passes it what URLSession receives, and the caller
/// waits for the outcome or takes the body in pieces. An exchange ends once. Anything that is received later is
/// ignored.
final class Exchange: Sendable {
    /// The response, or the failure of the request.
    typealias Outcome = Result<TransportResponse, TransportFailure>

    /// What `next()` returns to a caller that takes the body in pieces.
    enum Incoming: Sendable {
        /// The next parts of the body, in order.
        case pieces([Data])
        /// All parts were taken, and the exchange ended with this outcome.
        case end(Outcome)
    }

    private struct State: Sendable {
        /// The received part of the body, for a caller that waits for the whole response.
        var body = Data()
        /// The received parts that the caller hasn't taken yet, for a caller that takes the body in pieces.
        var pieces: [Data] = []
        /// The number of bytes of the body so far.
        var received = 0
        /// The time at which the last byte was received, or at which the exchange was created.
        var lastByte = SuspendingClock.now
        /// The caller of `next()`, while it waits.
        var waiter: CheckedContinuation<Void, Never>?
        var task: URLSessionTask?
        /// The outcome; nil until the exchange ends.
        var outcome: Outcome?
        /// What to call when the exchange ends.
        var completion: (@Sendable (Outcome) -> Void)?
    }

    let request: TransportRequest
    /// For a caller that takes the body in pieces: gets the status and header fields of the response, and returns
    /// whether the caller wants the body. Nil for a caller that waits for the whole response.
    private let accept: (@Sendable (TransportResponse) -> Bool)?
    private let state = Locked(State())

    /// Creates an exchange that hasn't started.
    init(_ request: TransportRequest, accept: (@Sendable (TransportResponse) -> Bool)? = nil) {
        self.request = request
        self.accept = accept
    }

    /// Whether the exchange has ended.
    var isOver: Bool { state.withLock { $0.outcome != nil } }

    /// The URLSession task of the request while it is running; nil before and afterward.
    var task: URLSessionTask? {
        get { state.withLock { $0.task } }
        set { state.withLock { $0.task = newValue } }
    }

    /// Calls `completion` once, when the exchange ends, or immediately if it has ended.
    func onCompletion(_ completion: @escaping @Sendable (Outcome) -> Void) {
        let outcome = state.withLock { state in
            if state.outcome == nil { state.completion = completion }
            return state.outcome
        }
        if let outcome { completion(outcome) }
    }

    /// Ends the exchange, unless it has ended.
    func end(_ outcome: Outcome) {
        let (completion, waiter) = state.withLock { state in
            // If the exchange has ended before, `completion` and `waiter` are nil already.
            if state.outcome == nil {
                state.outcome = outcome
                state.body = Data()
            }
            defer { (state.completion, state.waiter) = (nil, nil) }
            return (state.completion, state.waiter)
        }
        // Called without the lock: a completion resumes a task, and a thread that cancels the same task may be waiting
        // for the lock.
        completion?(outcome)
        waiter?.resume()
    }

    /// Ends the exchange with a response and the body that was received.
    func end(_ response: URLResponse?) {
        guard var whole = TransportResponse(head: response) else {
            return end(.failure(.connection(URLError(.badServerResponse))))
        }
        whole.body = state.withLock { $0.body }
        end(.success(whole))
    }

    /// Receives the status and header fields, and returns whether to receive the body. Ends the exchange and returns
    /// false if the caller doesn't want the body, or if the response isn't an HTTP response.
    func receive(_ response: URLResponse) -> Bool {
        guard let accept else { return true }
        guard let head = TransportResponse(head: response) else {
            end(.failure(.connection(URLError(.badServerResponse))))
            return false
        }
        state.withLock { $0.lastByte = .now }
        if accept(head) { return true }
        end(.success(head))
        return false
    }

    /// Receives a part of the body. Returns false if the body is longer than the request allows; the exchange doesn't
    /// end by itself then.
    func receive(_ data: Data) -> Bool {
        let isStreamed = accept != nil
        let (fits, waiter) = state.withLock { state in
            guard state.outcome == nil else { return (true, nil as CheckedContinuation<Void, Never>?) }
            guard data.count <= request.bodyLimit - state.received else { return (false, nil) }
            state.received += data.count
            state.lastByte = .now
            if isStreamed { state.pieces.append(data) } else { state.body.append(data) }
            defer { state.waiter = nil }
            return (true, state.waiter)
        }
        waiter?.resume()
        return fits
    }

    // MARK: Taking the body in pieces

    /// Waits for the next pieces or, after the last piece, for the end. Only one caller may wait.
    func next() async -> Incoming {
        while true {
            let incoming: Incoming? = state.withLock { state in
                defer { state.pieces = [] }
                if !state.pieces.isEmpty { return .pieces(state.pieces) }
                return state.outcome.map { .end($0) }
            }
            if let incoming { return incoming }
            await withCheckedContinuation { continuation in
                // Something may have been received since the check above.
                let hasArrived = state.withLock { state in
                    guard state.pieces.isEmpty, state.outcome == nil else { return true }
                    state.waiter = continuation
                    return false
                }
                if hasArrived { continuation.resume() }
            }
        }
    }

    /// The seconds since the last byte was received. Nil after the exchange has ended.
    var silence: Double? {
        state.withLock { $0.outcome == nil ? (SuspendingClock.now - $0.lastByte) / .seconds(1) : nil }
    }
}

extension TransportResponse {
    /// Creates a response with the status and the header fields, and without a body. Nil if the response isn't an HTTP
    /// response.
    fileprivate init?(head response: URLResponse?) {
        guard let response = response as? HTTPURLResponse else { return nil }
        var headers: [String: String] = [:]
        for (name, value) in response.allHeaderFields {
            if let name = name as? String, let value = value as? String { headers[name] = value }
        }
        self.init(status: response.statusCode, headers: headers, body: Data())
    }
}

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
