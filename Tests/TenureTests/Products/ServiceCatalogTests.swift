import Foundation
import TenureCore
import TenureHTTP
import Testing

@testable import Tenure

@Suite struct `The catalog of a service` {
    private func device(_ service: RealService, policy: Policy? = nil) throws -> Device {
        let app = try World.signed(World.newcomer())
        return Device(FakeStore { $0.app = app }, policy: policy) { service.connect(&$0) }
    }

    private func questions(_ service: RealService) -> Int {
        service.line.paths.filter { $0.hasSuffix("/v1/products") }.count
    }

    @Test func `says what each product gives, and is kept`() async throws {
        try await RealService.run { service in
            let device = try device(service)
            let tenure = device.start()
            _ = await tenure.settled()
            let catalog = try #require(await tenure.catalog)
            #expect(catalog == Tenure.ProductCatalog(World.policy()))
            #expect(catalog.gifts(of: World.yearly).map(\.entitlement) == ["everything", "cloud"])
            #expect(catalog.trial(of: "everything") == .sessions(2))
            #expect(questions(service) == 1)
            service.line.condition = .down
            let again = device.start()
            #expect(await again.catalog == catalog)
            _ = await again.settled()
            #expect(questions(service) == 1)
            // A day later it is asked for again, and stands where it did not change or nobody answers.
            for condition in [Line.Condition.down, .up] {
                service.line.condition = condition
                device.time.now += World.day
                let later = device.start()
                _ = await later.settled()
                #expect(await later.catalog == catalog)
            }
            #expect(questions(service) == 3)
            #expect(service.line.answers.contains { $0.isEmpty }, "not modified")
            // An answer that nothing changed counts for a day, too.
            _ = await device.start().settled()
            #expect(questions(service) == 3)
        }
    }

    @Test func `is asked for again by refresh, over HTTP, and not by other searches`() async throws {
        try await ServedApp.run(policy: nil) { app in
            let tenure = app.start()
            _ = await tenure.settled()
            #expect(questions(app.service) == 1)
            await tenure.refresh()
            #expect(questions(app.service) == 2)
            app.time.now += 60
            #expect(await !tenure.allows("everything"))
            #expect(questions(app.service) == 2)
            await tenure.refresh()
            #expect(questions(app.service) == 3)
        }
    }

    @Test func `counts more than the policy that the app brought, which stands in for it`() async throws {
        try await RealService.run { service in
            let old = try Policy(
                app: Policy.App(bundleID: World.bundleID, appleID: 828_838_134),
                eras: [Era(name: "always", model: .paid)],
                entitlements: [Entitlement(name: "everything", products: [.init(id: World.everything)])])
            let device = try device(service, policy: old)
            service.line.condition = .down
            #expect(await device.start().catalog == Tenure.ProductCatalog(old))
            service.line.condition = .up
            #expect(await device.start().catalog == Tenure.ProductCatalog(World.policy()))
        }
    }

    @Test func `that is none changes nothing`() async throws {
        try await RealService.run { service in
            let device = try device(service)
            service.line.condition = .replaced { $0.body = Data("<html>".utf8) }
            let tenure = device.start()
            _ = await tenure.settled()
            #expect(await tenure.catalog == nil)
        }
    }
}
