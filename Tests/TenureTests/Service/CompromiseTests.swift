import Foundation
import TenureCore
import TenureHTTP
import TenureServer
import Testing

@testable import Tenure

extension MemoryStateStorage {
    fileprivate var stored: StoredState? {
        if case .state(let state) = load(device: InventedApp.device.hashed) { state } else { nil }
    }

    /// Writes what another process would write.
    fileprivate func replace(_ change: (inout StoredState) -> Void) throws {
        try update(device: InventedApp.device.hashed) { found in
            guard case .state(var state) = found else { throw RealService.NoPort() }
            change(&state)
            return state
        }
    }
}

extension Tenure.Customer {
    fileprivate var isDenied: Bool { answers["everything"]?.outcome == .denied }
}

extension Tenure {
    fileprivate var serviceOutcome: AppStoreStep.Outcome? { customer.steps.first { $0.name == .service }?.outcome }
}

extension Device {
    /// Starts the app, and searches again after the first search. Otherwise the first search may ask the service, and
    /// the one after it skips it.
    fileprivate func startAndSearchAgain() async -> Tenure {
        let tenure = start()
        _ = await tenure.settled()
        await tenure.engine.searchAgain()
        return tenure
    }
}

extension Compromise {
    /// Expects that the service's next response grants the owner's right, and that the right stays granted offline.
    fileprivate func expectServiceGrants(
        _ owner: Device, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let tenure = await owner.startAndSearchAgain()
        #expect(tenure.serviceOutcome == .done, sourceLocation: sourceLocation)
        #expect(await tenure.allows("everything"), sourceLocation: sourceLocation)
        service.line.condition = .down
        owner.store.fallSilent()
        #expect(await owner.start().allows("everything"), sourceLocation: sourceLocation)
    }
}

extension Tenure.AppStoreStep.Outcome {
    fileprivate static let revokedKey = failed("the service's entitlement token is signed with a revoked key")
    fileprivate static let endedSigningPeriod = failed(
        "the service's entitlement token is signed with a key after the end of its signing period")
}

@Suite struct `A stolen signing key, under a root that the app pinned` {
    @Test func `a client that has the revocation of a stolen signing key refuses the key's tokens, also offline`()
        async throws
    {
        try await Compromise.run { compromise, thief, _ in
            let (storage, store) = (MemoryStateStorage(), try FakeStore.newcomer())
            let fooled = compromise.device(store, at: thief, storage: storage)
            #expect(await fooled.start().allows("everything"))
            try compromise.recover()
            // Any response of the service brings the revocation, and ends what the thief granted.
            let device = compromise.device(store, at: compromise.service, storage: storage)
            let tenure = await device.startAndSearchAgain()
            #expect(tenure.serviceOutcome == .done)
            #expect(await !tenure.allows("everything"))
            // The thief withholds the revocation, but the device has it already.
            let again = await compromise.device(store, at: thief, storage: storage).startAndSearchAgain()
            #expect(again.serviceOutcome == .revokedKey)
            #expect(await !again.allows("everything"))
            thief.line.condition = .down
            #expect(await !compromise.device(store, at: thief, storage: storage).start().allows("everything"))
        }
    }

    @Test(arguments: [false, true])
    func `a stolen signing key takes an owner's rights only until the service's next response`(_ isRevoked: Bool)
        async throws
    {
        try await Compromise.run(policy: try harshPolicy()) { compromise, thief, _ in
            let storage = MemoryStateStorage()
            let fooled = compromise.device(try .owner(), at: thief, storage: storage)
            #expect(await fooled.start().settled().isDenied)
            #expect(await !fooled.start().allows("everything"))
            if isRevoked { try compromise.recover() }
            let owner = compromise.device(try .owner(), at: compromise.service, storage: storage)
            await compromise.expectServiceGrants(owner)
        }
    }

    @Test func `an owner keeps their rights when a stolen signing key is replaced and revoked, also offline`()
        async throws
    {
        try await Compromise.run { compromise, _, _ in
            let storage = MemoryStateStorage()
            let owner = compromise.device(try .owner(), at: compromise.service, storage: storage)
            #expect(await owner.start().allows("everything"))
            try compromise.recover()
            await compromise.expectServiceGrants(owner)
        }
    }

