import Foundation
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

@testable import TenureServer

@Suite struct `the reason why a sync leaves an artifact out` {
    private func shown(_ problems: [ArtifactProblem]) -> [[String]] {
        problems.map { [$0.artifact, $0.code, $0.detail] }
    }

    @Test func `each artifact that isn't linked to the others is listed with what the client can send`() async throws {
        try await withService { client in
            let minter = Calculator.minter()
            let account = "704000000000000002"
            let answer = try await client.sync(
                SyncRequest(
                    appTransaction: try minter.newcomer(account),
                    transactions: [
                        try minter.transaction("1", of: "704000000000000009"), try minter.looseTransaction("2"),
                        try Calculator.minter(.sandbox).transaction("3", of: account),
                    ],
                    renewalInfos: [
                        try minter.text(.renewalInfo, ["appTransactionId": .string(account)]),
                        try minter.text(.renewalInfo, ["appTransactionId": .string("704000000000000009")]),
                    ],
                    receipt: try Calculator.receipts().text()))
            let otherAccount =
                "the artifact belongs to another Apple account's acquisition of the app; send the artifact separately"
            let expected: [[String]] = [
                [
                    "receipt", "unrelated",
                    """
                    no transaction links the receipt to the other artifacts; send a transaction that the receipt \
                    contains, or `deviceIdentifier` if the receipt was made on this device
                    """,
                ],
                ["transactions[0]", "unrelated", otherAccount],
                [
                    "transactions[1]", "unrelated",
                    """
                    no signed field links the transaction to the other artifacts; send `deviceVerificationID` of the \
                    device for which all of them were signed
                    """,
                ],
                [
                    "transactions[2]", "wrongEnvironment",
                    "the artifact is from Sandbox, but other artifacts are from Production; send the artifact separately",
                ],
                [
                    "renewalInfos[0]", "noTransaction",
                    "no verified transaction has this renewal info's subscription; send one of its transactions too",
                ],
                ["renewalInfos[1]", "unrelated", otherAccount],
            ]
            #expect(shown(answer.problems) == expected)
            #expect(!answer.purchasesAreComplete && answer.purchases.isEmpty)
        }
    }

    @Test func `a sync without a valid artifact says whether it had none or only invalid artifacts`() async throws {
        try await withService { client in
            let none = try await client.refused(SyncRequest(transactions: []))
            #expect(none.code == .nothingVerified && none.problems == [])
            #expect(none.detail == "the request has no artifact; send `appTransaction`, `receipt` or `transactions`")
            let invalid = try await client.refused(SyncRequest(transactions: ["x"]))
            #expect(invalid.code == .nothingVerified && invalid.problems.map(\.artifact) == ["transactions[0]"])
            #expect(
                invalid.detail
                    == "no artifact that identifies a customer is valid; `problems` in this response says why")
        }
    }

    @Test func `the rejected artifacts of a sync are listed by their positions`() async throws {
        try await withService { client in
            let refused = try await client.refused(
                SyncRequest(transactions: Array(repeating: "x", count: 12), renewalInfos: ["x"], receipt: "x"))
            let transactions = (0..<12).map { "transactions[\($0)]" }
            #expect(refused.problems.map(\.artifact) == ["receipt"] + transactions + ["renewalInfos[0]"])
        }
    }

    @Test func `without an app transaction, a sync has the environment of its receipt or its first transaction`()
        async throws
    {
        try await withService { client in
            let sandbox = try Calculator.minter(.sandbox).text(.transaction)
            let first = try await client.sync(
                SyncRequest(transactions: [sandbox, try Calculator.minter().text(.transaction)]))
            #expect(first.environment == .sandbox)
            let detail =
                "the artifact is from Production, but other artifacts are from Sandbox; send the artifact separately"
            #expect(shown(first.problems) == [["transactions[1]", "wrongEnvironment", detail]])
            let receipt = try await client.sync(
                SyncRequest(transactions: [sandbox], receipt: try Calculator.receipts().text()))
            #expect(receipt.environment == .production)
            #expect(receipt.problems.map(\.artifact) == ["transactions[0]"])
        }
    }

    @Test func `a rejected receipt or renewal info leaves the list of a sync's purchases complete`() async throws {
        try await withService { client in
            let answer = try await client.sync(
                SyncRequest(
                    appTransaction: try Calculator.minter().text(.appTransaction), transactions: [],
                    renewalInfos: ["x"], receipt: "AAAA"))
            #expect(answer.problems.map(\.artifact) == ["receipt", "renewalInfos[0]"])
            #expect(answer.purchasesAreComplete)
        }
    }
}
