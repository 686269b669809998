import Foundation
import TenureCore
import TenureHTTP
import Testing

@testable import Tenure

@Suite struct `Trials on the device` {
    private func newcomer(_ trial: Trial = .sessions(2)) -> Device {
        Device(FakeStore { $0.app = InventedApp.newcomer() }, policy: InventedApp.policy(trial: trial))
    }

    @Test func `a trial session allows the entitlement while the app holds the session, and is counted once`()
        async throws
    {
        let device = newcomer()
        let tenure = device.start()
        #expect(await !tenure.allows("everything"))
        #expect(await tenure.trial("everything").isOffered)
        do {
            let session = try await tenure.trial("everything").begin()
            #expect(session.entitlement == "everything" && !session.isOwner)
            #expect(session.sessions == 2)
            #expect(session.sessionsLeft == 1)
            #expect(session.ends == InventedApp.now.addingTimeInterval(InventedApp.day))
            #expect(await tenure.allows("everything"))
            withExtendedLifetime(session) {}
        }
        #expect(await !tenure.allows("everything"))
    }

    @Test func `after the last trial session, no session can begin, even after a reinstallation`() async throws {
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

    @Test func `each account has its own trial sessions, even when the account signs in again`() async throws {
        let device = newcomer(.sessions(1))
        _ = try await device.start().trial("everything").begin()
        device.store.change { $0.app = InventedApp.newcomer(id: "704000000000000003") }
        let other = device.start()
        _ = await other.settled()
        _ = try await other.trial("everything").begin()
        device.store.change { $0.app = InventedApp.newcomer() }
        let back = device.start()
        _ = await back.settled()
        await #expect(throws: Tenure.Error.trialOver(entitlement: "everything")) {
            try await back.trial("everything").begin()
        }
    }

    /// The facts that a device learns about one account over time: first the date, then the ID too.
    private static let names: [AppStoreAppTransaction] = [InventedApp.newcomer(id: nil), InventedApp.newcomer()]

