import Foundation
import TenureCore
import Testing

@testable import Tenure

@Suite struct `Log lines about the local state` {
    private let lines = Locked<[String]>([])

    private func device(_ storage: MemoryStateStorage) -> Device {
        let lines = lines
        return Device(FakeStore { $0.app = InventedApp.owner() }, storage: storage) { setup in
            setup.options.log = Tenure.Log { level, line in lines.withLock { $0.append("\(level.rawValue): \(line)") } }
        }
    }

    private func count(_ line: String) -> Int { lines.withLock { $0.count { $0 == line } } }

    @Test func `a local state that can't be read is logged once, however often it is read`() async {
        let storage = MemoryStateStorage()
        storage.isLocked = true
        let tenure = device(storage).start()
        _ = await tenure.settled()
        for _ in 0..<2 { await tenure.engine.searchAgain() }
        #expect(count("error: the stored state can't be read now: IsLocked()") == 1)
        storage.isLocked = false
        await tenure.engine.searchAgain()
        #expect(
            tenure.customer.steps.first { $0.name == .localState }?.outcome == .skipped("nothing was stored yet"))
        #expect(count("error: the stored state can't be read now: IsLocked()") == 1)
        #expect(storage.contents != nil)
    }

    @Test func `a local state that is replaced is logged once`() async {
        let tenure = device(MemoryStateStorage(Data("no state".utf8))).start()
        _ = await tenure.settled()
        await tenure.engine.searchAgain()
        let reason = "the state was changed or truncated, or is from another device"
        #expect(count("error: the stored state is ignored and replaced: \(reason)") == 1)
    }

    @Test func `a local state that isn't news is neither written nor logged`() async {
        let storage = MemoryStateStorage()
        let device = device(storage)
        _ = await device.start().settled()
        let writes = storage.writes
        #expect(writes > 0)
        for (seconds, count) in [(0.0, writes), (299, writes), (300, writes + 1)] {
            device.time.now = InventedApp.now.addingTimeInterval(seconds)
            _ = await device.start().settled()
            #expect(storage.writes == count, "after \(seconds) seconds")
        }
        #expect(lines.withLock { $0 } == [])
    }

    @Test func `a local state stays bound to its device while StoreKit doesn't name the device`() async {
        let device = device(MemoryStateStorage())
        _ = await device.start().settled()
        device.store.change { $0.device = nil }
        // The state is written again.
        device.time.now += 600
        _ = await device.start().settled()
        device.store.change { $0.device = InventedApp.otherDevice }
        let step = await device.start().settled().steps.first { $0.name == .localState }
        #expect(step?.outcome == .failed("the state is from another device"))
    }

    @Test func `another account is logged, without its ID`() async {
        let device = device(MemoryStateStorage())
        _ = await device.start().settled()
        device.store.change { $0.app = InventedApp.newcomer() }
        _ = await device.start().settled()
        #expect(
            lines.withLock { $0 } == ["info: another account is signed in; the previous account's data is discarded"])
    }

    // MARK: What a failure means for the next search

    @Test func `a local state that can't be written doesn't make the client ask the App Store again soon`() async {
        let storage = MemoryStateStorage()
        storage.refusesWrites = true
        let device = device(storage)
        let tenure = device.start()
        await device.time.sleeping(1)
        #expect(device.time.slept == [InventedApp.day])
        withExtendedLifetime(tenure) {}
    }

    @Test func `a policy that can't be used doesn't make the client ask the App Store again soon`() async {
        let device = device(MemoryStateStorage())
        let tenure = device.start { $0.policy = .file(URL(fileURLWithPath: "/nowhere/none.json")) }
        await device.time.sleeping(1)
        #expect(device.time.slept == [InventedApp.day])
        withExtendedLifetime(tenure) {}
    }
}

@Suite struct `What a device reads from the App Store` {
    private func state(_ change: (inout Setup) -> Void = { _ in }) -> DeviceState {
        var setup = Setup(access: FakeStore(), storage: MemoryStateStorage(), policy: nil)
        setup.clock = { InventedApp.now }
        change(&setup)
        return DeviceState(setup, policy: .success(InventedApp.policy()))
    }

    @Test func `a list with unverified transactions is incomplete, and its verified transactions count`() async {
        let device = state()
        let reader = AppStoreReader(device)
        await reader.addTransactions(
            .success([
                .verified(InventedApp.purchase(id: "1")), .unverified(reason: "invalid signature"),
                .verified(InventedApp.purchase(InventedApp.yearly, id: "2")),
            ]), requestedProducts: [InventedApp.everything])
        #expect(
            device.snapshot.steps.last
                == Tenure.AppStoreStep(
                    name: .purchases, outcome: .failed("StoreKit couldn't verify 1 of 3 transactions")))
        #expect(device.snapshot.transactions == nil)
        #expect(device.stored.account.purchases.map(\.transactionID) == ["1", "2"])
    }

    @Test func `an empty list without a requested product doesn't count`() async {
        let device = state()
        let reader = AppStoreReader(device)
        await reader.addTransactions(.success([]), requestedProducts: [])
        let failure = "StoreKit listed no purchases, and no product was requested to check that the App Store responds"
        #expect(device.snapshot.steps.last == Tenure.AppStoreStep(name: .purchases, outcome: .failed(failure)))
        #expect(device.snapshot.transactions == nil)
        await reader.addTransactions(.success([]), requestedProducts: [InventedApp.everything])
        #expect(device.snapshot.transactions == [] && device.snapshot.knowsPurchases)
    }

    @Test func `an offline root's list of revoked keys replaces the list of a root that an earlier release pinned`()
        throws
    {
        let (root, online) = (Signer(), Signer())
        let (pinned, revoked) = (try root.pinned(), try online.pinned().id)
        let device = state { $0.root = pinned }
        device.stored.revocations = KeyRevocations(root: "earlier", counter: 9, keys: ["another"])
        for (list, counter, keys) in [
            (try root.revoke([online], counter: 2), 2, [revoked]), (try root.revoke([], counter: 1), 2, [revoked]),
            (try Signer().revoke([], counter: 7), 2, [revoked]), (nil, 2, [revoked]),
            (try root.revoke([], counter: 3), 3, [revoked]),
        ] as [(String?, Int64, Set<String>)] {
            device.addRevocations(list)
            #expect(device.stored.revocations == KeyRevocations(root: pinned.id, counter: counter, keys: keys))
        }
    }
}
