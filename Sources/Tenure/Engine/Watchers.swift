import Foundation
import TenureCore

/// The streams that follow one value. The object that has the value, the *owner* of the streams, sends each new value.
///
/// `send` and `close` only add to a queue, so the owner can call them while it holds its lock. `deliver` yields the
/// queued values to the streams, and the owner must call it after it has released its lock. Otherwise there could be a
/// deadlock: yielding takes the lock of the task that waits for the stream. Another thread that cancels this task holds
/// the same lock while it runs cancellation handlers, and these may need the owner's lock.
final class Watchers<Value: Sendable>: Sendable {
    /// A value that a stream still has to get. Nil ends the stream.
    private typealias Delivery = (continuation: AsyncStream<Value>.Continuation, value: Value?)

    private struct State: Sendable {
        var continuations: [UUID: AsyncStream<Value>.Continuation] = [:]
        var queue: [Delivery] = []
        var isDelivering = false
        var isClosed = false
    }

    private let state = Locked(State())

    /// Returns a stream that begins with this value. After `close`, the stream ends after this value.
    func add(first: Value, bufferSize: Int) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream<Value>.makeStream(bufferingPolicy: .bufferingNewest(bufferSize))
        let id = UUID()
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.continuations.removeValue(forKey: id) }
        }
        // No task waits for this stream yet, so yielding at once can't cause a deadlock.
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
            state.queue += state.continuations.values.map { stream -> Delivery in (stream, value) }
        }
    }

    /// Queues the end of every stream.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.queue += state.continuations.values.map { stream -> Delivery in (stream, nil) }
            state.continuations = [:]
        }
    }

    /// Delivers all queued values. If another thread is delivering, that thread delivers them, so that the order is
    /// kept.
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

    /// Removes and returns all queued values. If the queue is empty, ends this thread's delivery and returns nil.
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
