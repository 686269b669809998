import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `promises` {
    @Test func `promises keep rights under a later policy that honors nothing`() async throws {
        try await withFolder { folder in
            let request = SyncRequest(
                appTransaction: try Calculator.minter().text(.appTransaction), transactions: [])
            let before = try await withService(in: folder) { try await $0.sync(request) }
            #expect(before.entitlements["everything"]?.outcome == .granted)
            let harsh = try Calculator.policy(honors: [Honor(era: "freemium", boughtBefore: .distantPast)])
            try await withService(in: folder, policy: harsh) { client in
                let after = try await client.sync(request)
                #expect(after.id == before.id)
                #expect(after.entitlements["everything"]?.outcome == .granted)
                #expect(after.entitlements["everything"]?.reasons.first?.code == "promise")
                // A new customer has no promise.
                let newcomer = try await client.sync(
                    SyncRequest(
                        appTransaction: try Calculator.minter().text(
                            .appTransaction, ["appTransactionId": .string("704000000000000005")]),
                        transactions: []))
                #expect(newcomer.entitlements["everything"]?.outcome == .denied)
                // A request with the access token gets the same decisions.
                let token = try #require(after.accessToken?.value)
                #expect(try await client.customer(token).entitlements == after.entitlements)
            }
        }
    }

    @Test func `promises after a rollback refer to the version of the policy, not to the publication`() async throws {
        try await withAdminClient { admin, _ in
            func versions(_ customer: CustomerResponse) async throws -> [Int] {
                let promises = try await admin.get(try customer.path()).json["promises"] as? [[String: Any]] ?? []
                return promises.compactMap { $0["policy"] as? Int }.sorted()
            }
            let published = try await admin.publish(try Calculator.policy(inDoubt: .undetermined))
            #expect(published.status == .ok && published.number("version") == 2, "\(published.text)")
            let early = try await admin.owner("704000000000000011")
            #expect(try await versions(early) == [2])
            // Version 1 is published for the second time, by the third publication.
            let back = try await admin.rollBack()
            #expect(back.number("version") == 1 && back.number("publication") == 3, "\(back.text)")
            let late = try await admin.owner("704000000000000012")
            #expect(try await versions(late) == [1])
            _ = try await admin.owner("704000000000000011")
            #expect(try await versions(early) == [1, 2])
            let harsh = try Policy.harsh(acknowledging: try await admin.lostRights(in: try .harsh()))
            let kept = try await admin.publish(harsh, ["keepPromises": true])
            #expect(kept.status == .ok && kept.number("publication") == 4, "\(kept.text)")
            for owner in [early, late] { #expect(try await admin.outcome(of: owner) == ["granted", "promise"]) }
        }
    }

    @Test func `promises end with a refund of the app`() async throws {
        try await withFolder { folder in
            let appTransaction = try Calculator.minter().text(.appTransaction)
            _ = try await withService(in: folder) {
                try await $0.sync(SyncRequest(appTransaction: appTransaction, transactions: []))
            }
            let harsh = try Calculator.policy(honors: nil)
            try await withService(in: folder, policy: harsh) { client in
                let refunded = try Calculator.minter(signed: Calculator.now).text(
                    .appTransaction, ["revocationDate": .instant(Calculator.now.addingTimeInterval(-3600))])
                let answer = try await client.sync(SyncRequest(appTransaction: refunded, transactions: []))
                #expect(answer.entitlements["everything"]?.outcome == .denied)
                #expect(answer.entitlements["everything"]?.reasons.contains { $0.code == "promiseEnded" } == true)
            }
        }
    }

    @Test func `promises aren't made in test environments`() async throws {
        try await withFolder { folder in
            let owner = try Calculator.policy(testEnvironments: .owner)
            let request = SyncRequest(
                appTransaction: try Calculator.minter(.sandbox).text(.appTransaction), transactions: [])
            let before = try await withService(in: folder, policy: owner) { try await $0.sync(request) }
            #expect(before.entitlements["everything"]?.outcome == .granted)
            let after = try await withService(in: folder) { try await $0.sync(request) }
            #expect(after.entitlements["everything"]?.outcome == .denied)
        }
    }

    @Test func `an unchanged policy stays one version, however often the service starts`() async throws {
        try await withFolder { folder in
            for _ in 0..<3 { try await withService(in: folder) { _ in } }
            let configuration = try Calculator.configuration(folder)
            let service = try await TenureService(configuration)
            #expect(service.policies.currentVersion == 1)
            let other = try Calculator.policy(inDoubt: .undetermined)
            try await service.publish(other)
            #expect(service.policies.currentVersion == 2)
            let active = try await ActivePolicy(configuration.policy, in: service.store, at: Calculator.now)
            #expect(
                active.currentVersion == 2,
                "the policy that was published last is active, not the policy in the configuration")
            try await service.store.close()
        }
    }
}
