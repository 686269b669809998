import Foundation
import TenureCore
import TenureHTTP
import TenureServer
import Testing

@testable import Tenure

/// A service whose signing key an offline root has signed for ninety days, and a thief with a copy of that key.
private struct Compromise {
    let service: RealService
    let clock: TestTime
    let folder: KeysFolder
    let root: OfflineRoot
    let publicRoot: Tenure.ServiceKey
    let stolen: String

    static let period: TimeInterval = 90 * World.day

    /// - Parameter body: gets the thief's service too: it has the stolen key and its statement, and denies everything or
    ///   grants everything, as its policy says.
    static func run(
        _ body:
            @escaping @Sendable (_ compromise: Compromise, _ thief: RealService, _ thiefClock: TestTime) async throws
            -> Void
    ) async throws {
        let (clock, thiefClock) = (TestTime(World.now), TestTime(World.now))
        let folder = try KeysFolder()
        let root = OfflineRoot(path: folder.path + "/root.json")
        let publicRoot = try root.create()
        let generous = try Policy(
            app: Policy.App(bundleID: World.bundleID, appleID: 828_838_134),
            eras: [Era(name: "always", model: .free)],
            entitlements: [Entitlement(name: "everything", honors: [Honor(era: "always")])])
        try await RealService.run(now: { clock.now }, { $0.keysFolder = folder.path }) { service in
            let key = try folder.administration.summary().inUse
            let statement = try root.sign(key, until: World.now.addingTimeInterval(period), at: World.now)
            _ = try folder.administration.install(statement, ofRoot: publicRoot, at: World.now)
            let copy = try KeysFolder()
            try FileManager.default.copyItem(
                atPath: folder.path + "/signing-key.json", toPath: copy.path + "/signing-key.json")
            let id = try #require(try folder.administration.summary().keys.last?.id)
            try await RealService.run(
                policy: generous, now: { thiefClock.now }, { $0.keysFolder = copy.path }
            ) { thief in
                try await body(
                    Compromise(
                        service: service, clock: clock, folder: folder, root: root,
                        publicRoot: try Tenure.ServiceKey(publicRoot), stolen: id), thief, thiefClock)
            }
        }
    }

    func device(
        _ store: FakeStore, at service: RealService, storage: MemoryStateStorage = MemoryStateStorage()
    ) -> Device {
        let root = publicRoot
        return service.device(store, storage: storage) { setup in
            setup.keys = []
            setup.root = root
            setup.options.whileUndetermined = .deny
        }
    }

    /// The operator finds out: another key takes the place of the stolen one, which the root revokes.
    func recover() throws {
        let now = clock.now
        guard case .waiting(let next) = try folder.administration.rotate(at: now) else { throw RealService.NoPort() }
        _ = try folder.administration.install(
            try root.sign(next, until: now.addingTimeInterval(Self.period), at: now), at: now)
        _ = try folder.administration.install(try root.revoke([stolen], at: now), at: now)
    }
}

extension Tenure {
    fileprivate var serviceOutcome: StoreStep.Outcome? { customer.steps.first { $0.name == .service }?.outcome }
}

@Suite struct `A stolen signing key, under a root that the app pinned` {
    @Test func `is of no use once a client has heard of the revocation, online and offline`() async throws {
        try await Compromise.run { compromise, thief, _ in
            let (storage, store) = (MemoryStateStorage(), try FakeStore.newcomer())
            let fooled = compromise.device(store, at: thief, storage: storage)
            #expect(await fooled.start().allows("everything"))
            try compromise.recover()
            // Any answer of the service brings it, and takes what the thief gave.
            let device = compromise.device(store, at: compromise.service, storage: storage)
            let tenure = device.start()
            await tenure.engine.searchAgain()
            #expect(tenure.serviceOutcome == .done)
            #expect(await !tenure.allows("everything"))
            // The thief withholds the revocation. The device has it.
            let again = compromise.device(store, at: thief, storage: storage).start()
            await again.engine.searchAgain()
            #expect(again.serviceOutcome == .failed("its entitlement token is signed with a revoked key"))
            #expect(await !again.allows("everything"))
            thief.line.condition = .down
            #expect(await !compromise.device(store, at: thief, storage: storage).start().allows("everything"))
        }
    }

