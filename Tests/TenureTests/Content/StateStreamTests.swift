import Testing

@testable import Tenure

@Suite struct `Streams of asset packs' states` {
    private func all(_ stream: AsyncStream<Tenure.AssetPack.State>) async -> [Tenure.AssetPack.State] {
        var states: [Tenure.AssetPack.State] = []
        for await state in stream { states.append(state) }
        return states
    }

    @Test func `a watcher gets the current state and the changes of its pack, and no changes of other packs`() async {
        let states = ContentStates()
        states.post(.paused, of: "piano")
        let (piano, organ) = (states.watch("piano"), states.watch("organ"))
        states.post(.available(size: 1), of: "piano")
        states.post(.available(size: 1), of: "piano")
        states.post(["organ": .paused, "piano": .available(size: 1)])
        // A pack that is no longer published has no known state.
        states.post(["organ": .paused])
        states.close()
        #expect(await all(piano) == [.paused, .available(size: 1), .unknown])
        #expect(await all(organ) == [.unknown, .paused])
    }

    @Test func `a stream that begins after the end has the last state, and ends`() async {
        let states = ContentStates()
        states.post(.paused, of: "piano")
        states.close()
        #expect(await all(states.watch("piano")) == [.paused])
        #expect(await all(states.watch("organ")) == [.unknown])
        states.post(.available(size: 1), of: "piano")
        #expect(states.state(of: "piano") == .available(size: 1))
    }
}
