/// A database that runs transactions; all verbs of the record follow from it, once for every database.
package protocol SQLStore: Store {
    /// For large acts.
    var turns: Turns { get }

    /// One transaction that reads one state of the record and waits for no writer.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLSession) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value

    /// One transaction that writes: where it returns, all of it is flushed; where it throws, nothing happened.
    ///
    /// Acts with a key in common happen one after the other. `body` may run again where the database asks for it.
    func write<Value: Sendable>(
        locking keys: [String], _ body: @escaping @Sendable (any SQLSession) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value
}
