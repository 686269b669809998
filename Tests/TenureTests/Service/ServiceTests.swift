import Foundation
import TenureAPI
import TenureCore
import Testing

@testable import Tenure

@Suite struct `The client asks the service` {
    @Test func `an owner gets an entitlement token, and a decision with its reason`() async throws {
        try await RealService.run { service in
            let device = service.device(try .owner()) { $0.options.whileUndetermined = .deny }
            let tenure = device.start()
            #expect(await tenure.allows("everything"))
            let decision = await tenure.decision(for: "everything")
            #expect(decision.outcome == .granted)
            #expect(decision.reasons.first?.code == "eraHonored")
            #expect(decision.sentence.contains("while it was sold for a price"))
            #expect(await tenure.decision(for: "cloud").outcome == .denied)
            #expect(tenure.acquisition?.originalAppVersion == "37")
            guard case .state(let stored) = device.storage.load(device: InventedApp.device.hashed) else {
                Issue.record("nothing was stored")
                return
            }
            #expect(stored.account.entitlementToken?.split(separator: ".").count == 3)
            // The token alone proves the right, without the App Store and the service.
            service.line.condition = .down
            device.store.fallSilent()
            let offline = device.start()
            #expect(await offline.allows("everything"))
            #expect(await !offline.allows("cloud"))
        }
    }

    @Test(arguments: [["en": "Everything", "de": "Alles"], ["de": "Alles", "en": "Everything"]] as [Title])
    func `the service's sentences have the title in the customer's language, otherwise the title's first text`(
        _ title: Title
    ) async throws {
        let first = try #require(title.translations.first).text
        let policy = try Policy(
            app: Policy.App(bundleID: InventedApp.bundleID, appleID: 828_838_134),
            eras: [Era(name: "always", model: .paid)],
            entitlements: [Entitlement(name: "everything", title: title, honors: [Honor(era: "always")])])
        try await RealService.run(policy: policy) { service in
            let german = service.device(try .owner()).start { $0.options.languages = ["fr-CA", "de-AT", "en"] }
            #expect(await german.decision(for: "everything").sentence.hasPrefix("“Alles” is yours permanently: "))
            let french = service.device(try .owner()).start { $0.options.languages = ["fr"] }
            #expect(await french.decision(for: "everything").sentence.hasPrefix("“\(first)” is yours permanently: "))
        }
    }

    @Test func `another account on the device doesn't get what the service granted to the first account`() async throws
    {
        try await RealService.run { service in
            let device = service.device(try .owner())
            #expect(await device.start().allows("everything"))
            let other = try InventedApp.signed(InventedApp.newcomer())
            device.store.change { $0.app = other }
            let tenure = device.start()
            _ = await tenure.settled()
            #expect(await !tenure.allows("everything"))
            #expect(await tenure.decision(for: "everything").outcome == .denied)
        }
    }

    @Test func `a signed right isn't used for the next account in any process while the service is down`()
        async throws
    {
        try await RealService.run { service in
            let storage = MemoryStateStorage()
            let devices = try (0..<2).map { _ in
                service.device(try .owner(), storage: storage) { $0.options.whileUndetermined = .deny }
            }
            let (app, appExtension) = (devices[0].start(), devices[1].start())
            for tenure in [app, appExtension] { #expect(await tenure.settled().has("everything")) }
            service.line.condition = .down
            let other = try InventedApp.signed(InventedApp.newcomer())
            for device in devices { device.store.change { $0.app = other } }
            for tenure in [app, appExtension] {
                #expect(await !tenure.refresh().has("everything"))
                #expect(await !tenure.allows("everything"))
            }
        }
    }

    @Test func `the client sends nothing to the service while it has no artifact of the App Store`() async throws {
        try await RealService.run { service in
            let customer = await service.device(FakeStore { $0.appBehavior = .throwsAnError }).start().settled()
            #expect(service.line.syncs == 0)
            #expect(
                customer.steps.first { $0.name == .service }?.outcome
                    == .failed(
                        "no app transaction, transaction or receipt could be read, so there is nothing to send"))
        }
    }

    @Test func `the service's denial of one account doesn't apply to the next account while the service is down`()
        async throws
    {
        try await RealService.run { service in
            let device = service.device(try .newcomer()) {
                $0.policy = .policy(InventedApp.policy(whileUndetermined: .deny))
            }
            let tenure = device.start()
            #expect(await tenure.settled().answers["everything"]?.outcome == .denied)
            service.line.condition = .down
            let owner = try InventedApp.signed(InventedApp.owner())
            device.store.change { $0.app = owner }
            #expect(await tenure.refresh().has("everything"))
        }
    }

    @Test func `the service is asked at once about a refund of the app`() async throws {
        try await RealService.run { service in
            let device = service.device(try .owner())
            #expect(await device.start().allows("everything"))
            let refunded = try InventedApp.signed(
                InventedApp.owner(revoked: InventedApp.now.addingTimeInterval(-120)))
            device.store.change { $0.app = refunded }
            let tenure = device.start()
            _ = await tenure.settled()
            #expect(service.line.syncs == 2)
            #expect(await tenure.decision(for: "everything").outcome == .denied)
        }
    }

