import Foundation
import TenureCore
import TenureServer
import Testing

@testable import Tenure

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A device that only asks the service.
private func device(
    _ service: RealService, _ store: FakeStore, vault: MemoryVault = MemoryVault(), at now: Date = World.now,
    _ change: @escaping @Sendable (inout Setup) -> Void = { _ in }
) -> Device {
    Device(store, vault: vault, at: now, policy: nil) { setup in
        service.connect(&setup)
        change(&setup)
    }
}

private func owner() throws -> FakeStore {
    let app = try World.signed(World.owner())
    return FakeStore { $0.app = app }
}

private func newcomer() throws -> FakeStore {
    let app = try World.signed(World.newcomer())
    return FakeStore { $0.app = app }
}

private func silence(_ store: FakeStore) {
    store.change {
        $0.appMood = .throwsAnError
        $0.transactionsMood = .throwsAnError
    }
}

@Suite struct `A certificate` {
    @Test func `of a service whose clock ran ahead does not keep out the right ones after it`() async throws {
        let clock = TestTime(World.now)
        try await RealService.run(now: { clock.now }) { service in
            let store = try newcomer()
            let end = World.now.addingTimeInterval(20 * World.day)
            let subscription = try World.signed(World.subscription(until: end), of: "704000000000000002")
            store.change { $0.transactions = [subscription] }
            let device = device(service, store)
            let tenure = device.start()
            #expect(await tenure.allows("cloud"))
            clock.now = World.now.addingTimeInterval(400 * World.day)
            await tenure.engine.searchAnew(asksService: true)
            #expect(await !tenure.allows("cloud"))
            #expect(await tenure.engine.memory.time.now(World.now) == clock.now)
            // Another instance answers, now and after a new start.
            clock.now = World.now
            for tenure in [tenure, device.start()] {
                await tenure.engine.searchAnew(asksService: true)
                #expect(tenure.customer.steps.first { $0.name == .service }?.outcome == .done)
                #expect(await tenure.allows("cloud"))
                #expect(await tenure.engine.memory.time.now(World.now) == World.now)
            }
            service.line.condition = .down
            device.time.now = end
            #expect(await !device.start().allows("cloud"))
        }
    }

    @Test func `that answers another request is a replay, however new it is`() async throws {
        let clock = TestTime(World.now)
        try await RealService.run(now: { clock.now }) { service in
            let device = device(service, try owner())
            let tenure = device.start()
            #expect(await tenure.allows("everything"))
            clock.now += 60
            await tenure.engine.searchAnew(asksService: true)
            let caught = try #require(service.line.answers.last)
            clock.now += World.day
            service.line.condition = .replaced { _, _, response in (caught, response) }
            await tenure.engine.searchAnew(asksService: true)
            #expect(
                tenure.customer.steps.first { $0.name == .service }?.outcome
                    == .failed("its certificate answers another request than this one"))
            #expect(await tenure.allows("everything"))
        }
    }

    @Test func `without a nonce is judged by its date, as older services write them`() async throws {
        let clock = TestTime(World.now)
        try await RealService.run(now: { clock.now }) { service in
            let line = service.line
            let device = Device(try owner(), policy: nil) { setup in
                setup.service = ServiceConnection(url: service.url, app: nil, deadline: 60) { request in
                    var request = request
                    let text = String(decoding: request.httpBody ?? Data(), as: UTF8.self)
                    request.httpBody = Data(text.replacingOccurrences(of: "\"nonce\"", with: "\"nothing\"").utf8)
                    return try await line.send(request)
                }
                setup.keys = [service.key]
            }
            let tenure = device.start()
            #expect(await tenure.allows("everything"))
            clock.now += World.day
            await tenure.engine.searchAnew(asksService: true)
            #expect(await tenure.engine.memory.time.now(World.now) == clock.now)
            clock.now = World.now
            await tenure.engine.searchAnew(asksService: true)
            #expect(
                tenure.customer.steps.first { $0.name == .service }?.outcome
                    == .failed("its certificate is older than what is known"))
            #expect(await tenure.allows("everything"))
        }
    }
}

@Suite struct `The client asks the service` {
    @Test func `an owner gets a certificate, and is told why`() async throws {
        try await RealService.run { service in
            let device = device(service, try owner())
            let tenure = device.start()
            #expect(await tenure.allows("everything"))
            let decision = await tenure.decision(for: "everything")
            #expect(decision.outcome == .granted)
            #expect(decision.reasons.first?.code == "eraHonoured")
            #expect(decision.sentence.contains("while it was sold for a price"))
            #expect(await tenure.decision(for: "cloud").outcome == .denied)
            #expect(tenure.acquisition?.originalAppVersion == "37")
        }
    }

    @Test func `offline for 400 days, a lifetime entitlement stands`() async throws {
        try await RealService.run { service in
            let device = device(service, try owner())
            #expect(await device.start().allows("everything"))
            service.line.condition = .down
            silence(device.store)
            device.time.now += 400 * World.day
            let tenure = device.start()
            #expect(await tenure.allows("everything"))
            #expect(await tenure.decision(for: "everything").outcome == .granted)
            // What nobody ever granted does not become a right by waiting.
            #expect(await !tenure.allows("cloud"))
            #expect(device.store.now.prompts == 0)
        }
    }

