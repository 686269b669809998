import Foundation
import TenureCore
import Testing

@testable import Tenure

@Suite struct `The local state` {
    /// A device with the stored state of a customer.
    private func deviceWithState(_ app: AppStoreAppTransaction = InventedApp.owner()) async -> Device {
        let device = Device(FakeStore { $0.app = app })
        _ = await device.start().settled()
        return device
    }

    private func silence(_ device: Device) {
        device.store.change {
            $0.appBehavior = .throwsAnError
            $0.transactionsBehavior = .throwsAnError
        }
    }

    @Test func `an owner keeps the right from the local state alone while StoreKit fails`() async {
        let device = await deviceWithState()
        silence(device)
        let tenure = device.start()
        #expect(await tenure.allows("everything"))
        #expect(tenure.acquisition?.originalAppVersion == "37")
        #expect(tenure.customer.environment == .production)
    }

    @Test func `the local state remembers the account of purchases, even without an app transaction`() async {
        let device = Device(
            FakeStore {
                $0.appBehavior = .throwsAnError
                $0.transactions = [InventedApp.purchase(of: "704000000000000001")]
            }, policy: InventedApp.policy(whileUndetermined: .deny))
        #expect(await device.start().settled().has("everything"))
        // The next customer's subscription includes `cloud`, and `everything` only until it ends.
        let end = InventedApp.now.addingTimeInterval(InventedApp.day)
        device.store.change { $0.transactions = [InventedApp.subscription(until: end, of: "704000000000000002")] }
        let customer = await device.start().settled()
        #expect(customer.answers["cloud"]?.until == end && customer.answers["everything"]?.until == end)
    }

    @Test func `the local state keeps a subscription in Apple's billing grace period at the next start offline`() async
    {
        let graceEnd = InventedApp.now.addingTimeInterval(5 * InventedApp.day)
        let device = subscriber(until: InventedApp.now.addingTimeInterval(-InventedApp.day))
        device.store.change {
            $0.renewals = [Self.renewal(graceUntil: graceEnd, signed: InventedApp.now.addingTimeInterval(-60))]
        }
        #expect(await device.start().settled().has("cloud"))
        silence(device)
        let customer = await device.start().settled()
        #expect(customer.answers["cloud"]?.until == graceEnd)
    }

    private static func renewal(graceUntil end: Date? = nil, signed: Date) -> AppStoreRenewal {
        AppStoreRenewal(
            jws: "renewal.\(signed.timeIntervalSince1970)",
            renewal: Renewal(
                originalTransactionID: "410000000000002", productID: InventedApp.yearly, gracePeriodExpiresDate: end,
                isInBillingRetryPeriod: end != nil, signedDate: signed))
    }

    @Test func `the local state is ignored and created again if a byte was changed`() async throws {
        let device = await deviceWithState()
        let sound = try #require(device.storage.contents)
        for place in [0, 7, 8, 20, 39, 40, 60, sound.count / 2, sound.count - 1] {
            var corrupted = sound
            corrupted[place] ^= 1
            device.storage.contents = corrupted
            silence(device)
            let tenure = device.start { $0.options.whileUndetermined = .deny }
            #expect(await !tenure.allows("everything"), "byte \(place)")
            // The state is created again as soon as StoreKit answers.
            device.store.change { $0.appBehavior = .answers }
            await tenure.engine.searchAgain()
            #expect(await tenure.allows("everything"), "byte \(place)")
        }
    }