    @Test func `the client wakes up after an hour to ask the service about a denial, and otherwise after a day`()
        async throws
    {
        try await RealService.run { service in
            let device = service.device(try .owner())
            let tenure = device.start()
            #expect(await tenure.decision(for: "cloud").outcome == .denied)
            await device.time.sleeping(1)
            #expect(device.time.slept.first == 3600)
        }
        try await RealService.run(policy: Policy.ofOwners) { service in
            let device = service.device(try .owner())
            let tenure = device.start()
            #expect(await tenure.allows("everything"))
            await device.time.sleeping(1)
            #expect(device.time.slept.first == InventedApp.day)
        }
    }

    @Test func `the service is asked once a day while everything is granted, and once an hour otherwise`()
        async throws
    {
        try await RealService.run(policy: Policy.ofOwners) { service in
            let device = service.device(try .owner())
            for _ in 0..<3 { _ = await device.start().settled() }
            #expect(service.line.syncs == 1)
            device.time.now += InventedApp.day - 1
            _ = await device.start().settled()
            #expect(service.line.syncs == 1)
            device.time.now += 1
            for _ in 0..<3 { _ = await device.start().settled() }
            #expect(service.line.syncs == 2)
        }
        try await RealService.run { service in
            let device = service.device(try .owner())
            let why = "the service was asked a short while ago, and there is no new evidence"
            for start in 0..<3 {
                let tenure = device.start()
                let steps = await tenure.settled().steps
                let step = steps.first { $0.name == .service }
                let outcome: Tenure.AppStoreStep.Outcome = start == 0 ? .done : .skipped(why)
                #expect(step?.outcome == outcome)
                // Its recent response still applies.
                #expect(await tenure.decision(for: "cloud").outcome == .denied)
            }
            #expect(service.line.syncs == 1)
            device.time.now += 3599
            _ = await device.start().settled()
            #expect(service.line.syncs == 1)
            device.time.now += 1
            for _ in 0..<3 { _ = await device.start().settled() }
            #expect(service.line.syncs == 2)
            await device.start().refresh()
            #expect(service.line.syncs == 3)
        }
    }

    @Test func `the client finishes a transaction once the service has stored it`() async throws {
        try await RealService.run { service in
            let store = try FakeStore.newcomer()
            let device = service.device(store)
            let tenure = device.start()
            _ = await tenure.settled()
            service.line.condition = .down
            store.deliverUpdate(try InventedApp.signed(InventedApp.purchase(), of: "704000000000000002"))
            for await customer in tenure.updates where customer.steps.contains(where: \.failedAtService) { break }
            await tenure.engine.searchAgain()
            #expect(store.now.finished.isEmpty)
            service.line.condition = .up
            await tenure.engine.searchAgain()
            #expect(store.now.finished == ["410000000000001"])
            #expect(await tenure.allows("everything"))
        }
    }

    /// `Tenure.listening` trusts no key, so it can't verify the service's entitlement tokens.
    private static func listen(_ setup: inout Setup) {
        setup.isListening = true
        setup.keys = []
    }

    @Test func `a client made by Tenure.listening sends purchases, allows everything and finishes no transactions`()
        async throws
    {
        try await RealService.run { service in
            let store = try FakeStore.newcomer()
            let purchase = try InventedApp.signed(InventedApp.purchase(), of: "704000000000000002")
            store.change {
                $0.transactions = [purchase]
                $0.unfinished = [purchase]
            }
            let device = service.device(store) { Self.listen(&$0) }
            let tenure = device.start()
            let customer = await tenure.settled()
            #expect(service.line.syncs == 1)
            #expect(customer.steps.first { $0.name == .service }?.outcome == .done)
            #expect(customer.answers.isEmpty)
            #expect(await tenure.allows("cloud"))
            #expect(store.now.finished.isEmpty)
            #expect(store.now.prompts == 0)
        }
    }

    @Test func `a client made by Tenure.listening asks the service again after a day, even about a denial`()
        async throws
    {
        try await RealService.run { service in
            let device = service.device(try .newcomer()) { Self.listen(&$0) }
            for (hours, syncs) in [(0.0, 1), (3, 1), (23, 1), (24, 2)] {
                device.time.now = InventedApp.now.addingTimeInterval(hours * 3600)
                _ = await device.start().settled()
                #expect(service.line.syncs == syncs, "after \(hours) hours")
            }
        }
    }

    @Test func `the client asks the service again after a device clock that ran ahead is corrected`() async throws {
        try await RealService.run(policy: Policy.ofOwners) { service in
            let device = service.device(try .owner(), at: InventedApp.now + 400 * InventedApp.day)
            _ = await device.start().settled()
            #expect(service.line.syncs == 1)
            device.time.now = InventedApp.now
            _ = await device.start().settled()
            #expect(service.line.syncs == 2)
        }
    }

