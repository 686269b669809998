import Foundation
import TenureCore
import TenureHTTP
import Testing

@testable import Tenure

@Suite struct `Trials on the device` {
    private func newcomer(_ trial: Trial = .sessions(2)) -> Device {
        Device(FakeStore { $0.app = World.newcomer() }, policy: World.policy(trial: trial))
    }

    @Test func `a session allows as long as it is kept, and is counted once`() async throws {
        let device = newcomer()
        let tenure = device.start()
        #expect(await !tenure.allows("everything"))
        #expect(await tenure.trial("everything").isOffered)
        do {
            let session = try await tenure.trial("everything").begin()
            #expect(session.sessions == 2)
            #expect(session.sessionsLeft == 1)
            #expect(await tenure.allows("everything"))
            withExtendedLifetime(session) {}
        }
        #expect(await !tenure.allows("everything"))
    }

    @Test func `the last session is the last, after a reinstallation too`() async throws {
        let device = newcomer()
        for left in [1, 0] {
            let session = try await device.start().trial("everything").begin()
            #expect(session.sessionsLeft == left)
        }
        let tenure = device.start()
        await #expect(throws: Tenure.Error.trialOver(entitlement: "everything")) {
            try await tenure.trial("everything").begin()
        }
        #expect(await !tenure.trial("everything").isOffered)
    }

    @Test func `another account has its own, and one that comes back finds what it used`() async throws {
        let device = newcomer(.sessions(1))
        _ = try await device.start().trial("everything").begin()
        device.store.change { $0.app = World.newcomer(id: "704000000000000003") }
        let other = device.start()
        _ = await other.settled()
        _ = try await other.trial("everything").begin()
        device.store.change { $0.app = World.newcomer() }
        let back = device.start()
        _ = await back.settled()
        await #expect(throws: Tenure.Error.trialOver(entitlement: "everything")) {
            try await back.trial("everything").begin()
        }
    }

    /// What a device learns of one account in the course of time: nothing, the date, and the id.
    private static let names: [StoreAppTransaction] = [World.newcomer(id: nil), World.newcomer()]

    @Test(arguments: [Trial.sessions(1), .days(7)])
    func `an account that is known by another name later has used what it used`(_ trial: Trial) async throws {
        // Without eras, so that a trial can begin while nobody knows the account.
        let policy = try Policy(
            app: Policy.App(bundleID: World.bundleID, appleID: 828_838_134), eras: [Era(name: "always", model: .free)],
            entitlements: [
                Entitlement(name: "cloud", products: [.init(id: World.yearly)], trial: trial)
            ])
        for known in 0...Self.names.count {
            let device = Device(FakeStore(), policy: policy)
            device.store.change { $0.app = known == 0 ? nil : Self.names[known - 1] }
            let first = device.start()
            _ = await first.settled()
            _ = try await first.trial("cloud").begin()
            device.time.now += 7 * World.day
            for name in Self.names[max(0, known - 1)...] {
                device.store.change { $0.app = name }
                let tenure = device.start()
                _ = await tenure.settled()
                await #expect(throws: Tenure.Error.trialOver(entitlement: "cloud"), "\(known)") {
                    try await tenure.trial("cloud").begin()
                }
            }
            // Another account comes, and this one back, known by its purchases alone.
            let other = World.newcomer(id: "704000000000000003")
            device.store.change { $0.app = other }
            _ = await device.start().settled()
            device.store.change { state in
                state.app = nil
                state.transactions = [World.purchase(of: "704000000000000002")]
            }
            let back = device.start()
            _ = await back.settled()
            await #expect(throws: Tenure.Error.trialOver(entitlement: "cloud"), "\(known), back") {
                try await back.trial("cloud").begin()
            }
        }
    }

    @Test func `owners never see one`() async throws {
        let device = Device(FakeStore { $0.app = World.owner() })
        let tenure = device.start()
        #expect(await !tenure.trial("everything").isOffered)
        let session = try await tenure.trial("everything").begin()
        #expect(session.isOwner)
        #expect(session.sessionsLeft == nil)
        session.end()
        #expect(await tenure.allows("everything"))
    }

    @Test func `nothing is used up while nobody knows`() async throws {
        let device = Device(
            FakeStore {
                $0.app = World.owner()
                $0.appMood = .throwsAnError
            })
        let tenure = device.start()
        #expect(await !tenure.trial("everything").isOffered)
        let session = try await tenure.trial("everything").begin()
        #expect(session.sessionsLeft == nil)
        #expect(await tenure.engine.memory.trials.isEmpty)
    }

    @Test func `a session lasts a day at most`() async throws {
        let device = newcomer()
        let tenure = device.start()
        let session = try await tenure.trial("everything").begin()
        device.time.now += World.day
        #expect(await !tenure.allows("everything"))
        withExtendedLifetime(session) {}
    }

    @Test func `a trial of days runs from its first session, and no clock makes it longer`() async throws {
        let device = newcomer(.days(7))
        _ = try await device.start().trial("everything").begin()
        device.time.now += 6 * World.day
        _ = try await device.start().trial("everything").begin()
        // Turned back, it goes on counting where it was.
        device.time.now -= 5 * World.day
        _ = try await device.start().trial("everything").begin()
        device.time.now += World.day
        let tenure = device.start()
        await #expect(throws: Tenure.Error.trialOver(entitlement: "everything")) {
            try await tenure.trial("everything").begin()
        }
    }

    @Test func `what cannot be counted does not begin`() async throws {
        let device = newcomer()
        let tenure = device.start()
        _ = await tenure.settled()
        device.storage.refusesWrites = true
        await #expect(throws: Tenure.Error.self) { try await tenure.trial("everything").begin() }
        device.storage.refusesWrites = false
        #expect(try await tenure.trial("everything").begin().sessionsLeft == 1)
    }

    @Test func `there is none where the policy has none`() async throws {
        let tenure = newcomer().start()
        await #expect(throws: Tenure.Error.noTrial(entitlement: "cloud")) { try await tenure.trial("cloud").begin() }
    }
}