    @Test func `a subscription ends where its certificate says, offline too`() async throws {
        try await RealService.run { service in
            let end = World.now.addingTimeInterval(20 * World.day)
            let store = try newcomer()
            let subscription = try World.signed(World.subscription(until: end), of: "704000000000000002")
            store.change { $0.transactions = [subscription] }
            let device = device(service, store)
            #expect(await device.start().allows("cloud"))
            service.line.condition = .down
            device.time.now = end.addingTimeInterval(-1)
            #expect(await device.start().allows("cloud"))
            device.time.now = end
            #expect(await !device.start().allows("cloud"))
            device.time.now = World.now
            #expect(await !device.start().allows("cloud"))
        }
    }

    @Test func `reinstalled with only the keychain, everything is there`() async throws {
        try await RealService.run { service in
            let first = device(service, try owner())
            _ = await first.start().settled()
            service.line.condition = .down
            let again = device(service, FakeStore { $0.appMood = .throwsAnError }, vault: first.vault)
            #expect(await again.start().allows("everything"))
        }
    }

    @Test func `the certificate of another device proves nothing here`() async throws {
        try await RealService.run { service in
            let first = device(service, try owner())
            _ = await first.start().settled()
            service.line.condition = .down
            let vault = MemoryVault(first.vault.contents)
            let copy = device(
                service,
                FakeStore {
                    $0.appMood = .throwsAnError
                    $0.device = World.otherDevice
                }, vault: vault)
            let tenure = copy.start { $0.options.whileUndetermined = .deny }
            #expect(await !tenure.allows("everything"))
            #expect(await tenure.decision(for: "everything").outcome == .undetermined)
        }
    }

    @Test func `a stranger who answers with keys of their own changes nothing`() async throws {
        try await RealService.run { service in
            // Another service, with another key, whose policy gives everything to everybody.
            let generous = try Policy(
                app: Policy.App(bundleID: World.bundleID, appleID: 828_838_134),
                eras: [Era(name: "always", model: .free)],
                entitlements: [
                    Entitlement(name: "everything", honours: [Honour(era: "always")]),
                    Entitlement(name: "cloud", honours: [Honour(era: "always")]),
                ])
            try await RealService.run(policy: generous) { stranger in
                let device = Device(try newcomer(), policy: nil) { setup in
                    stranger.connect(&setup)
                    setup.keys = [service.key]
                    setup.options.whileUndetermined = .deny
                }
                let tenure = device.start()
                #expect(await !tenure.allows("everything"))
                let decision = await tenure.decision(for: "everything")
                #expect(decision.outcome == .undetermined)
                let step = tenure.customer.steps.first { $0.name == .service }
                #expect(step?.outcome == .failed("its certificate is not signed with a pinned key"))
            }
        }
    }

    @Test func `a stranger who denies takes nothing from an owner`() async throws {
        try await RealService.run { service in
            let vault = MemoryVault()
            _ = await device(service, try owner(), vault: vault).start().settled()
            let strict = try Policy(
                app: Policy.App(bundleID: World.bundleID, appleID: 828_838_134),
                eras: [Era(name: "always", model: .free)], entitlements: [Entitlement(name: "everything")])
            try await RealService.run(policy: strict) { stranger in
                let replaced = Device(try owner(), vault: vault, policy: nil) { setup in
                    stranger.connect(&setup)
                    setup.keys = [service.key]
                }
                let tenure = replaced.start()
                await tenure.engine.searchAnew(asksService: true)
                #expect(stranger.line.syncs > 0)
                #expect(await tenure.allows("everything"))
            }
        }
    }

    @Test func `an answer whose certificate was taken out grants nothing`() async throws {
        try await RealService.run { service in
            service.line.condition = .replaced { _, data, response in
                let text = String(decoding: data, as: UTF8.self)
                return (Data(text.replacingOccurrences(of: "\"certificate\"", with: "\"nothing\"").utf8), response)
            }
            let device = device(service, try owner()) { $0.options.whileUndetermined = .deny }
            let tenure = device.start()
            #expect(await !tenure.allows("everything"))
            #expect(await tenure.decision(for: "everything").outcome == .undetermined)
        }
    }

    @Test func `garbage in the service's place is no denial`() async throws {
        try await RealService.run { service in
            let device = device(service, try owner())
            _ = await device.start().settled()
            for garbage in ["", "<html>Please sign in to this hotel's network</html>", "{}", "[]"] {
                service.line.condition = .replaced { _, _, response in (Data(garbage.utf8), response) }
                let tenure = device.start()
                await tenure.engine.searchAnew(asksService: true)
                #expect(await tenure.allows("everything"), "\(garbage)")
            }
        }
    }

