import Foundation
import TenureCore
import Testing

@testable import Tenure

@Suite struct `The local state` {
    /// What a device keeps after a customer was met.
    private func kept(_ app: StoreAppTransaction = World.owner()) async -> Device {
        let device = Device(FakeStore { $0.app = app })
        _ = await device.start().settled()
        return device
    }

    private func silence(_ device: Device) {
        device.store.change {
            $0.appMood = .throwsAnError
            $0.transactionsMood = .throwsAnError
        }
    }

    @Test func `alone is enough for an owner, as after a reinstallation`() async {
        let device = await kept()
        silence(device)
        let tenure = device.start()
        #expect(await tenure.allows("everything"))
        #expect(tenure.acquisition?.originalAppVersion == "37")
    }

    @Test func `is ignored and made anew where a byte was changed`() async throws {
        let device = await kept()
        let sound = try #require(device.storage.contents)
        for place in [0, 7, 8, 20, 39, 40, 60, sound.count / 2, sound.count - 1] {
            var spoilt = sound
            spoilt[place] ^= 1
            device.storage.contents = spoilt
            silence(device)
            let tenure = device.start { $0.options.whileUndetermined = .deny }
            #expect(await !tenure.allows("everything"), "byte \(place)")
            // It is made anew as soon as the store answers.
            device.store.change { $0.appMood = .answers }
            await tenure.engine.searchAgain()
            #expect(await tenure.allows("everything"), "byte \(place)")
        }
    }

