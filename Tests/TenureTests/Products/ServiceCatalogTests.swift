import Foundation
import TenureCore
import TenureHTTP
import Testing

@testable import Tenure

@Suite struct `The product catalog of a service` {
    private func device(_ service: RealService, policy: Policy? = nil) throws -> Device {
        let app = try InventedApp.signed(InventedApp.newcomer())
        return Device(FakeStore { $0.app = app }, policy: policy) { service.connect(&$0) }
    }

    private func questions(_ service: RealService) -> Int {
        service.line.paths.filter { $0.hasSuffix("/v1/products") }.count
    }

    @Test func `the product catalog of a service has the entitlements of each product, and is stored`() async throws {
        try await RealService.run { service in
            let device = try device(service)
            let tenure = device.start()
            _ = await tenure.settled()
            let catalog = try #require(await tenure.catalog)
            #expect(catalog == Tenure.ProductCatalog(InventedApp.policy()))
            #expect(catalog.grants(of: InventedApp.yearly).map(\.entitlement) == ["everything", "cloud"])
            #expect(catalog.trial(of: "everything") == .sessions(2))
            #expect(questions(service) == 1)
            service.line.condition = .down
            let again = device.start()
            #expect(await again.catalog == catalog)
            _ = await again.settled()
            #expect(questions(service) == 1)
            // A day later the client requests the catalog again. The catalog stays if it didn't change or if the
            // service is down.
            for condition in [ControlledTransport.Condition.down, .up] {
                service.line.condition = condition
                device.time.now += InventedApp.day
                let later = device.start()
                _ = await later.settled()
                #expect(await later.catalog == catalog)
            }
            #expect(questions(service) == 3)
            #expect(service.line.answers.contains { $0.isEmpty }, "not modified")
            // A response without changes is valid for a day, too.
            _ = await device.start().settled()
            #expect(questions(service) == 3)
        }
    }

    @Test func `the client requests the service's catalog again after the clock was set back by a day`() async throws {
        try await RealService.run { service in
            let device = try device(service)
            _ = await device.start().settled()
            device.time.now -= InventedApp.day
            _ = await device.start().settled()
            #expect(questions(service) == 2)
        }
    }

    @Test func `the client requests the service's catalog again after 23 hours, and not before`() async throws {
        try await RealService.run { service in
            let device = try device(service)
            for (seconds, requests) in [(0.0, 1), (82_799, 1), (82_800, 2)] {
                device.time.now = InventedApp.now.addingTimeInterval(seconds)
                _ = await device.start().settled()
                #expect(questions(service) == requests, "after \(seconds) seconds")
            }
        }
    }

    @Test func `refresh() fetches the service's product catalog again, but a later allows() doesn't`()
        async throws
    {
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

    @Test func `the client lists the bundled policy's products until the service's product catalog has arrived`()
        async throws
    {
        try await RealService.run { service in
            let old = try Policy(
                app: Policy.App(bundleID: InventedApp.bundleID, appleID: 828_838_134),
                eras: [Era(name: "always", model: .paid)],
                entitlements: [Entitlement(name: "everything", products: [.init(id: InventedApp.everything)])])
            let device = try device(service, policy: old)
            service.line.condition = .down
            #expect(await device.start().catalog == Tenure.ProductCatalog(old))
            service.line.condition = .up
            #expect(await device.start().catalog == Tenure.ProductCatalog(InventedApp.policy()))
        }
    }

    @Test func `the product catalog of a service is requested again after the device's clock was set back`()
        async throws
    {
        try await RealService.run { service in
            let device = try device(service)
            _ = await device.start().settled()
            device.time.now -= 2 * InventedApp.day
            _ = await device.start().settled()
            #expect(questions(service) == 2)
        }
    }

    @Test func `at the first launch, the client lists purchases of the products in the service's product catalog`()
        async throws
    {
        try await RealService.run { service in
            let device = try device(service)
            _ = await device.start().settled()
            #expect(device.store.now.listedProducts.first == [InventedApp.everything, InventedApp.yearly])
        }
    }

    @Test func `a service's product catalog that can't be read changes nothing`() async throws {
        try await RealService.run { service in
            let device = try device(service)
            service.line.condition = .replaced { $0.body = Data("<html>".utf8) }
            let tenure = device.start()
            _ = await tenure.settled()
            #expect(await tenure.catalog == nil)
        }
    }

    @Test func `a service's product catalog of more than 256 KiB is logged, and changes nothing`() async throws {
        let limit = 256 * 1024
        let lines = Locked<[String]>([])
        try await RealService.run { service in
            let device = service.device(try .newcomer()) { setup in
                setup.options.log = Tenure.Log { _, line in lines.withLock { $0.append(line) } }
            }
            service.line.condition = .replaced { $0.body.fill(to: limit + 1) }
            #expect(await device.start().catalog == nil)
            #expect(lines.withLock { $0.contains { $0.contains("has more than 262144 bytes") } })
            service.line.condition = .replaced { $0.body.fill(to: limit) }
            let first = try #require(await device.start().catalog)
            #expect(first == Tenure.ProductCatalog(InventedApp.policy()))

            // A day later, the service has other products. Too large a list of them leaves the former list.
            let whole = try #require(service.line.answers.first.flatMap { String(data: $0, encoding: .utf8) })
            let others = whole.replacingOccurrences(of: InventedApp.everything, with: "com.example.other")
            for (size, ids) in [(limit + 1, first.ids), (limit, ["com.example.other", InventedApp.yearly])] {
                device.time.now += InventedApp.day
                service.line.condition = .replaced { response in
                    guard response.status == 304 else { return }
                    response = TransportResponse(status: 200, body: Data(others.utf8))
                    response.body.fill(to: size)
                }
                let tenure = device.start()
                await tenure.engine.search()
                #expect(await tenure.catalog?.ids == ids, "\(size)")
            }
        }
    }
}

extension Data {
    /// Appends white space, which means nothing at the end of JSON, up to a size in bytes.
    fileprivate mutating func fill(to size: Int) { self += Data(repeating: 0x20, count: Swift.max(0, size - count)) }
}
