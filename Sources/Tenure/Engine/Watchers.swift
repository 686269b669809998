import Foundation
import TenureCore

/// The streams that follow one value.
///
/// `send` and `close` only queue, so the owner can call them under its lock, in the order of its changes. `deliver`
/// yields, and must be called without that lock. A yield takes the lock of the task that waits for the stream. A thread
/// that cancels this task holds the same lock while it runs cancellation handlers, and those may need the owner's lock.
final class Watchers<Value: Sendable>: Sendable {
    private struct Delivery: Sendable {
        let continuation: AsyncStream<Value>.Continuation
        /// Nil ends the stream.
        let value: Value?
    }

    private struct State: Sendable {
        var continuations: [UUID: AsyncStream<Value>.Continuation] = [:]
        var queue: [Delivery] = []
        var isDelivering = false
        var isClosed = false
    }

    private let state = Locked(State())

    /// Returns a stream that begins with a value. After `close` it ends with this value.
    func add(first: Value, bufferSize: Int) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Value.self, bufferingPolicy: .bufferingNewest(bufferSize))
        let id = UUID()
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.continuations.removeValue(forKey: id) }
        }
        // No task waits for this stream yet.
        continuation.yield(first)
        let isClosed = state.withLock { state in
            if !state.isClosed { state.continuations[id] = continuation }
            return state.isClosed
        }
        if isClosed { continuation.finish() }
        return stream
    }

    /// Queues a value for every stream.
    func send(_ value: Value) {
        state.withLock { state in
            state.queue += state.continuations.values.map { Delivery(continuation: $0, value: value) }
        }
    }

    /// Queues the end of every stream.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.queue += state.continuations.values.map { Delivery(continuation: $0, value: nil) }
            state.continuations = [:]
        }
    }

    /// Delivers what is queued, or leaves it to the thread that is delivering: one at a time keeps the order.
    func deliver() {
        let delivers = state.withLock { state in
            defer { state.isDelivering = true }
            return !state.isDelivering
        }
        guard delivers else { return }
        while let deliveries = takeQueue() {
            for delivery in deliveries {
                if let value = delivery.value {
                    delivery.continuation.yield(value)
                } else {
                    delivery.continuation.finish()
                }
            }
        }
    }

    /// Returns nil if nothing is queued. Then the next caller of `deliver` delivers.
    private func takeQueue() -> [Delivery]? {
        state.withLock { state in
            guard !state.queue.isEmpty else {
                state.isDelivering = false
                return nil
            }
            defer { state.queue = [] }
            return state.queue
        }
    }
}
