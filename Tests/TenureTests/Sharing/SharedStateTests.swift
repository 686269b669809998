import Foundation
import TenureCore
import Testing

@testable import Tenure

/// An app and its extension, in one process: each `Device` is a process with the shared storage.
@Suite struct `A state that an app and its extension share` {
    private func pair(_ app: AppStoreAppTransaction = InventedApp.newcomer(), trial: Trial = .sessions(3)) -> (
        Device, Device
    ) {
        let storage = MemoryStateStorage()
        let policy = InventedApp.policy(trial: trial)
        return (
            Device(FakeStore { $0.app = app }, storage: storage, policy: policy),
            Device(FakeStore { $0.app = app }, storage: storage, policy: policy)
        )
    }

    private func silence(_ device: Device) {
        device.store.change {
            $0.appBehavior = .throwsAnError
            $0.transactionsBehavior = .throwsAnError
        }
    }

    @Test func `a shared state has three trial sessions for both processes together`() async throws {
        let (first, second) = pair()
        let (app, appExtension) = (first.start(), second.start())
        for tenure in [app, appExtension] { _ = await tenure.settled() }
        #expect(try await app.trial("everything").begin().sessionsLeft == 2)
        #expect(try await appExtension.trial("everything").begin().sessionsLeft == 1)
        #expect(try await app.trial("everything").begin().sessionsLeft == 0)
        #expect(await !appExtension.trial("everything").isOffered)
        for tenure in [app, appExtension] {
            await #expect(throws: Tenure.Error.trialOver(entitlement: "everything")) {
                try await tenure.trial("everything").begin()
            }
        }
    }

    @Test func `a shared state has one trial of days, which begins with the first process`() async throws {
        let (first, second) = pair(trial: .days(7))
        let (app, appExtension) = (first.start(), second.start())
        for tenure in [app, appExtension] { _ = await tenure.settled() }
        let begun = try await app.trial("everything").begin()
        second.time.now += 2 * InventedApp.day
        #expect(try await appExtension.trial("everything").begin().ends == begun.ends)
    }

    @Test func `an extension grants a purchase that the app wrote to the shared state, once it asks StoreKit again`()
        async
    {
        let (first, second) = pair()
        silence(second)
        let appExtension = second.start { $0.options.whileUndetermined = .deny }
        #expect(await !appExtension.allows("everything"))
        first.store.change { $0.transactions = [InventedApp.purchase()] }
        let app = first.start()
        #expect(await app.allows("everything"))
        // The app writes its state after it has asked StoreKit.
        await app.engine.searchAgain()
        await appExtension.engine.searchAgain()
        #expect(await appExtension.allows("everything"))
    }

    @Test func `a shared state loses no purchase that another process wrote meanwhile`() async {
        let (first, second) = pair()
        let (app, appExtension) = (first.start(), second.start())
        for tenure in [app, appExtension] { _ = await tenure.settled() }
        // Each sees one purchase, and writes without reading the other's state first.
        await app.engine.receiveForTests(InventedApp.purchase(id: "410000000000001"))
        await appExtension.engine.receiveForTests(InventedApp.purchase(InventedApp.yearly, id: "410000000000002"))
        for device in [first, second] { silence(device) }
        let engine = first.start().engine
        await engine.load()
        let ids = await engine.stored.account.purchases.map(\.transactionID)
        #expect(Set(ids) == ["410000000000001", "410000000000002"])
    }

    @Test(arguments: Tenure.Distribution.allCases)
    func `an extension that can't tell how the app was installed doesn't discard the shared state`(
        _ assumed: Tenure.Distribution
    ) async {
        let (first, second) = pair(InventedApp.owner())
        #expect(await first.start().settled().has("everything"))
        silence(first)
        silence(second)
        second.store.change { $0.distribution = assumed }
        let running = first.start()
        #expect(await running.settled().has("everything"))
        let appExtension = second.start {
            $0.host = HostProcess(.appExtension, bundleID: InventedApp.bundleID + ".widget")
            $0.options.accessGroup = "group.com.example.calculator"
        }
        _ = await appExtension.settled()
        await appExtension.engine.searchAgain()
        await running.engine.searchAgain()
        #expect(running.customer.has("everything"))
        #expect(await first.start().settled().has("everything"))
    }

    @Test func `after another account signs in, an idle extension drops the owner's right once it asks StoreKit again`()
        async
    {
        let (first, second) = pair(InventedApp.owner())
        let appExtension = second.start()
        #expect(await appExtension.allows("everything"))
        first.store.change { $0.app = InventedApp.newcomer() }
        #expect(await !first.start().settled().has("everything"))
        second.store.change { $0.app = InventedApp.newcomer() }
        await appExtension.engine.searchAgain()
        #expect(await !appExtension.allows("everything"))
    }

    @Test func `a failed change of the shared state doesn't overwrite what another process wrote`() throws {
        struct Refused: Error {}
        let storage = MemoryStateStorage()
        func process() -> WorkingState {
            var state = WorkingState(
                StateLocation(storage: storage), device: nil, distribution: .appStore, persona: nil,
                clock: InventedApp.now)
            state.reload(at: InventedApp.now)
            return state
        }
        var (mine, other) = (process(), process())
        other.current.account.grantedByDevice = ["everything": .kept("everything", title: nil, until: nil)]
        try other.save(at: InventedApp.now)
        do {
            try mine.update(at: InventedApp.now) { _ in throw Refused() }
            Issue.record("the change didn't fail")
        } catch is Refused {}
        try mine.save(at: InventedApp.now)
        #expect(process().current.account.grantedByDevice.keys.contains("everything"))
    }
}