    @Test func `another account on the device is another customer`() async throws {
        try await RealService.run { service in
            let device = device(service, try owner())
            #expect(await device.start().allows("everything"))
            let other = try World.signed(World.newcomer())
            device.store.change { $0.app = other }
            let tenure = device.start()
            _ = await tenure.settled()
            #expect(await !tenure.allows("everything"))
            #expect(await tenure.decision(for: "everything").outcome == .denied)
        }
    }

    @Test func `it is asked once a day while everything is granted, and at each start while something is not`()
        async throws
    {
        let generous = try Policy(
            app: Policy.App(bundleID: World.bundleID, appleID: 828_838_134), eras: [Era(name: "always", model: .paid)],
            entitlements: [Entitlement(name: "everything", honours: [Honour(era: "always")])])
        try await RealService.run(policy: generous) { service in
            let device = device(service, try owner())
            for _ in 0..<3 { _ = await device.start().settled() }
            #expect(service.line.syncs == 1)
            device.time.now += World.day
            for _ in 0..<3 { _ = await device.start().settled() }
            #expect(service.line.syncs == 2)
        }
        try await RealService.run { service in
            let device = device(service, try owner())
            for _ in 0..<3 { _ = await device.start().settled() }
            #expect(service.line.syncs == 3)
        }
    }

    @Test func `a transaction is finished once the service has it`() async throws {
        try await RealService.run { service in
            let store = try newcomer()
            let device = device(service, store)
            let tenure = device.start()
            _ = await tenure.settled()
            service.line.condition = .down
            store.deliver(try World.signed(World.purchase(), of: "704000000000000002"))
            for await customer in tenure.updates where customer.steps.contains(where: \.failedAtService) { break }
            await tenure.engine.searchAnew(asksService: true)
            #expect(store.now.finished.isEmpty)
            service.line.condition = .up
            await tenure.engine.searchAnew(asksService: true)
            #expect(store.now.finished == ["410000000000001"])
            #expect(await tenure.allows("everything"))
        }
    }

    @Test func `the first launch offline is decided here where the app brings its policy`() async throws {
        try await RealService.run { service in
            service.line.condition = .down
            let device = device(service, try owner()) {
                $0.policy = .policy(World.policy(whileUndetermined: .deny))
            }
            let tenure = device.start()
            #expect(await tenure.allows("everything"))
            #expect(await tenure.decision(for: "cloud").outcome == .undetermined)
        }
    }

    @Test func `listening reports, and neither gates nor finishes anything`() async throws {
        try await RealService.run { service in
            let store = try newcomer()
            let purchase = try World.signed(World.purchase(), of: "704000000000000002")
            store.change {
                $0.transactions = [purchase]
                $0.unfinished = [purchase]
            }
            let device = device(service, store) { $0.isListening = true }
            let tenure = device.start()
            let customer = await tenure.settled()
            #expect(service.line.syncs == 1)
            #expect(customer.answers.isEmpty)
            #expect(await tenure.allows("cloud"))
            #expect(store.now.finished.isEmpty)
            #expect(store.now.prompts == 0)
        }
    }

    @Test func `a service with a new key is believed for the old one's sake`() async throws {
        let keys = FileManager.default.temporaryDirectory.appendingPathComponent("tenure-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: keys, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: keys) }
        let pinned = try await RealService.run(authority: RealService.authority, { $0.keysFolder = keys.path }) {
            $0.key
        }
        let (current, previous) = (
            keys.appendingPathComponent("certificate-key.pem"),
            keys.appendingPathComponent("certificate-key.previous.pem")
        )
        try FileManager.default.moveItem(at: current, to: previous)
        try await RealService.run(authority: RealService.authority, { $0.keysFolder = keys.path }) { service in
            #expect(service.key != pinned)
            let device = device(service, try owner()) { $0.keys = [pinned] }
            #expect(await device.start().allows("everything"))
            // Offline too: the statement lies in the certificate.
            service.line.condition = .down
            silence(device.store)
            #expect(await device.start().allows("everything"))
        }
        // A service that only says that it is the same.
        try FileManager.default.removeItem(at: previous)
        try await RealService.run(authority: RealService.authority, { $0.keysFolder = keys.path }) { service in
            let device = device(service, try owner()) {
                $0.keys = [pinned]
                $0.options.whileUndetermined = .deny
            }
            #expect(await !device.start().allows("everything"))
        }
    }

    @Test func `an address without TLS is not told what the App Store signed`() async throws {
        let line = Line()
        let store = try owner()
        let device = Device(store, policy: nil) { setup in
            guard let url = URL(string: "http://tenure.example.com") else { return }
            setup.service = ServiceConnection(url: url, app: nil, deadline: 60) { try await line.send($0) }
        }
        let customer = await device.start().settled()
        #expect(line.paths.isEmpty)
        let hasFailed = customer.steps.contains { $0.failedAtService }
        #expect(hasFailed)
    }
}

extension StoreStep {
    fileprivate var failedAtService: Bool {
        if name == .service, case .failed = outcome { true } else { false }
    }
}
