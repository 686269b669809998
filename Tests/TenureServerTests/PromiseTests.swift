import Foundation
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
