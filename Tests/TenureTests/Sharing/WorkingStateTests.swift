import Foundation
import TenureCore
import Testing

@testable import Tenure

@Suite struct `A process's copy of the state` {
    private let storage = MemoryStateStorage()
    private let now = InventedApp.now

    private func process() -> WorkingState {
        WorkingState(
            StateLocation(storage: storage), device: nil, distribution: .appStore, persona: nil, clock: now)
    }

    @Test func `a state that was removed while the app runs is written again, and an unchanged state isn't`() throws {
        var state = process()
        state.reload(at: now)
        state.current.account.add(InventedApp.owner())
        for _ in 0..<2 { try state.save(at: now) }
        #expect(storage.writes == 1)
        storage.contents = nil
        guard case .missing = state.reload(at: now) else { throw Unexpected() }
        try state.save(at: now)
        #expect(storage.writes == 2)
        var next = process()
        next.reload(at: now)
        #expect(next.current.account.proofs == [InventedApp.owner().proof])
    }

    @Test func `a change of the state returns its result, and is stored at once`() throws {
        var state = process()
        let count = try state.update(at: now) { state in
            state.account.add([InventedApp.purchase()])
            return state.account.purchases.count
        }
        #expect(count == 1 && state.current.account.purchases.count == 1)
        var next = process()
        next.reload(at: now)
        #expect(next.current.account.purchases == [InventedApp.purchase().purchase])
    }

    @Test func `a locked storage is unreadable only until it is read or written`() throws {
        var state = process()
        storage.isLocked = true
        state.reload(at: now)
        #expect(state.isUnreadable)
        #expect(throws: MemoryStateStorage.IsLocked.self) { try state.save(at: now) }
        #expect(state.isUnreadable)
        storage.isLocked = false
        try state.save(at: now)
        #expect(!state.isUnreadable && storage.writes == 1)
    }
}

@Suite struct `The file with the beginning of a grace period` {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tenure-" + UUID().uuidString)
    private let now = InventedApp.now

    @Test func `a grace period begins once, and again after its end or if its file is damaged`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        // The folder doesn't exist yet.
        let file = GracePeriodFile(url: folder.appendingPathComponent("unreadable-since"))
        #expect(file.begin(at: now).firstSeen == now)
        #expect(file.begin(at: now.addingTimeInterval(3600)).firstSeen == now)
        let again = now.addingTimeInterval(7200)
        for damaged in ["", "{}", "<html>"] {
            try Data(damaged.utf8).write(to: file.url)
            #expect(file.begin(at: again).firstSeen == again, "\(damaged)")
            #expect(file.begin(at: again.addingTimeInterval(60)).firstSeen == again, "\(damaged)")
        }
        for _ in 0..<2 { file.end() }
        #expect(!FileManager.default.fileExists(atPath: file.url.path))
        #expect(file.begin(at: now).firstSeen == now)
    }
}
