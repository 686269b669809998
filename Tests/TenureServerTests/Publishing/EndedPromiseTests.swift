import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import TenureAPI
import TenureCore
import Testing

@testable import TenureServer

@Suite struct `a publication that takes rights away` {
    @Test func `publishing a policy that removes one right keeps the promises of all other rights`() async throws {
        try await withAdminClient { admin, _ in
            _ = try await admin.owner()
            func policy(everything honors: [Honor]?) throws -> Policy {
                let usual = try Calculator.policy(honors: honors)
                return try Policy(
                    app: usual.app, eras: usual.eras, buildNumbers: .increasing,
                    entitlements: usual.entitlements + [Entitlement(name: "sounds", honors: [Honor(era: "paid")])])
            }
            let both = try policy(everything: [Honor(era: "paid")])
            let gain = try await admin.rehearse(both)
            let given = try await admin.publish(both, ["giveTo": 1, "rehearsal": gain.rehearsal])
            #expect(given.status == .ok, "\(given.text)")
            let owner = try await admin.owner()
            func promised() async throws -> [String] {
                let promises = try await admin.get(try owner.path()).json["promises"] as? [[String: Any]] ?? []
                return promises.compactMap { $0["entitlement"] as? String }.sorted()
            }
            // Each policy version makes separate promises.
            #expect(try await promised() == ["everything", "everything", "sounds"])
            let one = try policy(everything: nil)
            let loss = try await admin.rehearse(one)
            let taken = try await admin.publish(one, ["takeFrom": 1, "rehearsal": loss.rehearsal])
            #expect(taken.status == .ok && taken.number("losing") == 1, "\(taken.text)")
            #expect(taken.number("ended") == 2)
            #expect(try await promised() == ["sounds"])
        }
    }
}
