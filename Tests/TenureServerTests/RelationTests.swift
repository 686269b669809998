import Foundation
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

@testable import TenureServer

@Suite struct `artifacts in one sync` {
    @Test func `a sync reports each rejected artifact, and uses the valid artifacts`() async throws {
        try await withService { client in
            let minter = Calculator.minter()
            let bad = String(decoding: try minter.mint(.transaction, with: .flippedSignatureBit), as: UTF8.self)
            let answer = try await client.sync(
                SyncRequest(
                    appTransaction: try minter.text(.appTransaction),
                    transactions: [try minter.text(.transaction), bad, "garbage"],
                    renewalInfos: [try minter.text(.renewalInfo)],
                    receipt: "AAAA"))
            #expect(answer.entitlements["everything"]?.outcome == .granted)
            #expect(answer.purchases.count == 1)
            #expect(
                answer.problems.map(\.artifact) == ["receipt", "transactions[1]", "transactions[2]", "renewalInfos[0]"])
            #expect(answer.problems.map(\.code) == ["malformed", "badSignature", "malformed", "noTransaction"])
            #expect(!answer.purchasesAreComplete, "a transaction in the list couldn't be read")
        }
    }

    @Test func `a sync without any verified artifact gets a problem that lists each artifact`() async throws {
        try await withService { client in
            let other = try Calculator.minter(bundleID: "com.example.other").text(.appTransaction)
            let problem = try await client.refused(SyncRequest(appTransaction: other, transactions: ["x"]))
            #expect(problem.code == .nothingVerified)
            #expect(problem.problems.map(\.artifact) == ["appTransaction", "transactions[0]"])
            #expect(problem.problems.map(\.code) == ["wrongApp", "malformed"])
            let empty = try await client.refused(SyncRequest(transactions: []))
            #expect(empty.code == .nothingVerified)
        }
    }

    @Test func `a sync rejects transactions that don't belong to its app transaction`() async throws {
        try await withService { client in
            let minter = Calculator.minter()
            let answer = try await client.sync(
                SyncRequest(
                    appTransaction: try minter.newcomer("704000000000000002"),
                    transactions: [
                        try minter.transaction("1", of: "704000000000000009"), try minter.looseTransaction("2"),
                    ],
                    deviceVerificationID: Calculator.device.uuidString))
            #expect(answer.problems.map(\.code) == ["unrelated", "unrelated"])
            #expect(answer.purchases.isEmpty)
            #expect(answer.entitlements["everything"]?.outcome != .granted)
        }
    }

    @Test func `a transaction without an app transaction ID is accepted only from the device in its signature`()
        async throws
    {
        let minter = Calculator.minter()
        let request = SyncRequest(
            appTransaction: try minter.newcomer(),
            transactions: [try minter.text(.transaction, ["appTransactionId": .null])],
            deviceVerificationID: Calculator.device.uuidString)
        try await withService { client in
            let answer = try await client.sync(request)
            #expect(answer.purchases.count == 1)
        }
        var unbound = request
        unbound.deviceVerificationID = UUID().uuidString
        let claimed = unbound
        try await withService { client in
            let answer = try await client.sync(claimed)
            #expect(answer.purchases.isEmpty)
            #expect(answer.problems.map(\.code) == ["unrelated"])
        }
    }

    @Test func `a renewal without an app transaction ID is accepted for the customer with the stored subscription`()
        async throws
    {
        try await withService { client in
            let minter = Calculator.minter()
            let id = "704000000000000002"
            _ = try await client.sync(
                SyncRequest(
                    appTransaction: try minter.newcomer(id), transactions: [try minter.transaction("20", of: id)]))
            let answer = try await client.sync(
                SyncRequest(
                    appTransaction: try minter.newcomer(id),
                    transactions: [try minter.looseTransaction("21", ["originalTransactionId": .string("20")])],
                    renewalInfos: [
                        try minter.text(
                            .renewalInfo, ["originalTransactionId": .string("20"), "appTransactionId": .null])
                    ]))
            #expect(answer.problems.isEmpty)
            #expect(answer.purchases.count == 2)
        }
    }

    @Test func `a receipt is accepted with an app transaction only if a purchase or the device connects them`()
        async throws
    {
        let minter = Calculator.minter()
        // Many customers bought the app in the same second as this receipt's owner (2014-09-06 10:00).
        try await withService { client in
            let request = SyncRequest(
                appTransaction: try minter.text(.appTransaction), receipt: try Calculator.receipts().text())
            let stranger = try await client.sync(request)
            #expect(stranger.problems.map(\.code) == ["unrelated"])
            #expect(stranger.problems.first?.detail.contains("`deviceIdentifier`") == true)
            #expect(stranger.purchases.isEmpty)
            // The receipt's real owner isn't taken for the other customer afterward.
            let owner = try await client.sync(
                SyncRequest(
                    appTransaction: try minter.text(.appTransaction, ["appTransactionId": .string("7")]),
                    transactions: [try minter.transaction("410000000000001", of: "7")], receipt: request.receipt))
            #expect(owner.id != stranger.id)
            #expect(owner.problems.isEmpty)
            // The receipt stays connected, even without the transaction.
            let again = try await client.sync(
                SyncRequest(
                    appTransaction: try minter.text(.appTransaction, ["appTransactionId": .string("7")]),
                    receipt: request.receipt))
            #expect(again.problems.isEmpty)
            // A later receipt of the same download is connected as well, even without purchases.
            let later = try await client.sync(
                SyncRequest(
                    appTransaction: try minter.text(.appTransaction, ["appTransactionId": .string("7")]),
                    receipt: try Calculator.receipts(signed: Calculator.now).text { $0.purchases = [] }))
            #expect(later.problems.isEmpty)
        }
        // This receipt was made on the same device, for the same purchase of the app.
        try await withService { client in
            let mine = try await client.sync(
                SyncRequest(
                    appTransaction: try minter.text(.appTransaction), receipt: try Calculator.receipts().text(),
                    deviceIdentifier: Calculator.device.uuidString))
            #expect(mine.problems.isEmpty)
            #expect(mine.purchases.count == 1)
        }
        // This receipt comes from the same device, but another account.
        try await withService { client in
            let other = try await client.sync(
                SyncRequest(
                    appTransaction: try minter.newcomer(), receipt: try Calculator.receipts().text(),
                    deviceIdentifier: Calculator.device.uuidString))
            #expect(other.problems.map(\.artifact) == ["receipt"])
            #expect(other.problems.map(\.code) == ["unrelated"])
            #expect(other.purchases.isEmpty)
            #expect(other.entitlements["everything"]?.outcome != .granted)
        }
        // A transaction that both artifacts contain connects them.
        try await withService { client in
            let tied = try await client.sync(
                SyncRequest(
                    appTransaction: try minter.newcomer(),
                    transactions: [try minter.transaction("410000000000001", of: "704000000000000002")],
                    receipt: try Calculator.receipts().text()))
            #expect(tied.problems.isEmpty)
        }
    }

    @Test func `a receipt without a download ID isn't linked to an app transaction that has no ID either`()
        async throws
    {
        try await withService { client in
            let old = try Calculator.minter().text(.appTransaction, ["appTransactionId": .null])
            let first = try await client.sync(SyncRequest(appTransaction: old))
            let receipt = try Calculator.receipts().text { $0[.downloadID] = nil }
            let second = try await client.sync(SyncRequest(appTransaction: old, receipt: receipt))
            #expect(second.id == first.id)
            #expect(second.problems.map(\.code) == ["unrelated"])
            #expect(second.purchases.isEmpty)
        }
    }

    @Test func `if a sync has transactions of several accounts, only transactions of one account are accepted`()
        async throws
    {
        try await withService { client in
            let minter = Calculator.minter()
            let answer = try await client.sync(
                SyncRequest(transactions: [
                    try minter.transaction("1", of: "7"), try minter.transaction("2", of: "8"),
                    try minter.transaction("3", of: "7"), try minter.looseTransaction("4"),
                ]))
            #expect(answer.purchases.map(\.transactionID).sorted() == ["1", "3"])
            #expect(answer.problems.map(\.artifact) == ["transactions[1]", "transactions[3]"])
        }
        try await withService { client in
            let minter = Calculator.minter()
            let answer = try await client.sync(
                SyncRequest(transactions: [
                    try minter.looseTransaction("1"), try minter.looseTransaction("2"),
                    try minter.looseTransaction("3", ["originalTransactionId": .string("1")]),
                ]))
            #expect(answer.purchases.map(\.transactionID).sorted() == ["1", "3"])
            #expect(answer.problems.map(\.artifact) == ["transactions[1]"])
        }
    }

    @Test func `a sync with a production app transaction rejects sandbox transactions and receipts`() async throws {
        try await withService { client in
            let answer = try await client.sync(
                SyncRequest(
                    appTransaction: try Calculator.minter().newcomer("704000000000000001"),
                    transactions: [try Calculator.minter(.sandbox).text(.transaction)],
                    receipt: try Calculator.receipts(.sandbox).text()))
            #expect(answer.environment == .production)
            #expect(answer.purchases.isEmpty)
            #expect(answer.problems.map(\.code) == ["wrongEnvironment", "wrongEnvironment"])
            #expect(answer.entitlements["everything"]?.outcome != .granted)
        }
    }

    @Test func `renewal info of another account is rejected, even for the customer's own subscription`() async throws {
        try await withService { client in
            let minter = Calculator.minter()
            let id = "704000000000000002"
            let answer = try await client.sync(
                SyncRequest(
                    appTransaction: try minter.newcomer(id), transactions: [try minter.transaction("1", of: id)],
                    renewalInfos: [
                        try minter.text(
                            .renewalInfo,
                            ["originalTransactionId": .string("1"), "appTransactionId": .string("704000000000000009")])
                    ]))
            #expect(answer.problems.map(\.artifact) == ["renewalInfos[0]"])
            #expect(answer.problems.map(\.code) == ["unrelated"])
        }
    }

    @Test func `a sync that contains only renewal info is refused`() async throws {
        try await withService { client in
            let problem = try await client.refused(
                SyncRequest(renewalInfos: [try Calculator.minter().text(.renewalInfo)]))
            #expect(problem.code == .nothingVerified)
            #expect(problem.problems.map(\.code) == ["noTransaction"])
        }
    }

    @Test func `a sync with an app transaction from the App Store Server API is refused`() async throws {
        try await withService { client in
            let variant = try Calculator.minter().text(
                .appTransaction, ["deviceVerification": .null, "deviceVerificationNonce": .null])
            let problem = try await client.refused(SyncRequest(appTransaction: variant))
            #expect(problem.problems.map(\.code) == ["wrongKind"])
        }
    }

    @Test func `a sync with a transaction in place of an app transaction is refused`() async throws {
        try await withService { client in
            let problem = try await client.refused(
                SyncRequest(appTransaction: try Calculator.minter().text(.transaction)))
            #expect(problem.problems.map(\.code) == ["wrongKind"])
        }
    }

    @Test func `purchases and a later app transaction of the same account belong to one customer`() async throws {
        try await withService { client in
            let minter = Calculator.minter()
            let id = "704000000000000001"
            _ = try await client.sync(
                SyncRequest(transactions: [try minter.transaction("1", of: id), try minter.transaction("2", of: id)]))
            let second = try await client.sync(
                SyncRequest(
                    appTransaction: try minter.text(.appTransaction), transactions: [try minter.looseTransaction("1")]))
            #expect(second.purchases.map(\.transactionID).sorted() == ["1", "2"])
        }
    }

    @Test func `repeating a sync changes nothing`() async throws {
        try await withService { client in
            let request = SyncRequest(
                appTransaction: try Calculator.minter().text(.appTransaction),
                transactions: [try Calculator.minter().text(.transaction)],
                receipt: try Calculator.receipts().text())
            let first = try await client.sync(request)
            let second = try await client.sync(request)
            #expect(first.id == second.id)
            #expect(first.entitlements == second.entitlements)
            #expect(first.purchases == second.purchases)
        }
    }

    @Test func `64 syncs of one customer at once make one customer with all purchases`() async throws {
        try await withService { client in
            let minter = Calculator.minter()
            let appTransaction = try minter.text(.appTransaction)
            let ids = try await withThrowingTaskGroup(of: String?.self) { group in
                for number in 0..<64 {
                    let transaction = try minter.transaction(String(number), of: "704000000000000001")
                    group.addTask {
                        try await client.sync(
                            SyncRequest(appTransaction: appTransaction, transactions: [transaction])
                        ).id
                    }
                }
                return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
            }
            #expect(ids.count == 1)
            let answer = try await client.sync(SyncRequest(appTransaction: appTransaction))
            #expect(answer.purchases.count == 64)
            #expect(Set(answer.purchases.map(\.transactionID)) == Set((0..<64).map { String($0) }))
        }
    }
}
