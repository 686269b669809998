import Foundation
import TenureCore
import TenureHTTP
import TenureServer
import Testing

@testable import Tenure

private let adminKey = KeySecret().text

extension RealService {
    /// The token of a persona who bought build 37 in 2014.
    fileprivate func earlyBuyer() async throws -> String {
        var request = TransportRequest(
            url.appendingPathComponent("v1/admin/personas"), timeout: 60, bodyLimit: 65_536)
        request.headers["Authorization"] = "Bearer \(adminKey)"
        request.post(
            json: Data(
                """
                {"name": "early-buyer", "set": {"originalPlatform": "iOS", "originalAppVersion": "37", \
                "originalPurchaseDate": "2014-05-01"}}
                """.utf8))
        let data = try await URLSessionTransport.shared.send(request).body
        struct Answer: Decodable {
            struct Persona: Decodable { let token: String }
            let personas: [Persona]
        }
        return try #require(try JSONDecoder().decode(Answer.self, from: data).personas.first).token
    }
}

/// The StoreKit of a tester, or in production of a customer who paid nothing.
private func newcomerStore(_ environment: AppStoreEnvironment) throws -> FakeStore {
    let app = try InventedApp.signed(InventedApp.newcomer(environment: environment))
    return FakeStore { $0.app = app }
}

@Suite struct `A build under test` {
    private func withPersona(
        _ body: @escaping @Sendable (RealService, _ token: String) async throws -> Void
    ) async throws {
        try await RealService.run({ $0.adminKey = adminKey }) { service in
            try await body(service, try await service.earlyBuyer())
        }
    }

    @Test func `removing a persona drops its entitlement token, even after the account changed`() {
        var stored = StoredState(clock: InventedApp.now)
        stored.setPersona("token")
        stored.discardAccount()
        stored.account.entitlementToken = "of the persona"
        stored.setPersona(nil)
        #expect(stored.account.entitlementToken == nil)
    }

    @Test func `a test build gets its persona's decisions, online and offline`() async throws {
        try await withPersona { service, token in
            let device = Device(try newcomerStore(.sandbox), policy: nil) { setup in
                service.connect(&setup)
                setup.options.whileUndetermined = .deny
            }
            #expect(await !device.start().allows("everything"))
            let tenure = device.start { $0.options.persona = .token(token) }
            #expect(await tenure.allows("everything"))
            #expect(await tenure.decision(for: "everything").reasons.contains { $0.code == "persona" })
            service.line.condition = .down
            #expect(await device.start { $0.options.persona = .token(token) }.allows("everything"))
            // A month later the persona has expired, offline too.
            device.time.now += 30 * InventedApp.day
            #expect(await !device.start { $0.options.persona = .token(token) }.allows("everything"))
            device.time.now = InventedApp.now
            // An expired persona gives nothing, even if the service can't be reached.
            #expect(await !device.start().allows("everything"))
            #expect(await !device.start { $0.options.persona = .token("another") }.allows("everything"))
            service.line.condition = .up
            let again = device.start()
            #expect(await !again.allows("everything"))
            #expect(await again.decision(for: "everything").outcome == .denied)
        }
    }

    @Test func `a persona is sent only by a TestFlight build in Sandbox, never by a copy from the App Store`()
        async throws
    {
        try await withPersona { service, token in
            for (distribution, environment, isSent) in [
                (Tenure.Distribution.testFlight, AppStoreEnvironment.sandbox, true), (.testFlight, .production, false),
                (.appStore, .sandbox, false), (.appStore, .production, false),
            ] {
                let sent = Locked<[String]>([])
                let store = try newcomerStore(environment)
                store.change { state in
                    state.distribution = distribution
                    state.trustsTestAuthorities = false
                }
                let device = Device(store, policy: nil) { setup in
                    let transport = EditingTransport(next: service.line) { request in
                        let body = String(decoding: request.body ?? Data(), as: UTF8.self)
                        sent.withLock { $0.append(body) }
                    }
                    setup.service = ServiceConnection(url: service.url, app: nil, timeout: 60, transport: transport)
                    setup.keys = [service.key]
                    setup.options.persona = .token(token)
                }
                _ = await device.start().settled()
                let bodies = sent.withLock { $0 }
                #expect(!bodies.isEmpty)
                #expect(bodies.contains { $0.contains(token) } == isSent, "\(distribution), \(environment)")
            }
            // A copy from the App Store sends no persona.
            let device = Device(try newcomerStore(.production), policy: nil) { setup in
                service.connect(&setup)
                setup.options.persona = .token(token)
            }
            #expect(await device.start().decision(for: "everything").outcome == .denied)
        }
    }
}
