import Foundation
import TenureCore

/// The states of all packs, as they were published last.
final class ContentStates: Sendable {
    typealias State = Tenure.AssetPack.State

    private struct Contents: Sendable {
        var states: [String: State] = [:]
        /// The state of packs without one.
        var fallback = State.unknown
        var isClosed = false
        var watchers: [UUID: (name: String, continuation: AsyncStream<State>.Continuation)] = [:]
    }

    private let contents = Locked(Contents())

    func state(of name: String) -> State { contents.withLock { $0.states[name] ?? $0.fallback } }

    func watch(_ name: String) -> AsyncStream<State> {
        let (stream, continuation) = AsyncStream.makeStream(of: State.self, bufferingPolicy: .bufferingNewest(16))
        let id = UUID()
        continuation.onTermination = { [weak self] _ in self?.contents.withLock { $0.watchers[id] = nil } }
        let isClosed = contents.withLock { contents in
            if !contents.isClosed { contents.watchers[id] = (name, continuation) }
            continuation.yield(contents.states[name] ?? contents.fallback)
            return contents.isClosed
        }
        // Outside of the lock, which `onTermination` takes.
        if isClosed { continuation.finish() }
        return stream
    }

    func post(_ states: [String: State], fallback: State) {
        contents.withLock { contents in
            let before = contents
            (contents.states, contents.fallback) = (states, fallback)
            for watcher in contents.watchers.values {
                let state = states[watcher.name] ?? fallback
                if state != before.states[watcher.name] ?? before.fallback { watcher.continuation.yield(state) }
            }
        }
    }

    func post(_ state: State, of name: String) {
        contents.withLock { contents in
            let before = contents.states.updateValue(state, forKey: name) ?? contents.fallback
            guard before != state else { return }
            for watcher in contents.watchers.values where watcher.name == name { watcher.continuation.yield(state) }
        }
    }

    func close() {
        let watchers = contents.withLock { contents in
            contents.isClosed = true
            defer { contents.watchers = [:] }
            return contents.watchers.values.map(\.continuation)
        }
        for watcher in watchers { watcher.finish() }
    }
}
