import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One request and what has arrived for it. It ends once; whatever happens later does not count.
final class Exchange: Sendable {
    typealias Outcome = Result<TransportResponse, TransportFailure>

    private struct State: Sendable {
        var body = Data()
        var task: URLSessionTask?
        var outcome: Outcome?
        var completion: (@Sendable (Outcome) -> Void)?
    }

    let request: TransportRequest
    private let state = Locked(State())

    init(_ request: TransportRequest) {
        self.request = request
    }

    var isOver: Bool { state.withLock { $0.outcome != nil } }

    /// The task of URLSession, from when it starts to when it ends.
    var task: URLSessionTask? {
        get { state.withLock { $0.task } }
        set { state.withLock { $0.task = newValue } }
    }

    /// Calls `completion` once, when the exchange is over.
    func whenOver(_ completion: @escaping @Sendable (Outcome) -> Void) {
        let outcome = state.withLock { state in
            if state.outcome == nil { state.completion = completion }
            return state.outcome
        }
        if let outcome { completion(outcome) }
    }

    func end(_ outcome: Outcome) {
        let completion: (@Sendable (Outcome) -> Void)? = state.withLock { state in
            guard state.outcome == nil else { return nil }
            state.outcome = outcome
            state.body = Data()
            defer { state.completion = nil }
            return state.completion
        }
        // Outside of the lock: a completion resumes a task, and the thread that cancels this task may wait for the lock.
        completion?(outcome)
    }

    /// Ends the exchange with a response and the body that has arrived.
    func end(_ response: URLResponse?) {
        guard let response = response as? HTTPURLResponse else {
            return end(.failure(.connection(URLError(.badServerResponse))))
        }
        var headers: [String: String] = [:]
        for (name, value) in response.allHeaderFields {
            if let name = name as? String, let value = value as? String { headers[name] = value }
        }
        let body = state.withLock { $0.body }
        end(.success(TransportResponse(status: response.statusCode, headers: headers, body: body)))
    }

    /// Adds to the body. Returns false where that makes it longer than the request permits.
    func receive(_ data: Data) -> Bool {
        state.withLock { state in
            guard state.outcome == nil else { return true }
            guard data.count <= request.bodyLimit - state.body.count else { return false }
            state.body.append(data)
            return true
        }
    }
}
