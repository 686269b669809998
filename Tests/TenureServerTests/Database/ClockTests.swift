import Foundation
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `the service with a clock set back a day` {
    // Some rows have later times than the rows after them, because the clock was set back. The facts stay the same.
    @Test func `customers keep their rights if the service's clock is set back by a day`() async throws {
        try await withFolder { folder in
            let minter = Calculator.minter(signed: Calculator.now.addingTimeInterval(-2 * 86_400))
            let appTransaction = try minter.text(.appTransaction)
            let first = try await withService(in: folder) { client in
                try await client.sync(SyncRequest(appTransaction: appTransaction, transactions: []))
            }
            let yesterday = Calculator.now.addingTimeInterval(-86_400)
            let token = try #require(first.accessToken?.value)
            let second = try await withService(in: folder, { $0.now = { yesterday } }) { client in
                let read = try await client.customer(token)
                #expect(read.id == first.id)
                #expect(read.entitlements["everything"]?.outcome == .granted)
                // Artifacts that Apple signed in the meantime are rejected, because their signing date is in the
                // future.
                let problem = try await client.refused(
                    SyncRequest(
                        appTransaction: try Calculator.minter().text(.appTransaction),
                        deviceVerificationID: Calculator.device.uuidString))
                let detail = problem.problems.first?.detail
                #expect(detail?.hasSuffix("is in the future; check this machine's clock") == true)
                return try await client.sync(
                    SyncRequest(
                        appTransaction: appTransaction,
                        transactions: [try minter.text(.transaction, ["transactionId": .string("5")])]))
            }
            #expect(second.id == first.id)
            #expect(second.entitlements["everything"]?.outcome == .granted)
            try await DatabaseTestBed.withStore(in: folder) { store in
                let before = try await DatabaseTestBed.dump(store)
                #expect(try await DatabaseTestBed.findings(store) == [])
                let outcome = try await DatabaseRebuild.run(
                    on: store, trust: try DatabaseTestBed.trust(), isTrial: false
                ) { _ in }
                #expect(outcome.changed == 0)
                #expect(try await DatabaseTestBed.dump(store) == before)
            }
        }
    }
}
