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
    @Test func `are counted where the proof is bound, with their certificates`() async throws {
        try await withWorld { world in
            let jws = try Calculator.minter().text(.appTransaction)
            let answer = try await world.client.sync(SyncRequest(appTransaction: jws))
            _ = try await world.client.sync(SyncRequest(appTransaction: jws))
            // A finder, and a device that it was not signed for.
            _ = try await world.client.sync(SyncRequest(appTransaction: jws), from: nil)
            _ = try await world.client.sync(SyncRequest(appTransaction: jws), from: UUID())
            let customer = try #require(try await world.service.store.customer(named: answer.id))
            let devices = try await world.service.store.devices(of: customer.id)
            #expect(devices.map(\.device) == [Calculator.device.hashed])
            #expect(devices.map(\.certificates) == [2])
        }
    }

    @Test func `beyond the limit are noted, and nothing else happens`() async throws {
        try await withWorld({ $0.deviceLimit = 3 }) { world in
            var id: String?
            for _ in 0..<6 {
                let device = UUID()
                let answer = try await world.client.sync(
                    SyncRequest(appTransaction: try Calculator.minter(device: device).text(.appTransaction)),
                    from: device)
                #expect(answer.entitlements["everything"]?.outcome == .granted && answer.entitlementToken != nil)
                id = answer.id
            }
            let customer = try #require(try await world.service.store.customer(named: id ?? ""))
            let events = try #require(try await world.service.store.ledger(of: customer.id)).events
            #expect(events.map(\.kind) == [.manyDevices])
            #expect(try await world.service.store.devices(of: customer.id).count == 6)
        }
    }
}
