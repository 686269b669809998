import Foundation
import HTTPTypes
import StoreContract
import TenureAPI
import TenureCore
import TenureStore
import Testing

@testable import TenureServer

/// Customers who come while a policy is being published.
@Suite struct `customers who come during a publication` {
    // The first transaction that writes begins the rehearsal. The second transaction reads which customers came since.
    // The third transaction publishes.
    @Test(arguments: [2, 3])
    func `a publication is refused if it would take a right away from a customer who arrives meanwhile`(
        _ transaction: Int
    ) async throws {
        try await withCountedService { admin, counts, _ in
            let harsh = try Policy.harsh(acknowledging: try await admin.lostRights(in: try .harsh()))
            let late = Locked<CustomerResponse?>(nil)
            counts.reset {
                guard $0 == transaction else { return }
                let owner = try await admin.owner()
                late.withLock { $0 = owner }
            }
            let refused = try await admin.publish(harsh)
            #expect(refused.reason == "takesRights", "\(refused.text)")
            let owner = try #require(late.withLock { $0 })
            #expect(try await admin.outcome(of: owner) == ["granted", "eraHonored"])
        }
    }

    @Test(arguments: [2, 3])
    func `a publication is refused if it would give a right to a customer who arrives meanwhile`(
        _ transaction: Int
    ) async throws {
        try await withCountedService { admin, counts, _ in
            let late = Locked<CustomerResponse?>(nil)
            counts.reset {
                guard $0 == transaction else { return }
                let newcomer = try await admin.newcomer()
                late.withLock { $0 = newcomer }
            }
            let refused = try await admin.publish(try .generous())
            #expect(refused.reason == "givesRights", "\(refused.text)")
            let newcomer = try #require(late.withLock { $0 })
            #expect(try await admin.outcome(of: newcomer)[0] == "denied")
        }
    }
}
