import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

@testable import TenureRehearsal

/// Which lines belong to one customer.
struct GroupingTests {
    private static let instant = Date(written: "2015-08-25") ?? .distantPast

    @Test func `a temporary file that can't be read back is an error, so no customer is left out silently`() throws {
        // Opening a folder succeeds, and reading it fails.
        let folder = try ScratchFolder()
        for path in [folder.path, folder.path + "/missing"] {
            #expect(throws: RehearsalError.unreadableTemporaryFile(path)) {
                try BucketContents(file: path, tail: [], isTaken: false).forEach { _ in }
            }
        }
    }

    private func appTransaction(_ id: String?, also fields: [String: JSONValue] = [:]) throws -> String {
        let minter = JWSMinter(authority: try Corpora.authority.get(), signedAt: Self.instant)
        let all = fields.merging(["appTransactionId": id.map { .string($0) } ?? .null]) { $1 }
        return String(decoding: try minter.mint(.appTransaction, setting: all), as: UTF8.self)
    }

    private func receipt(download id: UInt64, signed: Date = Self.instant) throws -> String {
        let minter = ReceiptMinter(authority: try Corpora.authority.get(), signedAt: signed)
        let bytes = try minter.mint { draft in
            try draft.set("download_id", to: String(id))
            draft.purchases = []
        }
        return Data(bytes).base64EncodedString()
    }

    private func transaction(_ id: String, of account: String?, product: String? = nil) throws -> String {
        let minter = JWSMinter(authority: try Corpora.authority.get(), signedAt: Self.instant)
        return String(
            decoding: try minter.mint(
                .transaction,
                setting: [
                    "transactionId": .string(id), "originalTransactionId": .string(id),
                    "appTransactionId": account.map { .string($0) } ?? .null,
                ].merging(product.map { ["productId": .string($0)] } ?? [:]) { $1 }), as: UTF8.self)
    }

    private func customers(_ lines: [String]) async throws -> Int {
        var random = SeededRandom(seed: UInt64(lines.count))
        let count = try await Corpora.rehearse(lines.map { Array($0.utf8) }).outcome.tally.customers
        for _ in 0..<3 {
            let shuffled = lines.shuffled(using: &random).map { Array($0.utf8) }
            #expect(try await Corpora.rehearse(shuffled).outcome.tally.customers == count)
        }
        return count
    }

    @Test func `one Apple Account is one customer of a rehearsal, even if its lines have several IDs`() async throws {
        let (first, second) = try (appTransaction("1"), appTransaction("1"))
        #expect(try await customers([first, "{\"id\":\"a\",\"appTransaction\":\"\(second)\"}"]) == 1)
    }

    @Test func `a customer with several IDs in the input is reported with the smallest of these IDs`() async throws {
        let lines = try ["b", "a", "c"].map { "{\"id\":\"\($0)\",\"appTransaction\":\"\(try appTransaction("1"))\"}" }
        for order in [lines, lines.reversed()] {
            let tally = try await Corpora.rehearse(order.map { Array($0.utf8) }).outcome.tally
            let examples = tally.byEntitlement.flatMap { $0.examples.values.flatMap(\.all) }
            #expect(tally.customers == 1 && Set(examples.map(\.customer.exportedID)) == ["a"])
        }
    }

    @Test func `a rehearsal counts two Apple Accounts as one customer if their lines have the same ID`() async throws {
        let accounts = try ["1", "2"].map { try appTransaction($0) }
        #expect(try await customers(accounts) == 2)
        #expect(try await customers(accounts.map { "{\"id\":\"a\",\"appTransaction\":\"\($0)\"}" }) == 1)
        let ids = zip(["a", "b"], accounts).map { "{\"id\":\"\($0)\",\"appTransaction\":\"\($1)\"}" }
        #expect(try await customers(ids) == 2)
    }

    @Test func `evidence lines with the same ID are one customer, even lines with only a receipt or a purchase`()
        async throws
    {
        let lines = [
            "{\"id\":\"a\",\"receipt\":\"\(try receipt(download: 5))\"}",
            "{\"id\":\"a\",\"receipt\":\"\(try receipt(download: 6))\"}",
            "{\"id\":\"a\",\"appTransaction\":\"\(try appTransaction("1"))\"}",
            "{\"receipt\":\"\(try receipt(download: 6))\",\"appTransaction\":\"\(try appTransaction("2"))\"}",
            try transaction("9", of: "2"), try transaction("8", of: nil),
            "{\"id\":\"a\",\"transactions\":[\"\(try transaction("8", of: nil))\"]}",
        ]
        #expect(try await customers(lines) == 1)
    }

    @Test func `artifacts of another environment than the line's first artifact are rejected`() async throws {
        let sandbox = try appTransaction("1", also: ["receiptType": .string("Sandbox")])
        let line = "{\"appTransaction\":\"\(sandbox)\",\"transactions\":[\"\(try transaction("9", of: "1"))\"]}"
        let (outcome, badLines) = try await Corpora.rehearse([Array(line.utf8)], from: [.production, .sandbox])
        #expect(outcome.tally.customers == 1)
        #expect(badLines.map(\.fault.code) == [.rejected(.wrongEnvironment)])
        #expect(badLines.map(\.fault.part) == ["transactions[0]"])
    }

    @Test func `an id in the evidence file that has ten Apple Accounts, the maximum, joins them into one customer`()
        async throws
    {
        let lines = try (1...10).map { "{\"id\":\"x\",\"appTransaction\":\"\(try appTransaction("\($0)"))\"}" }
        #expect(try await customers(lines) == 1)
        #expect(try await Corpora.rehearse(lines.map { Array($0.utf8) }).outcome.anonymousIDs.isEmpty)
    }

    @Test func `renewal info in any evidence line of a customer applies to this customer`() async throws {
        let minter = JWSMinter(authority: try Corpora.authority.get(), signedAt: Self.instant)
        func line(_ name: String, _ kind: JWSKind, _ fields: [String: JSONValue]) throws -> String {
            let all = fields.merging(["originalTransactionId": .string("9")]) { $1 }
            let text = String(decoding: try minter.mint(kind, setting: all), as: UTF8.self)
            return "{\"id\":\"a\",\"\(name)\":[\"\(text)\"]}"
        }
        func date(_ text: String) -> JSONValue { .instant(Date(written: text) ?? .distantPast) }
        let yearly = JSONValue.string("com.example.calculator.yearly")
        let newcomer = [
            "originalApplicationVersion": JSONValue.string("300"), "originalPurchaseDate": date("2015-07-01"),
        ]
        let lines = [
            try line(
                "transactions", .transaction,
                [
                    "transactionId": .string("9"), "productId": yearly, "type": .string("Auto-Renewable Subscription"),
                    "purchaseDate": date("2014-08-20"), "expiresDate": date("2015-08-20"),
                ]),
            try line(
                "renewalInfos", .renewalInfo,
                [
                    "productId": yearly, "autoRenewProductId": yearly,
                    "gracePeriodExpiresDate": date("2015-09-15"),
                ]),
            "{\"id\":\"a\",\"appTransaction\":\"\(try appTransaction("1", also: newcomer))\"}",
        ]
        func granted(_ lines: [String]) async throws -> Int? {
            let tally = try await Corpora.rehearse(lines.map { Array($0.utf8) }).outcome.tally
            return tally.entitlements.firstIndex(of: "cloud").map { tally.byEntitlement[$0].counts.granted }
        }
        #expect(try await granted([lines[0], lines[2]]) == 0)
        #expect(try await granted(lines) == 1)
    }

    @Test func `a rehearsal counts partly rejected lines in all batches`() async throws {
        let line = "{\"appTransaction\":\"\(try appTransaction("1"))\",\"transactions\":[\"none\"]}"
        let outcome = try await Corpora.rehearse(Array(repeating: Array(line.utf8), count: 5000)).outcome
        #expect(outcome.counts.partlyRejectedLines == 5000 && outcome.counts.linesWithRejections == 5000)
    }

    @Test func `an ID in the evidence with more than ten Apple Accounts doesn't make them one customer`() async throws {
        var lines = try (1...11).map { "{\"id\":\"x\",\"appTransaction\":\"\(try appTransaction("\($0)"))\"}" }
        // A purchase in two lines, and a purchase in a line with the first account.
        lines.append("{\"id\":\"x\",\"transactions\":[\"\(try transaction("8", of: nil))\"]}")
        lines.append(try transaction("8", of: nil))
        lines.append(
            "{\"id\":\"x\",\"appTransaction\":\"\(try appTransaction("1"))\",\"transactions\":[\"\(try transaction("7", of: nil))\"]}"
        )
        lines.append("{\"id\":\"x\",\"transactions\":[\"\(try transaction("7", of: nil))\"]}")
        #expect(try await customers(lines) == 12)
        let outcome = try await Corpora.rehearse(lines.map { Array($0.utf8) }).outcome
        #expect(outcome.anonymousIDs == [.init(id: "x", accounts: 11)])
    }

    @Test func `evidence lines are one customer if a chain of shared IDs connects them`() async throws {
        // The purchase leads to the exported id, the id to the receipt, and the receipt to the account.
        let lines = [
            try transaction("9", of: nil),
            "{\"id\":\"a\",\"transactions\":[\"\(try transaction("9", of: nil))\"]}",
            "{\"id\":\"a\",\"receipt\":\"\(try receipt(download: 5))\"}",
            "{\"receipt\":\"\(try receipt(download: 5))\",\"appTransaction\":\"\(try appTransaction("1"))\"}",
        ]
        #expect(try await customers(lines) == 1)
    }

    @Test func `a purchase in the evidence lines of two Apple Accounts doesn't make them one customer`() async throws {
        let lines = [
            "{\"appTransaction\":\"\(try appTransaction("1"))\",\"transactions\":[\"\(try transaction("9", of: nil))\"]}",
            "{\"appTransaction\":\"\(try appTransaction("2"))\",\"transactions\":[\"\(try transaction("9", of: nil))\"]}",
            try transaction("9", of: nil),
        ]
        #expect(try await customers(lines) == 3)
    }

    @Test func `an artifact without any ID is one customer of a rehearsal, however often it occurs`() async throws {
        let one = try appTransaction(nil)
        let other = try appTransaction(nil, also: ["originalApplicationVersion": .string("38")])
        #expect(try await customers([one, one, other, "\"\(one)\""]) == 2)
    }

    @Test func `a customer's purchases are complete if one of their evidence lines has purchasesAreComplete: true`()
        async throws
    {
        // This customer got the app when it was free, so only a purchase could grant anything.
        let instant = try #require(Date(written: "2015-07-01"))
        let app = try appTransaction(
            "1", also: ["originalApplicationVersion": .string("300"), "originalPurchaseDate": .instant(instant)])
        let other = try transaction("9", of: "1", product: "com.example.calculator.other")
        for (first, second) in [(true, true), (true, false), (false, true), (false, false)] {
            let lines = [
                "{\"appTransaction\":\"\(app)\",\"purchasesAreComplete\":\(first)}",
                "{\"transactions\":[\"\(other)\"],\"purchasesAreComplete\":\(second)}",
            ]
            let tally = try await Corpora.rehearse(lines.map { Array($0.utf8) }).outcome.tally
            let index = try #require(tally.entitlements.firstIndex(of: "everything"))
            let counts = tally.byEntitlement[index].counts
            #expect((counts.denied == 1) == (first || second), "\(first), \(second)")
            #expect((counts.undetermined == 1) == !(first || second), "\(first), \(second)")
        }
    }

    @Test func `a customer with a hundred evidence lines is reported with the ID of one line`() async throws {
        // The policy takes something away from this customer, so the report has them as an example.
        let instant = try #require(Date(written: "2014-12-25"))
        let app = try appTransaction(
            "1", also: ["originalApplicationVersion": .string("97"), "originalPurchaseDate": .instant(instant)])
        let others = try (0..<100).map { try transaction("\($0)", of: "1", product: "com.example.calculator.other") }
        let lines = ["{\"id\":\"ada\",\"appTransaction\":\"\(app)\"}"] + others
        let outcome = try await Corpora.rehearse(lines.map { Array($0.utf8) }).outcome
        #expect(outcome.tally.customers == 1 && outcome.tally.losing == 1)
        let report = RehearsalReport(
            policyName: "new.yaml", oldPolicyName: "old.yaml", comparison: try Corpora.comparison(),
            input: .database(name: "database", skipped: 0), tally: outcome.tally, showsIDs: true)
        #expect(String(decoding: report.json(), as: UTF8.self).contains("\"ada\""))
    }

    @Test func `hundreds of evidence lines of one Apple Account are one customer with all purchases`() async throws {
        // This customer got the app when it was free, so only the one purchase grants anything.
        let instant = try #require(Date(written: "2015-07-01"))
        let app = try appTransaction(
            "1", also: ["originalApplicationVersion": .string("300"), "originalPurchaseDate": .instant(instant)])
        let others = try (0..<300).map { try transaction("\($0)", of: "1", product: "com.example.calculator.other") }
        let bought = try transaction("300", of: "1", product: "com.example.calculator.everything")
        #expect(try await customers(others + [app, bought]) == 1)
        let cases: [(lines: [String], granted: Int)] = [
            (others + [app], 0), (others + [app, bought], 1), ([bought, app] + others, 1),
        ]
        for (lines, granted) in cases {
            let tally = try await Corpora.rehearse(lines.map { Array($0.utf8) }).outcome.tally
            let index = try #require(tally.entitlements.firstIndex(of: "everything"))
            #expect(tally.byEntitlement[index].counts.granted == granted)
        }
    }

    @Test func `a line with two Apple Accounts is rejected whole, and a notification in a line is rejected`()
        async throws
    {
        let accounts = try ["1", "2"].map { try appTransaction($0) }
        let minter = JWSMinter(authority: try Corpora.authority.get(), signedAt: Self.instant)
        let notification = String(decoding: try minter.mint(.notification), as: UTF8.self)
        let lines = [
            "{\"appTransaction\":\"\(accounts[0])\",\"transactions\":[\"\(try transaction("9", of: "2"))\"]}",
            "{\"appTransaction\":\"\(accounts[0])\",\"transactions\":[\"none\",\"\(try transaction("9", of: "2"))\"]}",
            notification,
            "{\"appTransaction\":\"\(accounts[1])\",\"transactions\":[\"none\"]}",
        ]
        let (outcome, badLines) = try await Corpora.rehearse(lines.map { Array($0.utf8) })
        // The reason of the whole line counts, and not that of an artifact before it.
        #expect(outcome.counts.rejectedLines == ["severalAccounts": 2, "wrongKind": 1])
        #expect(outcome.counts.rejectedArtifacts == ["malformed": 1])
        #expect(outcome.counts.usableLines == 1 && outcome.counts.linesWithRejections == 4)
        #expect(outcome.tally.customers == 1)
        #expect(badLines.map(\.line) == [1, 2, 2, 3, 4])
        #expect(badLines.map(\.isWholeLine) == [true, true, true, true, false])
        #expect(badLines.map(\.fault.part) == [nil, "transactions[0]", nil, nil, "transactions[0]"])
        #expect(
            badLines[0].fault.detail
                == "the line has artifacts of several Apple Accounts; write a line for each account, with the same `id`"
        )
    }

    @Test func `the same appTransactionId in two environments means two customers`() async throws {
        let lines = [
            try appTransaction("1"), try appTransaction("1", also: ["receiptType": .string("Sandbox")]),
        ].map { Array($0.utf8) }
        let both = try await Corpora.rehearse(lines, from: [.production, .sandbox]).outcome
        #expect(both.tally.customers == 2 && both.counts.usableLines == 2)
        let (production, badLines) = try await Corpora.rehearse(lines)
        #expect(production.tally.customers == 1)
        #expect(badLines.map(\.line) == [2] && badLines.map(\.isWholeLine) == [true])
    }

    @Test func `several placeholder ids are sorted, each with its number of Apple Accounts`() async throws {
        let accounts = try (1...12).map { try appTransaction("\($0)") }
        let lines = [("y", 12), ("x", 11), ("z", 2)].flatMap { id, count in
            accounts.prefix(count).map { Array("{\"id\":\"\(id)\",\"appTransaction\":\"\($0)\"}".utf8) }
        }
        let outcome = try await Corpora.rehearse(lines).outcome
        #expect(outcome.anonymousIDs == [.init(id: "x", accounts: 11), .init(id: "y", accounts: 12)])
        // Only the id with two accounts joins them.
        #expect(outcome.tally.customers == 11)
    }

    @Test(arguments: [true, false])
    func `a line without purchasesAreComplete has all purchases only if the user says so`(isComplete: Bool)
        async throws
    {
        // This customer got the app when it was free, so only a purchase could grant anything.
        let instant = try #require(Date(written: "2015-07-01"))
        let app = try appTransaction(
            "1", also: ["originalApplicationVersion": .string("300"), "originalPurchaseDate": .instant(instant)])
        let folder = try ScratchFolder()
        let rehearsal = EvidenceRehearsal(
            try Corpora.comparison(), app: AppIdentity(bundleID: "com.example.calculator", appAppleID: 828_838_134),
            trust: try TrustConfiguration(anchors: [.production: Corpora.authority.get().anchors]), now: Date(),
            purchasesAreComplete: isComplete)
        for (name, line) in [("jws", app), ("json", "{\"appTransaction\":\"\(app)\"}")] {
            let file = folder.path + "/" + name
            try Data(line.utf8).write(to: URL(fileURLWithPath: file))
            let tally = try await rehearsal.run(over: EvidenceSource(path: file)).tally
            let index = try #require(tally.entitlements.firstIndex(of: "everything"))
            let counts = tally.byEntitlement[index].counts
            #expect(counts.denied == (isComplete ? 1 : 0) && counts.undetermined == (isComplete ? 0 : 1), "\(name)")
        }
    }
}
