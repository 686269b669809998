import Foundation
import StoreKit
import TenureCore
import Testing

@testable import Tenure

/// StoreKit on the local App Store without `Transaction.updates`, so that only a new read finds purchases on other
/// devices.
private struct AccessWithoutUpdates: AppStoreAccess {
    private let access = StoreKitAccess()

    var distribution: Tenure.Distribution { access.distribution }
    var trustsTestAuthorities: Bool { access.trustsTestAuthorities }
    var bundleID: String? { access.bundleID }
    var deviceVerificationID: UUID? { access.deviceVerificationID }
    var deviceIdentifier: String? { get async { await access.deviceIdentifier } }
    var receipt: Data? { access.receipt }

    func appTransaction() async throws -> AppStoreResult<AppStoreAppTransaction> { try await access.appTransaction() }
    func transactions(productIDs: [String]) async throws -> [AppStoreResult<AppStoreTransaction>] {
        try await access.transactions(productIDs: productIDs)
    }
    func renewals(of transactions: [AppStoreTransaction]) async throws -> [AppStoreResult<AppStoreRenewal>] {
        try await access.renewals(of: transactions)
    }
    func unfinished() async throws -> [AppStoreTransaction] { try await access.unfinished() }
    func updates() -> AsyncStream<AppStoreResult<AppStoreTransaction>> { AsyncStream { $0.finish() } }
    func finish(_ transactionID: String) async throws { try await access.finish(transactionID) }
    func synchronize() async throws { try await access.synchronize() }
    func refreshAppTransaction() async throws -> AppStoreResult<AppStoreAppTransaction> {
        try await access.refreshAppTransaction()
    }
}

@Suite(.timeLimit(.minutes(2))) struct `A known denial with StoreKit on the local App Store` {
    /// Dana's app, with a clock that the test sets.
    private func withApp(
        _ body:
            @escaping @Sendable (ServedStore, TestTime, @escaping @Sendable (DeviceEvent) -> Void, Tenure)
            async throws -> Void
    ) async throws {
        try await ServedStore.run { served in
            try await served.device(of: "Dana") { device in
                let time = TestTime(InventedApp.now)
                let (events, continuation) = AsyncStream.makeStream(of: DeviceEvent.self)
                var setup = Setup(
                    access: AccessWithoutUpdates(), storage: MemoryStateStorage(),
                    policy: .policy(InventedApp.policy(whileUndetermined: .deny)))
                setup.extendTimeouts()
                setup.clock = { time.now }
                setup.events = { events }
                let tenure = Tenure(setup)
                #expect(await tenure.decision(for: "everything").outcome == .denied)
                #expect(await !tenure.allows("everything"))
                try await served.buy(InventedApp.everything, for: "Dana")
                try await body(served, time, { continuation.yield($0) }, tenure)
                #expect(device.signInRequests == 0)
            }
        }
    }

    @Test(arguments: [1.0, -1.0])
    func `a known denial is checked again after a minute, or after the clock is set back by a minute`(
        _ direction: Double
    ) async throws {
        try await withApp { _, time, _, tenure in
            time.now += direction * 59
            #expect(await !tenure.allows("everything"))
            time.now += direction
            #expect(await tenure.allows("everything"))
        }
    }

    @Test(arguments: [DeviceEvent.appBecameActive, .networkReturned])
    func `a known denial is checked with StoreKit again when the app becomes active or the network returns`(
        _ event: DeviceEvent
    ) async throws {
        try await withApp { _, time, occur, tenure in
            time.now += 10
            occur(event)
            for await customer in tenure.updates where customer.allows("everything") { break }
            #expect(await tenure.allows("everything"))
        }
    }

    @Test func `refresh checks a known denial again at once, with StoreKit on the local App Store`() async throws {
        try await withApp { _, _, _, tenure in
            #expect(await !tenure.allows("everything"))
            #expect(await tenure.refresh().allows("everything"))
        }
    }

    @Test func `refresh of a client made with the public initializer checks a known denial again`() async throws {
        try await ServedStore.run { served in
            try await served.device(of: "Dana") { device in
                let tenure = try served.start()
                #expect(await !tenure.allows("everything"))
                // `Transaction.updates` waits while StoreKit fails.
                device.behavior.transactions = .fails(.unknown)
                try await served.buy(InventedApp.everything, for: "Dana")
                #expect(await !tenure.refresh().allows("everything"))
                device.behavior.transactions = .genuine
                #expect(await tenure.refresh().allows("everything"))
                #expect(device.signInRequests == 0)
            }
        }
    }
}