    @Test func `is ignored where it was cut short`() async throws {
        let device = await kept()
        let sound = try #require(device.storage.contents)
        silence(device)
        for length in [0, 1, 8, 39, 40, 41, sound.count - 1] {
            device.storage.contents = sound.prefix(length)
            #expect(
                await !device.start { $0.options.whileUndetermined = .deny }.allows("everything"), "\(length) bytes")
        }
    }

    @Test func `is ignored on another device`() async throws {
        let device = await kept()
        // Another secret: a file that was copied alone.
        let other = Device(
            FakeStore { $0.appMood = .throwsAnError },
            storage: MemoryStateStorage(device.storage.contents, key: Data("of another device".utf8)),
            policy: World.policy(whileUndetermined: .deny))
        #expect(await !other.start().allows("everything"))
        // The secret came along, and the store names the device.
        let copy = Device(
            FakeStore {
                $0.appMood = .throwsAnError
                $0.device = World.otherDevice
            }, storage: MemoryStateStorage(device.storage.contents), policy: World.policy(whileUndetermined: .deny))
        #expect(await !copy.start().allows("everything"))
    }

    /// The dates of a state, as they are stored.
    private struct Dates: Encodable {
        var floor = World.now
        var lastClock = World.now
        var firstSeen = World.now
        var beginnings: [String: Date] = [:]
    }

    @Test func `is ignored where its dates are impossible`() async throws {
        let (earlier, later) = (World.now.addingTimeInterval(-World.day), World.now.addingTimeInterval(World.day))
        let cases: [(dates: Dates, isPossible: Bool)] = [
            (Dates(), true), (Dates(firstSeen: earlier), true), (Dates(lastClock: earlier, firstSeen: earlier), true),
            // Waiting would be counted from a day that is yet to come.
            (Dates(firstSeen: later), false),
            // The clock was never later than the latest instant that is known.
            (Dates(lastClock: later), false),
        ]
        for (dates, isPossible) in cases {
            let device = await kept()
            silence(device)
            let time = try JSONDecoder().decode(DeviceTime.self, from: try JSONEncoder().encode(dates))
            try device.storage.update(device: nil) { found in
                guard case .state(var state) = found else { throw Unexpected() }
                state.time = time
                return state
            }
            let customer = await device.start().settled()
            #expect(customer.has("everything") == isPossible, "\(dates)")
            let outcome: Tenure.StoreStep.Outcome = isPossible ? .done : .failed("its dates are impossible")
            #expect(customer.steps.first { $0.name == .localState }?.outcome == outcome, "\(dates)")
        }
    }

    @Test func `that cannot be read now is not replaced`() async throws {
        let device = await kept()
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

    @Test func `of a tester is nothing to what is bought later`() async {
        let device = Device(
            FakeStore {
                $0.distribution = .testFlight
                $0.app = World.newcomer(environment: .sandbox)
                $0.transactions = [World.purchase(environment: .sandbox)]
            })
        #expect(await device.start().allows("everything"))
        device.store.change {
            $0.distribution = .appStore
            $0.appMood = .throwsAnError
            $0.transactionsMood = .throwsAnError
        }
        #expect(await !device.start { $0.options.whileUndetermined = .deny }.allows("everything"))
    }

    @Test func `a clock that is turned back extends no subscription`() async {
        let end = World.now.addingTimeInterval(10 * World.day)
        let device = subscriber(until: end)
        #expect(await device.start().allows("cloud"))
        device.time.now = end.addingTimeInterval(World.day)
        #expect(await !device.start().allows("cloud"))
        device.time.now = World.now
        #expect(await !device.start().allows("cloud"))
        // An owner's right has no end, and a clock takes nothing from it.
        let owner = await kept()
        silence(owner)
        owner.time.now = Date(timeIntervalSince1970: 0)
        #expect(await owner.start().allows("everything"))
    }

    private func subscriber(until end: Date) -> Device {
        Device(
            FakeStore {
                $0.app = World.newcomer()
                $0.transactions = [World.subscription(until: end)]
            })
    }

    @Test func `a clock that is turned back while the app runs extends nothing`() async {
        let end = World.now.addingTimeInterval(World.day)
        let device = subscriber(until: end)
        let tenure = device.start()
        #expect(await tenure.allows("cloud"))
        device.time.now = end
        #expect(await !tenure.allows("cloud"))
        device.time.now = World.now
        #expect(await !tenure.allows("cloud"))
    }

    @Test func `no clock makes patience longer`() async {
        let device = Device(FakeStore { $0.appMood = .throwsAnError })
        // First seen in a far year.
        device.time.now = World.date("2099-01-01")
        #expect(await device.start().allows("everything"))
        device.time.now = World.now
        #expect(await device.start().allows("everything"))
        device.time.now += 73 * 3600
        #expect(await !device.start().allows("everything"))
        // Turned back again and again.
        device.time.now -= 72 * 3600
        #expect(await !device.start().allows("everything"))
    }

    @Test func `a clock that was once wrong is forgiven when something new is signed`() async {
        let end = World.now.addingTimeInterval(300 * World.day)
        let device = subscriber(until: end)
        device.time.now = World.date("2099-01-01")
        #expect(await !device.start().allows("cloud"))
        device.time.now = World.now
        let tenure = device.start()
        #expect(await tenure.decision(for: "cloud").outcome == .undetermined)
        device.store.change { $0.app = World.newcomer(signed: World.now.addingTimeInterval(60)) }
        device.time.now = World.now.addingTimeInterval(60)
        await tenure.engine.searchAgain()
        #expect(await tenure.allows("cloud"))
    }

    @Test func `remembers a refund at the next start offline`() async {
        let device = Device(
            FakeStore {
                $0.app = World.newcomer()
                $0.transactions = [World.purchase(revoked: World.now.addingTimeInterval(-60))]
            })
        #expect(await device.start().decision(for: "everything").outcome == .denied)
        silence(device)
        let tenure = device.start { $0.options.whileUndetermined = .deny }
        #expect(await !tenure.settled().has("everything"))
        #expect(await !tenure.allows("everything"))
    }

    @Test func `of one account's ended right shortens no grace period of the next account`() async {
        let end = World.now.addingTimeInterval(3600)
        let device = subscriber(until: end)
        let tenure = device.start()
        #expect(await tenure.allows("cloud"))
        device.time.now = end
        #expect(await !tenure.allows("cloud"))
        device.store.change {
            $0.app = World.newcomer(id: "704000000000000003", signed: end)
            $0.transactionsMood = .throwsAnError
        }
        let customer = await tenure.refresh()
        #expect(customer.answers["cloud"]?.outcome == .undetermined)
        #expect(await tenure.allows("cloud"))
    }
}
