import Foundation
import TenureAPI
import TenureCore
import TenureHTTP
import TenureServer
import Testing

@testable import Tenure

@Suite struct `An attacker in place of the service` {
    @Test func `an attacker in place of the service who has another signing key can't grant anything`() async throws {
        try await RealService.run { service in
            // Another service with another key and a policy that gives everything to everyone.
            let generous = try Policy(
                app: Policy.App(bundleID: InventedApp.bundleID, appleID: 828_838_134),
                eras: [Era(name: "always", model: .free)],
                entitlements: [
                    Entitlement(name: "everything", honors: [Honor(era: "always")]),
                    Entitlement(name: "cloud", honors: [Honor(era: "always")]),
                ])
            try await RealService.run(policy: generous) { stranger in
                let device = Device(try .newcomer(), policy: nil) { setup in
                    stranger.connect(&setup)
                    setup.keys = [service.key]
                    setup.options.whileUndetermined = .deny
                }
                let tenure = device.start()
                #expect(await !tenure.allows("everything"))
                let decision = await tenure.decision(for: "everything")
                #expect(decision.outcome == .undetermined)
                let step = tenure.customer.steps.first { $0.name == .service }
                #expect(step?.outcome == .failed("the service's entitlement token isn't signed with a pinned key"))
            }
        }
    }

    @Test func `an attacker with another signing key who denies everything takes nothing from an owner`() async throws {
        try await RealService.run { service in
            let storage = MemoryStateStorage()
            _ = await service.device(try .owner(), storage: storage).start().settled()
            let strict = try Policy(
                app: Policy.App(bundleID: InventedApp.bundleID, appleID: 828_838_134),
                eras: [Era(name: "always", model: .free)], entitlements: [Entitlement(name: "everything")])
            try await RealService.run(policy: strict) { stranger in
                let replaced = Device(try .owner(), storage: storage, policy: nil) { setup in
                    stranger.connect(&setup)
                    setup.keys = [service.key]
                }
                let tenure = replaced.start()
                await tenure.engine.searchAgain()
                #expect(stranger.line.syncs > 0)
                let step = tenure.customer.steps.first { $0.name == .service }
                #expect(step?.outcome == .failed("the service's entitlement token isn't signed with a pinned key"))
                #expect(await tenure.allows("everything"))
                // The stored right is still there without the attacker.
                stranger.line.condition = .down
                replaced.store.fallSilent()
                let later = replaced.start { $0.options.whileUndetermined = .deny }
                #expect(await later.allows("everything"))
            }
        }
    }

    @Test func `a response from which an attacker removed the entitlement token grants and denies nothing`()
        async throws
    {
        try await RealService.run { service in
            service.line.condition = .replaced { response in
                let text = String(decoding: response.body, as: UTF8.self)
                response.body = Data(text.replacingOccurrences(of: "\"entitlementToken\"", with: "\"nothing\"").utf8)
            }
            let device = service.device(try .owner()) { $0.options.whileUndetermined = .deny }
            let tenure = device.start()
            #expect(await !tenure.allows("everything"))
            #expect(await tenure.decision(for: "everything").outcome == .undetermined)
            // It denies nothing either.
            let newcomer = service.device(try .newcomer()).start()
            #expect(await newcomer.decision(for: "everything").outcome == .undetermined)
            let step = newcomer.customer.steps.first { $0.name == .service }
            #expect(step?.outcome == .failed("the service's entitlement token is missing"))
        }
    }

    @Test func `an attacker in place of the service who sends garbage takes nothing from an owner`() async throws {
        try await RealService.run { service in
            let device = service.device(try .owner())
            _ = await device.start().settled()
            for garbage in ["", "<html>Please sign in to this hotel's network</html>", "{}", "[]"] {
                service.line.condition = .replaced { $0.body = Data(garbage.utf8) }
                let tenure = device.start()
                await tenure.engine.searchAgain()
                let hasFailed = tenure.customer.steps.contains { $0.failedAtService }
                #expect(hasFailed, "\(garbage)")
                #expect(await tenure.allows("everything"), "\(garbage)")
            }
        }
    }

    @Test func `a token for Sandbox artifacts that an attacker sent is refused while the environment is unknown`()
        async throws
    {
        try await RealService.run(policy: InventedApp.policy(testEnvironments: .owner)) { service in
            let account = "704000000000000002"
            let sandbox = try InventedApp.signed(InventedApp.owner(id: account, environment: .sandbox)).jws
            let bought = try InventedApp.signed(InventedApp.purchase("com.example.calculator.theme"), of: account)
            let store = FakeStore {
                $0.appBehavior = .throwsAnError
                $0.transactions = [bought]
            }
            let device = Device(store, policy: nil) { setup in
                service.connect(&setup)
                let transport = EditingTransport(next: service.line) { request in
                    guard request.url.path.hasSuffix("/v1/sync"), let body = request.body,
                        var fields = (try? JSONSerialization.jsonObject(with: body)) as? [String: Any]
                    else { return }
                    fields["appTransaction"] = sandbox
                    fields["transactions"] = nil
                    request.body = try? JSONSerialization.data(withJSONObject: fields)
                }
                setup.service = ServiceConnection(url: service.url, app: nil, timeout: 60, transport: transport)
                setup.options.whileUndetermined = .deny
            }
            let tenure = device.start()
            #expect(await !tenure.allows("everything"))
            #expect(service.lastAnswer?.entitlements["everything"]?.outcome == .granted)
            let step = tenure.customer.steps.first { $0.name == .service }
            #expect(
                step?.outcome
                    == .failed("the service's entitlement token was issued for another App Store environment"))
        }
    }

    @Test func `a right ends at the signed end, even if an attacker changed the rest of the response`() async throws {
        try await RealService.run { service in
            let end = InventedApp.date("2026-12-10T12:00:00Z")
            let store = try FakeStore.newcomer()
            let subscription = try InventedApp.signed(InventedApp.subscription(until: end), of: "704000000000000002")
            store.change { $0.transactions = [subscription] }
            service.line.condition = .replaced { response in
                let text = String(decoding: response.body, as: UTF8.self)
                    .replacingOccurrences(of: "2026-12-10T12:00", with: "2036-12-10T12:00")
                response = TransportResponse(status: response.status, body: Data(text.utf8))
            }
            let customer = await service.device(store).start().settled()
            #expect(customer.answers["cloud"]?.outcome == .granted && customer.answers["cloud"]?.until == end)
        }
    }

    @Test func `the client sends no signed artifacts to a service without TLS`() async throws {
        let line = ControlledTransport()
        let store = try FakeStore.owner()
        let device = Device(store, policy: nil) { setup in
            guard let url = URL(string: "http://tenure.example.com") else { return }
            setup.service = ServiceConnection(url: url, app: nil, timeout: 60, transport: line)
        }
        let customer = await device.start().settled()
        #expect(line.paths.isEmpty)
        let hasFailed = customer.steps.contains { $0.failedAtService }
        #expect(hasFailed)
    }
}
