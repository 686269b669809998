import Foundation
import StoreContract
import TenureAPI
import TenureAppStore
import TenureCore
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `devices` {
    @Test func `the service counts entitlement tokens for each bound device, and counts no unbound device`()
        async throws
    {
        try await withServiceTestBed { testBed in
            let jws = try Calculator.minter().text(.appTransaction)
            let answer = try await testBed.client.sync(SyncRequest(appTransaction: jws))
            _ = try await testBed.client.sync(SyncRequest(appTransaction: jws))
            // These requests come from someone who found the artifact, and from a device for which it wasn't signed.
            _ = try await testBed.client.sync(SyncRequest(appTransaction: jws), from: nil)
            _ = try await testBed.client.sync(SyncRequest(appTransaction: jws), from: UUID())
            let customer = try #require(try await testBed.service.store.read({ try $0.customer(named: answer.id) }))
            let devices = try await testBed.service.store.devices(of: customer.id)
            #expect(devices.map(\.device) == [Calculator.device.hashed])
            #expect(devices.map(\.entitlementTokens) == [2])
        }
    }

    @Test func `more devices than deviceLimit cause an event, and their syncs still succeed`() async throws {
        try await withServiceTestBed({ $0.deviceLimit = 3 }) { testBed in
            var id: String?
            var counts: [Int] = []
            for _ in 0..<6 {
                let device = UUID()
                let answer = try await testBed.client.sync(
                    SyncRequest(appTransaction: try Calculator.minter(device: device).text(.appTransaction)),
                    from: device)
                #expect(answer.entitlements["everything"]?.outcome == .granted && answer.entitlementToken != nil)
                id = answer.id
                let synced = try #require(
                    try await testBed.service.store.read { try $0.customer(named: answer.id) })
                let rows = try await testBed.service.store.read { try $0.rows(of: synced.id) }
                counts.append(try #require(rows).events.count)
            }
            #expect(counts == [0, 0, 0, 1, 1, 1])
            let known = id ?? ""
            let customer = try #require(try await testBed.service.store.read { try $0.customer(named: known) })
            let events = try #require(try await testBed.service.store.read { try $0.rows(of: customer.id) }).events
            #expect(events.map(\.kind) == [.manyDevices])
            #expect(try await testBed.service.store.devices(of: customer.id).count == 6)
        }
    }

    @Test func `a device that only a transaction proves is stored without an entitlement token`() async throws {
        try await withServiceTestBed { testBed in
            let answer = try await testBed.client.sync(
                SyncRequest(transactions: [try Calculator.minter().text(.transaction)]))
            #expect(answer.bound && answer.entitlementToken == nil)
            let customer = try #require(try await testBed.service.store.read { try $0.customer(named: answer.id) })
            let devices = try await testBed.service.store.devices(of: customer.id)
            #expect(devices.map(\.device) == [Calculator.device.hashed])
            #expect(devices.map(\.entitlementTokens) == [0])
        }
    }
}