    @Test(arguments: [Trial.sessions(1), .days(7)])
    func `an account's used trial is remembered when the account's ID becomes known later`(_ trial: Trial) async throws
    {
        // Without eras, so that a trial can begin while the account is unknown.
        let policy = try Policy(
            app: Policy.App(bundleID: InventedApp.bundleID, appleID: 828_838_134),
            eras: [Era(name: "always", model: .free)],
            entitlements: [
                Entitlement(name: "cloud", products: [.init(id: InventedApp.yearly)], trial: trial)
            ])
        for known in 0...Self.names.count {
            let device = Device(FakeStore(), policy: policy)
            device.store.change { $0.app = known == 0 ? nil : Self.names[known - 1] }
            let first = device.start()
            _ = await first.settled()
            _ = try await first.trial("cloud").begin()
            device.time.now += 7 * InventedApp.day
            for name in Self.names[max(0, known - 1)...] {
                device.store.change { $0.app = name }
                let tenure = device.start()
                _ = await tenure.settled()
                await #expect(throws: Tenure.Error.trialOver(entitlement: "cloud"), "\(known)") {
                    try await tenure.trial("cloud").begin()
                }
            }
            // Another account signs in, then this account again, known only by its purchases.
            let other = InventedApp.newcomer(id: "704000000000000003")
            device.store.change { $0.app = other }
            _ = await device.start().settled()
            device.store.change { state in
                state.app = nil
                state.transactions = [InventedApp.purchase(of: "704000000000000002")]
            }
            let back = device.start()
            _ = await back.settled()
            await #expect(throws: Tenure.Error.trialOver(entitlement: "cloud"), "\(known), back") {
                try await back.trial("cloud").begin()
            }
        }
    }

    @Test func `trial sessions before and after the account is known are counted together`() async throws {
        let policy = try Policy(
            app: Policy.App(bundleID: InventedApp.bundleID, appleID: 828_838_134),
            eras: [Era(name: "always", model: .free)],
            entitlements: [
                Entitlement(name: "cloud", products: [.init(id: InventedApp.yearly)], trial: .sessions(2))
            ])
        let device = Device(FakeStore(), policy: policy)
        let first = device.start()
        _ = await first.settled()
        #expect(try await first.trial("cloud").begin().sessionsLeft == 1)
        device.store.change { $0.app = InventedApp.newcomer() }
        let second = device.start()
        _ = await second.settled()
        #expect(try await second.trial("cloud").begin().sessionsLeft == 0)
        await #expect(throws: Tenure.Error.trialOver(entitlement: "cloud")) {
            try await second.trial("cloud").begin()
        }
    }

    @Test func `beginning a trial session counts no session for an owner`() async throws {
        let device = Device(FakeStore { $0.app = InventedApp.owner() })
        let tenure = device.start()
        #expect(await !tenure.trial("everything").isOffered)
        let session = try await tenure.trial("everything").begin()
        #expect(session.isOwner)
        #expect(session.sessions == nil && session.sessionsLeft == nil && session.ends == nil)
        session.end()
        #expect(await tenure.allows("everything"))
    }

    @Test func `no trial session is used while the decision is undetermined`() async throws {
        let device = Device(
            FakeStore {
                $0.app = InventedApp.owner()
                $0.appBehavior = .throwsAnError
            })
        let tenure = device.start()
        #expect(await !tenure.trial("everything").isOffered)
        let session = try await tenure.trial("everything").begin()
        #expect(!session.isOwner && session.sessionsLeft == nil && session.ends == nil)
        #expect(await tenure.engine.stored.trials.isEmpty)
    }

    @Test func `a trial session lasts a day at most`() async throws {
        let device = newcomer()
        let tenure = device.start()
        let session = try await tenure.trial("everything").begin()
        device.time.now += InventedApp.day
        #expect(await !tenure.allows("everything"))
        withExtendedLifetime(session) {}
    }

    @Test func `a trial of days runs from its first session, and turning the clock back doesn't extend it`()
        async throws
    {
        let device = newcomer(.days(7))
        _ = try await device.start().trial("everything").begin()
        device.time.now += 6 * InventedApp.day
        _ = try await device.start().trial("everything").begin()
        // After the clock is turned back, the trial continues where it was.
        device.time.now -= 5 * InventedApp.day
        _ = try await device.start().trial("everything").begin()
        device.time.now += InventedApp.day
        let tenure = device.start()
        await #expect(throws: Tenure.Error.trialOver(entitlement: "everything")) {
            try await tenure.trial("everything").begin()
        }
    }

    @Test func `a trial session that can't be stored doesn't begin`() async throws {
        let device = newcomer()
        let tenure = device.start()
        _ = await tenure.settled()
        device.storage.refusesWrites = true
        let failure = Tenure.Error.notStored("the trial session couldn't be counted: IsLocked()")
        await #expect(throws: failure) { try await tenure.trial("everything").begin() }
        device.storage.refusesWrites = false
        #expect(try await tenure.trial("everything").begin().sessionsLeft == 1)
    }

    @Test func `an entitlement without a trial in the policy has no trial sessions`() async throws {
        let tenure = newcomer().start()
        await #expect(throws: Tenure.Error.noTrial(entitlement: "cloud")) { try await tenure.trial("cloud").begin() }
    }
}

@Suite struct `Trials at the service` {
    @Test func `the service counts trial sessions, and owners use no session`() async throws {
        try await RealService.run { service in
            let app = try InventedApp.signed(InventedApp.newcomer())
            let device = Device(FakeStore { $0.app = app }, policy: nil) { service.connect(&$0) }
            let tenure = device.start()
            for left in [1, 0] {
                // Only the service knows whether a session is left.
                #expect(await tenure.trial("everything").isOffered)
                let session = try await tenure.trial("everything").begin()
                #expect(session.sessions == 2)
                #expect(session.sessionsLeft == left)
                #expect(session.ends == InventedApp.now.addingTimeInterval(InventedApp.day) && !session.isOwner)
                #expect(await tenure.allows("everything"))
            }
            // Another device of the same customer, without the first device's state.
            let other = Device(FakeStore { $0.app = app }, policy: nil) { service.connect(&$0) }.start()
            await #expect(throws: Tenure.Error.trialOver(entitlement: "everything")) {
                try await other.trial("everything").begin()
            }
            await #expect(throws: Tenure.Error.noTrial(entitlement: "cloud")) { try await other.trial("cloud").begin() }
            let owned = try InventedApp.signed(InventedApp.owner())
            let owner = Device(FakeStore { $0.app = owned }, policy: nil) { service.connect(&$0) }.start()
            let session = try await owner.trial("everything").begin()
            #expect(session.isOwner && session.ends == nil)
        }
    }

    @Test func `the service counts a trial session once, even if the response is lost`() async throws {
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