@Suite struct `Trials at the service` {
    @Test func `are counted there, and owners use nothing up`() async throws {
        try await RealService.run { service in
            let app = try World.signed(World.newcomer())
            let device = Device(FakeStore { $0.app = app }, policy: nil) { service.connect(&$0) }
            let tenure = device.start()
            for left in [1, 0] {
                let session = try await tenure.trial("everything").begin()
                #expect(session.sessions == 2)
                #expect(session.sessionsLeft == left)
                #expect(await tenure.allows("everything"))
            }
            // Another device of the same customer, with nothing of the first one.
            let other = Device(FakeStore { $0.app = app }, policy: nil) { service.connect(&$0) }.start()
            await #expect(throws: Tenure.Error.trialOver(entitlement: "everything")) {
                try await other.trial("everything").begin()
            }
            await #expect(throws: Tenure.Error.noTrial(entitlement: "cloud")) { try await other.trial("cloud").begin() }
            let owned = try World.signed(World.owner())
            let owner = Device(FakeStore { $0.app = owned }, policy: nil) { service.connect(&$0) }.start()
            #expect(try await owner.trial("everything").begin().isOwner)
        }
    }

    @Test func `cost one session if the answer is lost on its way`() async throws {
        try await RealService.run { service in
            let tenure = service.device(try .newcomer()).start()
            _ = await tenure.settled()
            let hasLost = Locked(false)
            service.line.condition = .replaced { response in
                let isFirst = hasLost.withLock { hasLost in
                    defer { hasLost = true }
                    return !hasLost
                }
                if isFirst { response = TransportResponse(status: 502, body: Data()) }
            }
            #expect(try await tenure.trial("everything").begin().sessionsLeft == 1)
            let begun = service.line.paths.filter { $0.hasSuffix("/v1/trials/everything/sessions") }
            #expect(begun.count == 2)
        }
    }
}
