extension AsyncStream where Element: Sendable {
    /// Yields whenever this stream or the other stream yields, until both streams end.
    func merged<Other: Sendable>(with other: AsyncStream<Other>) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let task = Task {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for await _ in self { continuation.yield() } }
                group.addTask { for await _ in other { continuation.yield() } }
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }
}