    @Test func `a purchase that couldn't be sent is sent when the network returns, although nothing is denied`()
        async throws
    {
        try await RealService.run(policy: Policy.ofOwners) { service in
            let (events, occur) = AsyncStream.makeStream(of: DeviceEvent.self)
            let store = try FakeStore.owner()
            let device = service.device(store) { $0.events = { events } }
            let tenure = device.start()
            #expect(await tenure.settled().has("everything"))
            service.line.condition = .down
            store.deliverUpdate(try InventedApp.signed(InventedApp.purchase(), of: "704000000000000001"))
            await tenure.engine.searchAgain()
            #expect(service.lastAnswer?.purchases.isEmpty == true)
            #expect(await tenure.allows("everything"))
            service.line.condition = .up
            device.time.now += 10
            occur.yield(.networkReturned)
            try await wait { service.lastAnswer?.purchases.isEmpty == false }
            #expect(service.lastAnswer?.purchases.count == 1)
        }
    }

    private func newcomer(subscribedUntil end: Date) throws -> FakeStore {
        let store = try FakeStore.newcomer()
        let subscription = try InventedApp.signed(InventedApp.subscription(until: end), of: "704000000000000002")
        store.change { $0.transactions = [subscription] }
        return store
    }

    @Test func `the service is asked at once whether a subscription that has ended was renewed`() async throws {
        try await RealService.run { service in
            let end = InventedApp.now.addingTimeInterval(600)
            let store = try newcomer(subscribedUntil: end)
            let device = service.device(store)
            #expect(await device.start().settled().has("cloud"))
            device.time.now = end.addingTimeInterval(-1)
            _ = await device.start().settled()
            #expect(service.line.syncs == 1)
            device.time.now = end
            _ = await device.start().settled()
            #expect(service.line.syncs == 2)
        }
    }

    @Test func `the service is asked whether an ended subscription was renewed, even if its clock is behind`()
        async throws
    {
        let end = InventedApp.now.addingTimeInterval(600)
        try await RealService.run(now: { end.addingTimeInterval(-5) }) { service in
            let store = try newcomer(subscribedUntil: end)
            let device = service.device(store)
            // The service still grants the right, and the response arrives at the end.
            device.time.now = end
            _ = await device.start().settled()
            #expect(service.lastAnswer?.entitlements["cloud"]?.outcome == .granted)
            #expect(service.line.syncs == 1)
            device.time.now = end.addingTimeInterval(1)
            _ = await device.start().settled()
            #expect(service.line.syncs == 2)
        }
    }

    @Test func `a device with a clock far ahead of the service's asks no more often`() async throws {
        let end = InventedApp.now.addingTimeInterval(600)
        try await RealService.run(now: { end.addingTimeInterval(-5) }) { service in
            let store = try newcomer(subscribedUntil: end)
            let device = service.device(store)
            for seconds in [0.0, 1] {
                device.time.now = end.addingTimeInterval(InventedApp.day + seconds)
                _ = await device.start().settled()
            }
            #expect(service.line.syncs == 1)
        }
    }

    @Test func `a right that the service granted until a date ends at that date, even if the service is down`()
        async throws
    {
        try await RealService.run { service in
            let end = InventedApp.now.addingTimeInterval(600)
            let store = try newcomer(subscribedUntil: end)
            let device = service.device(store) { $0.options.whileUndetermined = .deny }
            let tenure = device.start()
            #expect(await tenure.settled().has("cloud"))
            service.line.condition = .down
            device.time.now = end
            for tenure in [tenure, device.start()] {
                await tenure.engine.searchAgain()
                let customer = await tenure.settled()
                let decision = await tenure.decision(for: "cloud")
                #expect(decision.outcome == .undetermined && !customer.has("cloud"), "\(decision)")
                // Not that the service's response lacks a signature.
                #expect(decision.reasons.first?.code == "notAnswered", "\(decision.reasons)")
                #expect(await !tenure.allows("cloud"))
            }
        }
    }

    @Test func `a sync with too many transactions leaves out old subscription periods, not one-time purchases`() {
        let bought = InventedApp.purchase(id: "1", bought: InventedApp.now - 3000 * InventedApp.day)
        let periods = (0..<2000).map { day in
            InventedApp.subscription(until: InventedApp.now - Double(day) * InventedApp.day, id: "\(1000 + day)")
        }
        let sent = SyncRequest.mostRelevant(periods + [bought]).map(\.purchase.transactionID)
        #expect(sent.count == 2000)
        #expect(sent.contains("1"))
        #expect(sent.contains("1000") && !sent.contains("2999"))
    }
}

extension Policy {
    /// Grants the only entitlement to every customer with the app.
    fileprivate static var ofOwners: Policy {
        get throws {
            try Policy(
                app: Policy.App(bundleID: InventedApp.bundleID, appleID: 828_838_134),
                eras: [Era(name: "always", model: .paid)],
                entitlements: [Entitlement(name: "everything", honors: [Honor(era: "always")])])
        }
    }
}