extension Engine {
    /// A purchase that is written without a search, which would read the stored state first.
    fileprivate func receiveForTests(_ transaction: AppStoreTransaction) {
        appStore.addTransactions([transaction])
        device.save()
    }
}

@Suite struct `A private state that becomes shared` {
    private let `private` = MemoryStateStorage()
    private let shared = MemoryStateStorage(key: Data("of the group".utf8))

    private func device(_ change: (inout FakeStore.State) -> Void = { $0.app = InventedApp.newcomer() }) -> Device {
        Device(FakeStore(change), storage: `private`, policy: InventedApp.policy(trial: .sessions(5)))
    }

    private func share(_ setup: inout Setup) {
        setup.location = StateLocation(storage: shared, formerStorage: `private`)
    }

    @Test func `a private state that becomes shared is moved, and removed from the private storage`() async {
        let device = device { $0.app = InventedApp.owner() }
        _ = await device.start().settled()
        device.store.change { $0.appBehavior = .throwsAnError }
        let tenure = device.start(share)
        #expect(await tenure.allows("everything"))
        #expect(`private`.contents == nil)
        #expect(shared.contents != nil)
        #expect(await device.start(share).allows("everything"))
    }

    @Test func `a TestFlight build's private state grants nothing after the App Store copy turns on sharing`() async {
        let device = device {
            $0.distribution = .testFlight
            $0.app = InventedApp.newcomer(environment: .sandbox)
            $0.transactions = [InventedApp.purchase(environment: .sandbox)]
        }
        #expect(await device.start().allows("everything"))
        device.store.change {
            $0.distribution = .appStore
            $0.appBehavior = .throwsAnError
            $0.transactionsBehavior = .throwsAnError
        }
        let tenure = device.start {
            share(&$0)
            $0.options.whileUndetermined = .deny
        }
        #expect(await !tenure.allows("everything"))
        #expect(tenure.customer.environment == nil)
    }

    @Test
    func `the trial sessions of a private state are added to the shared state only once`()
        async throws
    {
        let device = device()
        for _ in 0..<2 { _ = try await device.start().trial("everything").begin() }
        let kept = `private`.contents
        // An extension used the shared state first.
        _ = try await device.start { $0.location = StateLocation(storage: shared) }.trial("everything").begin()
        _ = await device.start(share).settled()
        // The private state is still there, as if it couldn't be removed.
        `private`.contents = kept
        #expect(try await device.start(share).trial("everything").begin().sessionsLeft == 1)
        #expect(`private`.contents == nil)
    }

