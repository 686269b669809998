import Crypto
import Foundation
import LocalAppStore
import Logging
import ServiceLifecycle
import StoreContract
import TenureAPI
import TenureAppStore
import TenureCore
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `the jobs that use the App Store Server API` {
    @Test func `App Store jobs fetch the purchases that a new customer's sync lacked`() async throws {
        try await LocalStoreTestBed.run { local in
            try await local.operation(.buy)
            try await withFolder { folder in
                try await local.service(in: folder, key: local.key) { client, jobs in
                    let first = try await client.sync(local.sync)
                    #expect(!first.purchasesAreComplete)
                    #expect(first.purchases.isEmpty)
                    #expect(first.entitlements["everything"]?.outcome != .granted)
                    let token = try #require(first.accessToken?.value)

                    let histories = try #require(jobs).histories
                    #expect(await histories.performNextJob())
                    let after = try await client.customer(token)
                    #expect(after.purchasesAreComplete)
                    #expect(after.purchases.map(\.productID) == [Calculator.everything])
                    #expect(after.entitlements["everything"]?.outcome == .granted)

                    // The job is removed when it is done, and the next sync adds none.
                    #expect(await !histories.performNextJob())
                    _ = try await client.sync(local.sync)
                    #expect(await !histories.performNextJob())
                    // A sync from another device adds no job either, because the purchases are complete.
                    _ = try await client.sync(local.sync(from: UUID()))
                    #expect(await !histories.performNextJob())
                }
            }
        }
    }

    @Test func `App Store jobs mark purchases complete for a customer who bought nothing`() async throws {
        try await LocalStoreTestBed.run(.sandbox) { local in
            try await withFolder { folder in
                try await local.service(in: folder, key: local.key) { client, jobs in
                    let token = try #require(try await client.sync(local.sync).accessToken?.value)
                    #expect(await jobs?.histories.performNextJob() == true)
                    let after = try await client.customer(token)
                    #expect(after.purchasesAreComplete)
                    #expect(after.purchases.isEmpty)
                }
            }
        }
    }

    @Test func `App Store jobs fetch a refund that happened while the service was down`() async throws {
        try await LocalStoreTestBed.run { local in
            try await local.operation(.buy)
            try await withFolder { folder in
                try await local.service(in: folder, key: local.key) { client, jobs in
                    let jobs = try #require(jobs)
                    _ = try await client.sync(local.sync)
                    #expect(await jobs.histories.performNextJob())
                    await jobs.notifications.fetch(in: .production)
                    #expect(
                        try await jobs.notifications.store.read {
                            try $0.storedValue(named: "notifications Production")
                        } != nil)
                }
                try await local.pass(2 * 86_400)
                try await local.operation(.refund)
                try await local.pass(60)
                try await local.service(in: folder, key: local.key) { client, jobs in
                    let token = try #require(try await client.sync(local.sync).accessToken?.value)
                    #expect(try await client.customer(token).entitlements["everything"]?.outcome == .granted)
                    let jobs = try #require(jobs)
                    await jobs.notifications.fetch(in: .production)
                    let after = try await client.customer(token)
                    #expect(after.entitlements["everything"]?.outcome != .granted)
                    let reached = try #require(
                        try await jobs.notifications.store.read {
                            try $0.storedValue(named: "notifications Production")
                        })
                    #expect(Double(reached) == local.clock.now.timeIntervalSince1970)
                }
            }
        }
    }

    // Apple's clock may differ from the service's, and a notification may have been on its way.
    @Test func `App Store jobs fetch notifications again from the five minutes before the last fetch`() async throws {
        try await LocalStoreTestBed.run { local in
            try await withFolder { folder in
                try await local.refundWhileStopped(in: folder)
                let refundedAt = local.clock.now.addingTimeInterval(-3600)
                try await local.service(in: folder, key: local.key) { client, jobs in
                    let token = try #require(try await client.sync(local.sync).accessToken?.value)
                    let notifications = try #require(jobs).notifications
                    for (overlap, isKnown) in [(301.0, false), (299, true)] {
                        let reached = refundedAt.addingTimeInterval(overlap).timeIntervalSince1970
                        try await notifications.store.write(locking: [.progress("notifications Production")]) {
                            try $0.setStoredValue(named: "notifications Production", to: String(reached))
                        }
                        await notifications.fetch(in: .production)
                        let outcome = try await client.customer(token).entitlements["everything"]?.outcome
                        #expect((outcome != .granted) == isKnown, "\(overlap) s")
                    }
                }
            }
        }
    }

    @Test func `App Store jobs fetch a notification again that was refused because of a wrong setting`() async throws {
        try await LocalStoreTestBed.run { local in
            try await withFolder { folder in
                try await local.refundWhileStopped(in: folder)
                // This policy has another app's Apple ID.
                let wrong = try Calculator.policy(appleID: 1)
                try await local.service(in: folder, key: local.key, policy: wrong) { _, jobs in
                    await jobs?.notifications.fetch(in: .production)
                }
                try await local.service(in: folder, key: local.key) { client, jobs in
                    let token = try #require(try await client.sync(local.sync).accessToken?.value)
                    #expect(try await client.customer(token).entitlements["everything"]?.outcome == .granted)
                    await jobs?.notifications.fetch(in: .production)
                    #expect(try await client.customer(token).entitlements["everything"]?.outcome != .granted)
                }
            }
        }
    }

    @Test func `App Store jobs fetch a notification again if too many unknown signers delayed its verification`()
        async throws
    {
        try await LocalStoreTestBed.run { local in
            try await withFolder { folder in
                try await local.refundWhileStopped(in: folder)
                try await local.service(in: folder, key: local.key) { client, jobs in
                    let token = try #require(try await client.sync(local.sync).accessToken?.value)
                    let sound = try #require(jobs).notifications
                    let known = sound.notifications
                    // Unknown signers have used up what may be verified in a short time.
                    let busy = NotificationService(
                        verifier: AppStoreVerifier(
                            app: known.verifier.app,
                            cache: ChainCache(trust: known.verifier.trust, budget: .init(burst: 0, perSecond: 0))),
                        store: known.store, policies: known.policies, entitlementComparer: nil, metrics: known.metrics)
                    let failure = await MissedNotifications(
                        client: sound.client, store: sound.store, notifications: busy, logger: sound.logger,
                        now: sound.now
                    ).fetch(in: .production)
                    #expect((failure as? Problem)?.code == .tooManyUnknownSigners)
                    #expect(try await client.customer(token).entitlements["everything"]?.outcome == .granted)
                    await sound.fetch(in: .production)
                    #expect(try await client.customer(token).entitlements["everything"]?.outcome != .granted)
                }
            }
        }
    }

    @Test func `App Store jobs send no requests without an App Store key`() async throws {
        try await LocalStoreTestBed.run { local in
            try await local.operation(.buy)
            try await withFolder { folder in
                try await local.service(in: folder, key: nil) { client, jobs in
                    #expect(jobs == nil)
                    let answer = try await client.sync(local.sync)
                    #expect(!answer.purchasesAreComplete)
                }
                // A service without a key stores no jobs for later.
                try await local.service(in: folder, key: local.key) { client, jobs in
                    #expect(await jobs?.histories.performNextJob() == false)
                    let answer = try await client.sync(local.sync)
                    #expect(!answer.purchasesAreComplete && answer.purchases.isEmpty)
                    #expect(await jobs?.histories.performNextJob() == false)
                    // A new device is a reason to ask for what the database may lack.
                    let device = try await client.sync(local.sync(from: UUID()))
                    #expect(device.id == answer.id && !device.purchasesAreComplete)
                    #expect(await jobs?.histories.performNextJob() == true)
                    #expect(try await client.customer(try device.token).purchasesAreComplete)
                }
            }
        }
    }

    @Test func `App Store jobs report a wrong key while the service runs, and continue with a right key`()
        async throws
    {
        let log = LogLines()
        try await LocalStoreTestBed.run { local in
            try await local.operation(.buy)
            let wrong = try ServerAPIKey(seed: "another")
            try await withFolder { folder in
                try await local.service(in: folder, key: wrong, logger: log.logger(.info)) { client, jobs in
                    let jobs = try #require(jobs)
                    let token = try #require(try await client.sync(local.sync).accessToken?.value)
                    #expect(await jobs.histories.performNextJob())
                    await jobs.notifications.fetch(in: .production)
                    await jobs.notifications.fetch(in: .production)
                    #expect(log.texts.filter { $0.contains("doesn't accept the key") }.count == 2, "\(log.texts)")
                    let meanwhile = try await client.customer(token)
                    #expect(!meanwhile.purchasesAreComplete)
                    // The job is postponed, and still exists after many failures.
                    for _ in 0..<20 {
                        #expect(await !jobs.histories.performNextJob())
                        local.clock.advance(by: 6 * 3600)
                        #expect(await jobs.histories.performNextJob())
                    }
                    local.clock.advance(by: 6 * 3600)
                }
                try await local.pass(0)
                try await local.service(in: folder, key: local.key) { client, jobs in
                    #expect(await jobs?.histories.performNextJob() == true)
                    let token = try #require(try await client.sync(local.sync).accessToken?.value)
                    #expect(try await client.customer(token).entitlements["everything"]?.outcome == .granted)
                }
            }
        }
    }

    @Test func `App Store jobs send no requests for an unbound customer until the owner syncs`() async throws {
        try await LocalStoreTestBed.run { local in
            try await local.operation(.buy)
            try await withFolder { folder in
                try await local.service(in: folder, key: local.key) { client, jobs in
                    let histories = try #require(jobs).histories
                    var found = try await local.sync
                    found.deviceVerificationID = nil
                    _ = try await client.sync(found, from: nil)
                    #expect(await !histories.performNextJob())
                    let token = try #require(try await client.sync(local.sync).accessToken?.value)
                    #expect(await histories.performNextJob())
                    #expect(try await client.customer(token).purchasesAreComplete)
                }
            }
        }
    }

    @Test func `App Store jobs about customers of a test authority never contact Apple`() async throws {
        try await withFolder { folder in
            let file = folder + "/key.p8"
            try writeSecret(AppStoreClientTestBed.key.pemRepresentation, to: file)
            var configuration = try Calculator.configuration(folder)
            configuration.appStore = AppStoreSettings(
                issuerID: AppStoreClientTestBed.issuerID, keyID: AppStoreClientTestBed.keyID, privateKeyFile: file)
            let asked = LogLines()
            let transport = AppStoreTransport { request throws(AppStoreFailure) in
                asked.logger(.info).info("\(request.url)")
                throw .unreachable("no connection")
            }
            let service = try await TenureService(configuration, appStore: transport)
            let jobs = try #require(try service.appStoreJobs(logger: Calculator.logger))
            _ = try await service.store.update(
                [Identity(.appTransactionID, "1")], in: Realm(.production, isTest: true), at: Calculator.now
            ) {
                var update = CustomerUpdate(of: $0)
                update.fetchesHistory = true
                return (update, ())
            }
            #expect(await jobs.histories.performNextJob())
            #expect(asked.texts.isEmpty)
            #expect(await !jobs.histories.performNextJob())
            try await service.store.close()
        }
    }

    @Test func `App Store jobs store no history if its signer isn't the signer of the customer's artifacts`()
        async throws
    {
        try await LocalStoreTestBed.run { local in
            try await local.operation(.buy)
            try await withFolder { folder in
                try await local.service(in: folder, key: local.key) { _, jobs in
                    let jobs = try #require(jobs)
                    let store = jobs.notifications.store
                    let state = await local.appStore.state
                    let id = state.id(of: try #require(state.acquisitions.first))
                    for (realm, isStored) in [(Realm(.production), false), (Realm(.production, isTest: true), true)] {
                        let (customer, _) = try await store.update(
                            [Identity(.appTransactionID, id)], in: realm, at: local.clock.now
                        ) { known in
                            var update = CustomerUpdate(of: known)
                            update.fetchesHistory = true
                            return (update, ())
                        }
                        #expect(await jobs.histories.performNextJob())
                        let after = try #require(try await store.lookUp(customer.id))
                        #expect(after.facts.purchases.isEmpty != isStored)
                    }
                }
            }
        }
    }

    @Test func `App Store jobs look for missed notifications soon after a failure, and then every hour`() async throws {
        try await withFolder { folder in
            let service = try await TenureService(try Calculator.configuration(folder))
            let yesterday = Calculator.now.addingTimeInterval(-86_400)
            try await service.store.write(locking: [.progress("notifications Production")]) {
                try $0.setStoredValue(named: "notifications Production", to: String(yesterday.timeIntervalSince1970))
            }
            let clock = TestTime()
            var time = clock.time
            time.sleep = { seconds in
                try await clock.time.sleep(seconds)
                if clock.sleeps.filter({ $0 >= 3600 }).count == 2 { throw CancellationError() }
            }
            let asked = LogLines()
            let transport = AppStoreTransport { request throws(AppStoreFailure) in
                asked.logger(.info).info("\(request.url)")
                // After a 401, each request is repeated once with a new token.
                return asked.texts.count <= 4
                    ? .init(status: 401, body: [])
                    : .init(status: 200, body: Array(#"{"hasMore":false,"notificationHistory":[]}"#.utf8))
            }
            let verifier = try AppStoreClientTestBed.verifier([.production])
            let missed = MissedNotifications(
                client: AppStoreClient(
                    AppStoreClientTestBed.credentials, verifier: verifier, transport: transport, time: time,
                    logger: Calculator.logger),
                store: service.store,
                notifications: NotificationService(
                    verifier: verifier, store: service.store, policies: service.policies, entitlementComparer: nil,
                    metrics: ServiceMetrics()),
                logger: Calculator.logger, now: { clock.now })
            try await missed.run()
            let sleeps = clock.sleeps.filter { $0 >= 1 }
            #expect(sleeps.count == 4 && sleeps[0] < 60 && sleeps[1] > sleeps[0] && sleeps[1] < 120, "\(sleeps)")
            #expect(sleeps.suffix(2) == [3600, 3600])
            try await service.store.close()
        }
    }

    @Test func `App Store jobs start and stop with the service, and don't start without a readable key`() async throws {
        try await withFolder { folder in
            var configuration = try Calculator.configuration(folder)
            configuration.appStore = AppStoreSettings(issuerID: "i", keyID: "k", privateKeyFile: folder + "/none.p8")
            let broken = try await TenureService(configuration)
            #expect(throws: ServiceError.self) {
                _ = try broken.application(logger: Calculator.logger, onServerRunning: { _ in })
            }
            try await broken.store.close()

            let file = folder + "/key.p8"
            try writeSecret(AppStoreClientTestBed.key.pemRepresentation, to: file)
            configuration.appStore?.privateKeyFile = file
            let started = Gate()
            let service = try await TenureService(configuration)
            let application = try service.application(logger: Calculator.logger) { _ in started.open() }
            let group = ServiceGroup(
                configuration: .init(services: [.init(service: application)], logger: Calculator.logger))
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await group.run() }
                await started.wait()
                await group.triggerGracefulShutdown()
                try await tasks.waitForAll()
            }
            // This service has jobs, but never runs.
            let idle = try await TenureService(configuration)
            _ = try idle.application(logger: Calculator.logger) { _ in }
            try await idle.store.close()
        }
    }
}

extension LocalStoreTestBed {
    /// Buys, lets a service learn of the purchase, and refunds it while no service runs.
    fileprivate func refundWhileStopped(in folder: String) async throws {
        try await operation(.buy)
        try await service(in: folder, key: key) { client, jobs in
            _ = try await client.sync(sync)
            #expect(await jobs?.histories.performNextJob() == true)
            await jobs?.notifications.fetch(in: .production)
        }
        try await pass(2 * 86_400)
        try await operation(.refund)
        try await pass(3600)
    }
}
