/// The result of one or more transactions that may have to run again; see `Store.retrying`.
enum Attempt<Value: Sendable>: Sendable {
    case done(Value)
    /// There is no result: another transaction changed the data that the result depends on, or the update is too large
    /// for one transaction.
    case unfinished
}

extension Store {
    /// Repeats `body` while it returns `unfinished` because other transactions change the customer. Throws `busy` after
    /// 20 attempts.
    func retrying<Value: Sendable>(
        _ body: () async throws(StoreError) -> Attempt<Value>
    ) async throws(StoreError) -> Value {
        for number in 0..<20 {
            // After three attempts, a random wait lets the other transactions finish first.
            if number > 2 { try? await Task.sleep(for: .milliseconds(Int.random(in: 1...10 * number))) }
            if case .done(let value) = try await body() { return value }
        }
        throw .busy
    }
}