    @Test func `a private state is used while the group's storage can't be written, and is moved later`() async {
        let device = device { $0.app = InventedApp.owner() }
        _ = await device.start().settled()
        device.store.change { $0.appBehavior = .throwsAnError }
        shared.refusesWrites = true
        let tenure = device.start(share)
        #expect(await tenure.allows("everything"))
        #expect(`private`.contents != nil)
        shared.refusesWrites = false
        await tenure.engine.searchAgain()
        #expect(`private`.contents == nil)
        #expect(await device.start(share).allows("everything"))
    }
}

@Suite struct `A keychain before the first unlock` {
    private let file = URL(fileURLWithPath: NSTemporaryDirectory() + "tenure-\(UUID().uuidString)")

    /// A device with a locked keychain and a failing StoreKit.
    private func lockedDevice() async -> Device {
        let file = file
        let storage = MemoryStateStorage()
        let device = Device(FakeStore { $0.app = InventedApp.owner() }, storage: storage) { setup in
            setup.location = StateLocation(storage: storage, gracePeriod: GracePeriodFile(url: file))
        }
        _ = await device.start().settled()
        device.store.change {
            $0.appBehavior = .throwsAnError
            $0.transactionsBehavior = .throwsAnError
        }
        storage.isLocked = true
        // First seen long ago, but the locked keychain doesn't reveal that.
        device.time.now += 300 * InventedApp.day
        return device
    }

    @Test func `while the keychain is locked, the policy's grace period applies, even if the clock is set back`() async
    {
        let device = await lockedDevice()
        defer { try? FileManager.default.removeItem(at: file) }
        for hours in [0, 30, 41] {
            device.time.now += TimeInterval(hours) * 3600
            #expect(await device.start().allows("everything"), "\(hours)")
        }
        device.time.now += 2 * 3600
        #expect(await !device.start().allows("everything"))
        // Turning the clock back doesn't extend the grace period.
        device.time.now -= 2 * InventedApp.day
        #expect(await !device.start().allows("everything"))
    }

    @Test func `the grace period of a locked keychain ends even if its file has a beginning in the future`()
        async throws
    {
        let device = await lockedDevice()
        defer { try? FileManager.default.removeItem(at: file) }
        let now = device.time.now.timeIntervalSinceReferenceDate
        let dates: [String: Any] = [
            "floor": now, "lastClock": now, "firstSeen": now + 365 * InventedApp.day, "beginnings": [String: Double](),
        ]
        try JSONSerialization.data(withJSONObject: dates).write(to: file)
        #expect(await device.start().allows("everything"))
        device.time.now += 73 * 3600
        #expect(await !device.start().allows("everything"))
    }

    @Test func `after the device is unlocked, the keychain is read again, and the grace period's file is removed`()
        async throws
    {
        let device = await lockedDevice()
        let (events, occur) = AsyncStream.makeStream(of: DeviceEvent.self)
        let tenure = device.start {
            $0.options.whileUndetermined = .deny
            $0.events = { events }
        }
        #expect(await !tenure.allows("everything"))
        #expect(FileManager.default.fileExists(atPath: file.path))
        device.storage.isLocked = false
        occur.yield(.keychainUnlocked)
        for await customer in tenure.updates where customer.has("everything") { break }
        #expect(await tenure.allows("everything"))
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test func `the file that is stored while the keychain is locked contains only dates`() async throws {
        let device = await lockedDevice()
        _ = await device.start().settled()
        defer { try? FileManager.default.removeItem(at: file) }
        let fields = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
        #expect(Set(fields.map { Array($0.keys) } ?? []) == ["floor", "lastClock", "firstSeen", "beginnings"])
    }
}
