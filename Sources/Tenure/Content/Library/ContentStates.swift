import TenureCore

/// The last published states of all packs, and the streams that follow them.
final class ContentStates: Sendable {
    typealias State = Tenure.AssetPack.State

    private struct Contents: Sendable {
        var states: [String: State] = [:]
        var isClosed = false
        var watchers: [String: Watchers<State>] = [:]

        func state(of name: String) -> State { states[name] ?? .unknown }
    }

    private let contents = Locked(Contents())

    func state(of name: String) -> State { contents.withLock { $0.state(of: name) } }

    /// Returns the current state of a pack, and the state after every change.
    func watch(_ name: String) -> AsyncStream<State> {
        contents.withLock { contents in
            let watchers = contents.watchers[name] ?? Watchers()
            if contents.isClosed { watchers.close() } else { contents.watchers[name] = watchers }
            return watchers.add(first: contents.state(of: name), bufferSize: 16)
        }
    }

    /// Replaces the states of all packs.
    func post(_ states: [String: State]) { update { $0.states = states } }

    func post(_ state: State, of name: String) { update { $0.states[name] = state } }

    /// Changes states, and notifies the watchers of the changed states after the lock is released; see `Watchers`.
    private func update(_ change: (inout Contents) -> Void) {
        let changed = contents.withLock { contents in
            let before = contents
            change(&contents)
            return contents.watchers.compactMap { name, watchers -> Watchers<State>? in
                let state = contents.state(of: name)
                guard state != before.state(of: name) else { return nil }
                watchers.send(state)
                return watchers
            }
        }
        for watchers in changed { watchers.deliver() }
    }

    /// Ends all streams.
    func close() {
        let all = contents.withLock { contents in
            let all = Array(contents.watchers.values)
            contents.isClosed = true
            contents.watchers = [:]
            return all
        }
        for watchers in all {
            watchers.close()
            watchers.deliver()
        }
    }
}