    @Test func `the local state is ignored if it was truncated`() async throws {
        let device = await deviceWithState()
        let sound = try #require(device.storage.contents)
        silence(device)
        for length in [0, 1, 8, 39, 40, 41, sound.count - 1] {
            device.storage.contents = sound.prefix(length)
            #expect(
                await !device.start { $0.options.whileUndetermined = .deny }.allows("everything"), "\(length) bytes")
        }
    }

    @Test func `the local state is ignored on another device`() async throws {
        let device = await deviceWithState()
        // Another secret: only the file was copied.
        let other = Device(
            FakeStore { $0.appBehavior = .throwsAnError },
            storage: MemoryStateStorage(device.storage.contents, key: Data("of another device".utf8)),
            policy: InventedApp.policy(whileUndetermined: .deny))
        #expect(await !other.start().allows("everything"))
        // The secret was copied too, but StoreKit names another device.
        let copy = Device(
            FakeStore {
                $0.appBehavior = .throwsAnError
                $0.device = InventedApp.otherDevice
            }, storage: MemoryStateStorage(device.storage.contents),
            policy: InventedApp.policy(whileUndetermined: .deny))
        #expect(await !copy.start().allows("everything"))
    }

    /// The dates of a state, as they are stored.
    private struct Dates: Encodable {
        var floor = InventedApp.now
        var lastClock = InventedApp.now
        var firstSeen = InventedApp.now
        var beginnings: [String: Date] = [:]
    }

    @Test func `the local state is ignored if its dates contradict each other`() async throws {
        let (earlier, later) = (
            InventedApp.now.addingTimeInterval(-InventedApp.day), InventedApp.now.addingTimeInterval(InventedApp.day)
        )
        let cases: [(dates: Dates, isPossible: Bool)] = [
            (Dates(), true), (Dates(firstSeen: earlier), true), (Dates(lastClock: earlier, firstSeen: earlier), true),
            // The grace period would begin in the future.
            (Dates(firstSeen: later), false),
            // The clock was never later than the latest known instant.
            (Dates(lastClock: later), false),
        ]
        for (dates, isPossible) in cases {
            let device = await deviceWithState()
            silence(device)
            let time = try JSONDecoder().decode(DeviceTime.self, from: try JSONEncoder().encode(dates))
            try device.storage.update(device: nil) { found in
                guard case .state(var state) = found else { throw Unexpected() }
                state.time = time
                return state
            }
            let customer = await device.start().settled()
            #expect(customer.has("everything") == isPossible, "\(dates)")
            let outcome: Tenure.AppStoreStep.Outcome =
                isPossible ? .done : .failed("the dates in the state contradict each other")
            #expect(customer.steps.first { $0.name == .localState }?.outcome == outcome, "\(dates)")
        }
    }

    @Test func `a local state that temporarily can't be read isn't replaced`() async throws {
        let device = await deviceWithState()
        let sound = device.storage.contents
        device.storage.isLocked = true
        silence(device)
        let tenure = device.start()
        #expect(await tenure.decision(for: "everything").outcome == .undetermined)
        device.storage.isLocked = false
        #expect(device.storage.contents == sound)
        await tenure.engine.searchAgain()
        #expect(await tenure.decision(for: "everything").outcome == .granted)
    }

    @Test func `the local state of a TestFlight copy gives nothing to a later App Store copy`() async {
        let device = Device(
            FakeStore {
                $0.distribution = .testFlight
                $0.app = InventedApp.newcomer(environment: .sandbox)
                $0.transactions = [InventedApp.purchase(environment: .sandbox)]
            })
        #expect(await device.start().allows("everything"))
        device.store.change {
            $0.distribution = .appStore
            $0.appBehavior = .throwsAnError
            $0.transactionsBehavior = .throwsAnError
        }
        #expect(await !device.start { $0.options.whileUndetermined = .deny }.allows("everything"))
    }

    @Test func `the local state doesn't extend a subscription when the clock is turned back`() async {
        let end = InventedApp.now.addingTimeInterval(10 * InventedApp.day)
        let device = subscriber(until: end)
        #expect(await device.start().allows("cloud"))
        device.time.now = end.addingTimeInterval(InventedApp.day)
        #expect(await !device.start().allows("cloud"))
        device.time.now = InventedApp.now
        #expect(await !device.start().allows("cloud"))
        // An owner's right has no end, so the clock doesn't affect it.
        let owner = await deviceWithState()
        silence(owner)
        owner.time.now = Date(timeIntervalSince1970: 0)
        #expect(await owner.start().allows("everything"))
    }

    private func subscriber(until end: Date) -> Device {
        Device(
            FakeStore {
                $0.app = InventedApp.newcomer()
                $0.transactions = [InventedApp.subscription(until: end)]
            })
    }

    @Test func `the local state extends nothing when the clock is turned back while the app runs`() async {
        let end = InventedApp.now.addingTimeInterval(InventedApp.day)
        let device = subscriber(until: end)
        let tenure = device.start()
        #expect(await tenure.allows("cloud"))
        device.time.now = end
        #expect(await !tenure.allows("cloud"))
        device.time.now = InventedApp.now
        #expect(await !tenure.allows("cloud"))
    }

    @Test func `no change of the device's clock extends the grace period`() async {
        let device = Device(FakeStore { $0.appBehavior = .throwsAnError })
        // First seen in a year far in the future.
        device.time.now = InventedApp.date("2099-01-01")
        #expect(await device.start().allows("everything"))
        device.time.now = InventedApp.now
        #expect(await device.start().allows("everything"))
        device.time.now += 73 * 3600
        #expect(await !device.start().allows("everything"))
        // The clock is turned back again and again.
        device.time.now -= 72 * 3600
        #expect(await !device.start().allows("everything"))
    }

    enum NewerArtifact: CaseIterable {
        case appTransaction, transaction, renewalInfo
    }

    @Test(arguments: NewerArtifact.allCases)
    func `after a wrong clock, the local state accepts the corrected clock once a newer artifact arrives`(
        _ artifact: NewerArtifact
    ) async {
        let end = InventedApp.now.addingTimeInterval(300 * InventedApp.day)
        let device = subscriber(until: end)
        device.time.now = InventedApp.date("2099-01-01")
        #expect(await !device.start().allows("cloud"))
        device.time.now = InventedApp.now
        let tenure = device.start()
        #expect(await tenure.decision(for: "cloud").outcome == .undetermined)
        let later = InventedApp.now.addingTimeInterval(60)
        device.store.change { state in
            switch artifact {
            case .appTransaction: state.app = InventedApp.newcomer(signed: later)
            case .transaction:
                state.transactions.append(
                    InventedApp.purchase(ServedStore.coins, id: "410000000000003", type: .consumable, signed: later))
            case .renewalInfo: state.renewals = [Self.renewal(signed: later)]
            }
        }
        device.time.now = later
        await tenure.engine.searchAgain()
        #expect(await tenure.decision(for: "cloud").outcome == .granted)
    }

    @Test func `the local state remembers a refund at the next start offline`() async {
        let device = Device(
            FakeStore {
                $0.app = InventedApp.newcomer()
                $0.transactions = [InventedApp.purchase(revoked: InventedApp.now.addingTimeInterval(-60))]
            })
        #expect(await device.start().decision(for: "everything").outcome == .denied)
        silence(device)
        let tenure = device.start { $0.options.whileUndetermined = .deny }
        #expect(await !tenure.settled().has("everything"))
        #expect(await !tenure.allows("everything"))
    }

    @Test func `one account's ended right doesn't shorten the grace period of the next account`() async {
        let end = InventedApp.now.addingTimeInterval(3600)
        let device = subscriber(until: end)
        let tenure = device.start()
        #expect(await tenure.allows("cloud"))
        device.time.now = end
        #expect(await !tenure.allows("cloud"))
        device.store.change {
            $0.app = InventedApp.newcomer(id: "704000000000000003", signed: end)
            $0.transactionsBehavior = .throwsAnError
        }
        let customer = await tenure.refresh()
        #expect(customer.answers["cloud"]?.outcome == .undetermined)
        #expect(await tenure.allows("cloud"))
    }

    @Test func `the local state keeps a type of product that this release doesn't know`() throws {
        var state = StoredState(clock: InventedApp.now)
        for (id, name) in [("1", "Rental"), ("2", "consumable"), ("3", "Rental?")] {
            state.account.add([InventedApp.purchase(id: id, type: .unknown(name))])
        }
        for _ in 0..<2 {
            state = try JSONDecoder().decode(StoredState.self, from: try JSONEncoder().encode(state))
            let types = state.account.purchases.sorted { $0.transactionID < $1.transactionID }.map(\.type)
            #expect(types == [.unknown("Rental"), .unknown("consumable"), .unknown("Rental?")])
        }
    }

    @Test func `the client reports and logs a local state that can't be written`() async throws {
        let lines = Locked<[String]>([])
        let device = Device(FakeStore { $0.app = InventedApp.owner() }) { setup in
            setup.options.log = Tenure.Log { level, line in lines.withLock { $0.append("\(level.rawValue): \(line)") } }
        }
        device.storage.refusesWrites = true
        let customer = await device.start().settled()
        #expect(customer.has("everything"))
        let logged = lines.withLock { $0 }
        #expect(logged.contains("error: the local state can't be written: IsLocked()"), "\(logged)")
        let step = try #require(customer.steps.first { $0.name == .localState })
        guard case .failed = step.outcome else {
            Issue.record("\(step)")
            return
        }
    }
}