    @Test func `a client accepts the revocation of a stolen signing key even in the thief's own response`() async throws
    {
        try await Compromise.run { compromise, thief, _ in
            let (storage, store) = (MemoryStateStorage(), try FakeStore.newcomer())
            #expect(await compromise.device(store, at: thief, storage: storage).start().allows("everything"))
            try compromise.passOnRevocation(through: thief)
            let tenure = await compromise.device(store, at: thief, storage: storage).startAndSearchAgain()
            #expect(tenure.serviceOutcome == .revokedKey)
            #expect(await !tenure.allows("everything"))
        }
    }

    @Test func `denials by a service with a stolen key end once that service passes on the key's revocation`()
        async throws
    {
        try await Compromise.run(policy: try harshPolicy()) { compromise, thief, _ in
            let storage = MemoryStateStorage()
            #expect(try await compromise.owner(at: thief, storage).settled().isDenied)
            try compromise.passOnRevocation(through: thief)
            let tenure = try compromise.owner(at: thief, storage)
            await tenure.engine.searchAgain()
            #expect(tenure.serviceOutcome == .revokedKey)
            // The device decides by itself until the service answers.
            #expect(await tenure.allows("everything"))
            thief.line.condition = .down
            #expect(try await compromise.owner(at: thief, storage).allows("everything"))
        }
    }

    @Test func `denials by a service with a stolen key end when another process has stored the key's revocation`()
        async throws
    {
        try await Compromise.run(policy: try harshPolicy()) { compromise, thief, _ in
            let (storage, other) = (MemoryStateStorage(), MemoryStateStorage())
            let tenure = try compromise.owner(at: thief, storage)
            #expect(await tenure.settled().isDenied)
            let denied = try #require(storage.stored)
            try compromise.passOnRevocation(through: thief)
            try await compromise.owner(at: thief, other).engine.searchAgain()
            // The other process writes the list of revoked keys, and knew no response of the thief.
            try storage.replace { $0.revocations = other.stored?.revocations }
            thief.line.condition = .down
            await tenure.engine.searchAgain()
            #expect(await tenure.allows("everything"))
            // The same at a start.
            try storage.replace { state in
                state = denied
                state.revocations = other.stored?.revocations
            }
            #expect(try await compromise.owner(at: thief, storage).allows("everything"))
        }
    }

    @Test func `a token of a revoked key that another process stored meanwhile is removed from the state`() async throws
    {
        try await Compromise.run(policy: try harshPolicy()) { compromise, thief, _ in
            let storage = MemoryStateStorage()
            let tenure = try compromise.owner(at: thief, storage)
            #expect(await tenure.settled().isDenied)
            let denied = try #require(storage.stored)
            #expect(denied.account.entitlementToken != nil)
            // During the request, another process stores a newer response of the thief.
            try compromise.passOnRevocation(through: thief) {
                try? storage.replace { state in
                    state = denied
                    state.account.answeredAt = InventedApp.now.addingTimeInterval(60)
                }
            }
            await tenure.engine.searchAgain()
            #expect(await tenure.allows("everything"))
            let left = try #require(storage.stored)
            #expect(left.revocations != nil)
            #expect(left.account.entitlementToken == nil)
            #expect(left.account.serviceAnswers.isEmpty && left.account.denials.isEmpty)
        }
    }

    @Test func `a verified purchase that only a service with a stolen key confirmed survives the key's revocation`()
        async throws
    {
        try await Compromise.run(policy: try harshPolicy()) { compromise, thief, _ in
            let storage = MemoryStateStorage()
            let purchase = try InventedApp.signed(InventedApp.purchase(), of: "704000000000000002")
            func start() throws -> Tenure {
                let store = try FakeStore.newcomer()
                store.change { $0.transactions = [purchase] }
                return compromise.device(store, at: thief, storage: storage).start()
            }
            let tenure = try start()
            // The thief's service grants what the product unlocks.
            await tenure.engine.searchAgain()
            #expect(await tenure.allows("everything"))
            try compromise.passOnRevocation(through: thief)
            await tenure.engine.searchAgain()
            #expect(tenure.serviceOutcome == .revokedKey)
            #expect(await tenure.allows("everything"))
            thief.line.condition = .down
            #expect(try await start().allows("everything"))
        }
    }