    @Test func `takes nothing from an owner for longer than until the next answer`() async throws {
        try await Compromise.run { compromise, _, _ in
            let storage = MemoryStateStorage()
            let owner = compromise.device(try .owner(), at: compromise.service, storage: storage)
            #expect(await owner.start().allows("everything"))
            try compromise.recover()
            let tenure = owner.start()
            await tenure.engine.searchAgain()
            #expect(tenure.serviceOutcome == .done)
            #expect(await tenure.allows("everything"))
            compromise.service.line.condition = .down
            owner.store.fallSilent()
            #expect(await owner.start().allows("everything"))
        }
    }

    @Test func `with a revocation that anybody passes on ends the thief's tokens`() async throws {
        try await Compromise.run { compromise, thief, _ in
            let (storage, store) = (MemoryStateStorage(), try FakeStore.newcomer())
            #expect(await compromise.device(store, at: thief, storage: storage).start().allows("everything"))
            let list = try compromise.root.revoke([compromise.stolen], at: World.now)
            thief.line.condition = .replaced { response in
                let text = String(decoding: response.body, as: UTF8.self)
                response.body = Data(
                    text.replacingOccurrences(
                        of: #""signingKey":{"#, with: #""signingKey":{"revocations":"\#(list)","#
                    ).utf8)
            }
            let tenure = compromise.device(store, at: thief, storage: storage).start()
            await tenure.engine.searchAgain()
            #expect(tenure.serviceOutcome == .failed("its entitlement token is signed with a revoked key"))
            #expect(await !tenure.allows("everything"))
        }
    }

    @Test func `is believed by a client that the thief cut off, until the period ends`() async throws {
        try await Compromise.run { compromise, thief, thiefClock in
            try compromise.recover()
            let store = try FakeStore.newcomer()
            // Nobody told this one.
            let device = compromise.device(store, at: thief)
            #expect(await device.start().allows("everything"))
            let end = World.now.addingTimeInterval(Compromise.period)

            // After the end of the period the thief backdates tokens. They answer the nonce, but not within the period.
            for date in [World.now, end.addingTimeInterval(-1), end.addingTimeInterval(1)] {
                thiefClock.now = min(date, end.addingTimeInterval(-1))
                let late = compromise.device(store, at: thief)
                late.time.now = end.addingTimeInterval(1)
                let tenure = late.start()
                #expect(await !tenure.allows("everything"))
                #expect(
                    tenure.serviceOutcome
                        == .failed("its entitlement token is signed with a key whose signing period has ended"))
            }
        }
    }

    @Test func `is of no use to somebody who turns the clock back after the period`() async throws {
        try await Compromise.run { compromise, thief, thiefClock in
            let (storage, store) = (MemoryStateStorage(), try FakeStore.newcomer())
            let end = World.now.addingTimeInterval(Compromise.period)
            compromise.clock.now = end.addingTimeInterval(World.day)
            let honest = compromise.device(store, at: compromise.service, storage: storage)
            honest.time.now = compromise.clock.now
            _ = await honest.start().settled()
            // The clock goes back, the thief's too. The device knows better.
            thiefClock.now = World.now
            let back = compromise.device(store, at: thief, storage: storage)
            back.time.now = World.now
            let tenure = back.start()
            await tenure.engine.searchAgain()
            #expect(
                tenure.serviceOutcome
                    == .failed("its entitlement token is signed with a key whose signing period has ended"))
            #expect(await !tenure.allows("everything"))
        }
    }

    @Test func `cannot vouch for another key, nor play an old token again`() async throws {
        try await Compromise.run { compromise, thief, thiefClock in
            let (storage, store) = (MemoryStateStorage(), try FakeStore.newcomer())
            let device = compromise.device(store, at: thief, storage: storage)
            #expect(await device.start().allows("everything"))
            let caught = try #require(thief.line.answers.last)
            let other = compromise.device(store, at: thief)
            thief.line.condition = .replaced { $0.body = caught }
            let tenure = other.start()
            #expect(await !tenure.allows("everything"))
            #expect(tenure.serviceOutcome == .failed("its entitlement token does not answer this request"))
        }
    }

    @Test func `outlives nothing but its tokens: an owner keeps what a token says after the period`() async throws {
        try await Compromise.run { compromise, _, _ in
            let owner = compromise.device(try .owner(), at: compromise.service)
            #expect(await owner.start().allows("everything"))
            owner.time.now = World.now.addingTimeInterval(Compromise.period + 300 * World.day)
            compromise.clock.now = owner.time.now
            owner.store.fallSilent()
            let tenure = owner.start()
            await tenure.engine.searchAgain()
            #expect(await tenure.allows("everything"))
        }
    }
}