    @Test func `a client without the revocation trusts a stolen key only until the key's signing period ends`()
        async throws
    {
        try await Compromise.run { compromise, thief, thiefClock in
            try compromise.recover()
            let store = try FakeStore.newcomer()
            // This device never received the revocation.
            let device = compromise.device(store, at: thief)
            #expect(await device.start().allows("everything"))
            let end = InventedApp.now.addingTimeInterval(Compromise.period)

            // After the period the thief backdates tokens. They have the nonce, but the device knows that the period
            // has ended.
            for date in [InventedApp.now, end.addingTimeInterval(-1), end.addingTimeInterval(1)] {
                thiefClock.now = min(date, end.addingTimeInterval(-1))
                let late = compromise.device(store, at: thief)
                late.time.now = end.addingTimeInterval(1)
                let tenure = late.start()
                #expect(await !tenure.allows("everything"))
                #expect(tenure.serviceOutcome == .endedSigningPeriod)
            }
        }
    }

    @Test func `a stolen signing key's tokens are refused after its period, even if the device's clock is set back`()
        async throws
    {
        try await Compromise.run { compromise, thief, thiefClock in
            let (storage, store) = (MemoryStateStorage(), try FakeStore.newcomer())
            let end = InventedApp.now.addingTimeInterval(Compromise.period)
            compromise.clock.now = end.addingTimeInterval(InventedApp.day)
            let honest = compromise.device(store, at: compromise.service, storage: storage)
            honest.time.now = compromise.clock.now
            _ = await honest.start().settled()
            // Both clocks are turned back, but the device remembers the latest date.
            thiefClock.now = InventedApp.now
            let back = compromise.device(store, at: thief, storage: storage)
            back.time.now = InventedApp.now
            let tenure = await back.startAndSearchAgain()
            #expect(tenure.serviceOutcome == .endedSigningPeriod)
            #expect(await !tenure.allows("everything"))
        }
    }

    @Test func `a stolen signing key can't vouch for another key`() async throws {
        try await Compromise.run { compromise, thief, _ in
            let (stolen, other) = (try compromise.stolenKey(), Signer())
            let end = InventedApp.now.addingTimeInterval(10 * Compromise.period)
            let statements = [try stolen.vouch(for: other), try stolen.vouch(for: other, until: end)]
            // The root's statement is about the stolen key, so the thief can use only that key.
            for (signer, isTrusted) in [(stolen, true), (other, false)] {
                thief.line.condition = .replaced { $0.sign(by: signer, adding: statements) }
                let tenure = compromise.device(try .newcomer(), at: thief).start()
                _ = await tenure.settled()
                #expect(await tenure.allows("everything") == isTrusted)
                let refusal = "the service's entitlement token isn't signed with a pinned key"
                let outcome: Tenure.AppStoreStep.Outcome = isTrusted ? .done : .failed(refusal)
                #expect(tenure.serviceOutcome == outcome)
            }
        }
    }

    @Test func `a token of a stolen signing key can't be replayed in response to another request`() async throws {
        try await Compromise.run { compromise, thief, thiefClock in
            let (storage, store) = (MemoryStateStorage(), try FakeStore.newcomer())
            let device = compromise.device(store, at: thief, storage: storage)
            #expect(await device.start().allows("everything"))
            let caught = try #require(thief.line.answers.last)
            let other = compromise.device(store, at: thief)
            thief.line.condition = .replaced { $0.body = caught }
            let tenure = other.start()
            #expect(await !tenure.allows("everything"))
            #expect(tenure.serviceOutcome == .failed("the service's entitlement token doesn't answer this request"))
        }
    }

    @Test func `an owner's stored token stays valid after the signing period of its key has ended`() async throws {
        try await Compromise.run { compromise, _, _ in
            let owner = compromise.device(try .owner(), at: compromise.service)
            #expect(await owner.start().allows("everything"))
            owner.time.now = InventedApp.now.addingTimeInterval(Compromise.period + 300 * InventedApp.day)
            compromise.clock.now = owner.time.now
            owner.store.fallSilent()
            let tenure = owner.start()
            await tenure.engine.searchAgain()
            #expect(await tenure.allows("everything"))
        }
    }
}
