import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import LocalAppStore
import StoreContract
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `exporting and erasing a customer` {
    @Test func `an export contains all data of a customer, with unchanged artifacts`() async throws {
        try await withAdminClient { admin, keys in
            let minter = Calculator.minter()
            let appTransaction = try minter.text(.appTransaction)
            let transaction = try minter.text(.transaction)
            let customer = try await admin.client.sync(
                SyncRequest(appTransaction: appTransaction, transactions: [transaction]))
            _ = try await admin.client.sync(SyncRequest(appTransaction: appTransaction), from: nil)
            _ = try await admin.post(try customer.path("/links"), ["userID": "ada"])
            _ = try await admin.post(try customer.path("/grants"), ["entitlement": "everything", "reason": "r"])
            let answer = try await admin.with(keys[.support]).get(try customer.path("/export?reason=asked"))
            #expect(answer.status == .ok)
            let data = try #require(answer.json["data"] as? [String: Any])
            let artifacts = data["artifacts"] as? [[String: Any]] ?? []
            #expect(artifacts.compactMap { $0["jws"] as? String } == [appTransaction, transaction])
            #expect((data["support"] as? [Any])?.count == 1)
            #expect((data["promises"] as? [Any])?.count == 1)
            #expect((data["unboundCustomers"] as? [Any])?.count == 1)
            #expect(answer.text.contains("\"ada\""))
            let line = try await admin.get("/v1/admin/audit?limit=1").entries.first
            #expect(line?["action"] as? String == "export" && line?["actor"] as? String == "support")
        }
    }

    @Test func `the next page of an export has only later unbound customers`() async throws {
        try await withAdminClient { admin, _ in
            let appTransaction = try Calculator.minter().text(.appTransaction)
            let customer = try await admin.client.sync(SyncRequest(appTransaction: appTransaction, transactions: []))
            _ = try await admin.client.sync(SyncRequest(appTransaction: appTransaction), from: nil)
            for (page, count) in [("", 1), ("?unboundAfter=1000000", 0)] {
                let data = try await admin.get(try customer.path("/export" + page)).json["data"] as? [String: Any]
                #expect((data?["unboundCustomers"] as? [Any])?.count == count)
            }
        }
    }

    @Test func `an export names a purchase that two accounts have as the customer's own, without a row ID`()
        async throws
    {
        try await withAdminClient { admin, _ in
            let minter = Calculator.minter()
            let bought = ["704000000000000002": "20", "704000000000000003": "21"].sorted { $0.key < $1.key }
            var exports: [[String]] = []
            for (account, transaction) in bought {
                let customer = try await admin.client.sync(
                    SyncRequest(
                        appTransaction: try minter.newcomer(account),
                        transactions: [
                            try minter.transaction(transaction, of: account, ["originalTransactionId": .string("20")])
                        ]))
                #expect(customer.purchases.map(\.transactionID) == [transaction])
                let data = try await admin.get(try customer.path("/export")).json["data"] as? [String: Any]
                let identities = try #require(data?["identities"] as? [[String: String]])
                exports.append(identities.compactMap { $0["kind"] }.sorted())
            }
            #expect(
                exports == [
                    ["appTransactionID", "device", "originalTransactionID"], ["appTransactionID", "transactionID"],
                ])
        }
    }

    @Test func `an erasure removes everything about a customer, who returns as a new customer`() async throws {
        try await withAdminClient { admin, _ in
            let appTransaction = try Calculator.minter().text(.appTransaction)
            let customer = try await admin.client.sync(SyncRequest(appTransaction: appTransaction, transactions: []))
            let found = try await admin.client.sync(SyncRequest(appTransaction: appTransaction), from: nil)
            _ = try await admin.post(try customer.path("/links"), ["userID": "ada@example.com"])
            _ = try await admin.post(try customer.path("/revocations"), ["entitlement": "everything", "reason": "r"])
            let answer = try await admin.delete(try customer.path("?reason=asked"))
            #expect(answer.status == .ok, "\(answer.text)")
            let removed = answer.json["removed"] as? [String: Int] ?? [:]
            #expect(removed["customers"] == 2 && removed["artifacts"] == 2 && removed["support"] == 1, "\(removed)")
            for opened in [customer, found] {
                let token = try #require(opened.accessToken?.value)
                #expect(try await admin.client.get("/v1/customer", token: token).status == .unauthorized)
            }
            #expect(try await admin.get(try customer.path()).status == .notFound)
            #expect(try await admin.get("/v1/admin/customers?id=ada@example.com").found.isEmpty)
            #expect(try await admin.delete(try customer.path()).status == .notFound)
            // The audit trail stays, and contains no user ID.
            let audit = try await admin.get("/v1/admin/audit?customer=\(try customer.publicID)")
            #expect(
                audit.entries.compactMap { $0["action"] as? String } == ["erase", "erase", "revoke", "link"],
                "\(audit.text)")
            #expect(!audit.text.contains("ada@example.com"))
            let again = try await admin.client.sync(SyncRequest(appTransaction: appTransaction, transactions: []))
            #expect(again.id != customer.id)
            #expect(again.entitlements["everything"]?.outcome == .granted, "support's revocation was erased, too")
        }
    }

    @Test func `after an erasure, no table or file contains the customer's app transaction, its ID or the user ID`()
        async throws
    {
        try await withFolder { folder in
            let id = "704000000000004711"
            let traces = [id, "ada@example.com"]
            let appTransaction = try Calculator.minter().text(.appTransaction, ["appTransactionId": .string(id)])
            let payload = appTransaction.split(separator: ".")[1]
            // A page of the database may end within the payload, so the test searches for short parts of it.
            let parts = stride(from: 0, to: payload.count - 64, by: 64).map { String(payload.dropFirst($0).prefix(64)) }
            /// Returns the texts that are in the bytes of the database's file or its write-ahead log.
            @Sendable func inFiles(_ texts: [String]) throws -> [String] {
                let files = try ["", "-wal"].map {
                    try Data(contentsOf: URL(fileURLWithPath: folder + "/tenure.sqlite" + $0))
                }
                return texts.filter { text in files.contains { $0.range(of: Data(text.utf8)) != nil } }
            }
            try await withService(in: folder) {
                $0.adminKey = AdminClient.adminKey
            } _: { (client: Client) async throws in
                let admin = AdminClient(client: client, key: AdminClient.adminKey)
                let customer = try await client.sync(SyncRequest(appTransaction: appTransaction, transactions: []))
                _ = try await admin.post(try customer.path("/links"), ["userID": "ada@example.com"])
                #expect(try inFiles(traces) == traces)
                #expect(try !inFiles(parts).isEmpty)
                #expect(try await admin.delete(try customer.path()).status == .ok)
            }
            let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            let tables = try await store.database.read { session throws(StoreError) in
                try session.rows("SELECT name FROM sqlite_master WHERE type = 'table'").map { row throws(StoreError) in
                    try row.text(0)
                }
            }
            for table in tables {
                let rows = try await store.database.read { session throws(StoreError) in
                    try session.rows("SELECT * FROM \(table)")
                }
                for trace in traces + parts { #expect(!"\(rows)".contains(trace), "\(table)") }
            }
            #expect(tables.count > 15)
            // A running service empties the log within a minute.
            #expect(await store.database.clearLog())
            #expect(try inFiles(traces + parts) == [])
            try await store.close()
        }
    }

    /// The test leaves the database as it is if a process is killed after the first transaction of an erasure.
    @Test func `the next start of the service completes an interrupted erasure`() async throws {
        try await withFolder { folder in
            let (customer, token) = try await withService(in: folder) { client in
                let admin = AdminClient(client: client, key: nil)
                let customer = try await admin.owner()
                return (try customer.publicID, try #require(customer.accessToken?.value))
            }
            let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            let counted = Store(CountedDatabase(store.database))
            counted.counts.reset { if $0 == 2 { throw Broken() } }
            let erasure = RequestedChange(.erase, actor: "ada", at: Calculator.now)
            let rederivation = Rederivation { _ throws(StoreError) in CustomerFacts() }
            await #expect(throws: (any Error).self) {
                _ = try await counted.perform(erasure, on: .publicID(customer), using: rederivation)
            }
            @Sendable func rows() async throws -> Int64 {
                try await store.database.read { session throws(StoreError) in
                    try session.row(
                        """
                        SELECT (SELECT count(*) FROM artifacts) + (SELECT count(*) FROM identities)
                            + (SELECT count(*) FROM customers) + (SELECT count(*) FROM unfinished_updates)
                        """)?.integer(0) ?? 0
                }
            }
            #expect(try await rows() > 3)
            try await withService(in: folder) { (client: Client) async throws in
                #expect(try await client.get("/v1/customer", token: token).status == .unauthorized)
            }
            let configuration = try Calculator.configuration(folder)
            try await withServer {
                try await buildApplication(
                    configuration: configuration, logger: Calculator.logger, onServerRunning: $0)
            } _: { _ in
                for _ in 0..<500 {
                    if try await rows() == 0 { break }
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
            #expect(try await rows() == 0)
            #expect(try await DatabaseTestBed.findings(store) == [])
            try await store.close()
        }
    }

    private struct Broken: Error {}

    @Test func `an erasure removes request IDs of support actions, which can then be used again`() async throws {
        try await withFolder { folder in
            let publicID = try await withService(in: folder) {
                $0.adminKey = AdminClient.adminKey
            } _: { (client: Client) async throws in
                let admin = AdminClient(client: client, key: AdminClient.adminKey)
                let (first, second) = (try await admin.owner(), try await admin.newcomer())
                let grant: [String: Any?] = ["entitlement": "everything", "reason": "r"]
                #expect(try await admin.post(try first.path("/grants"), grant, request: "one").status == .ok)
                #expect(try await admin.post(try second.path("/grants"), grant, request: "one").status == .conflict)
                #expect(try await admin.delete(try first.path()).status == .ok)
                #expect(try await admin.post(try second.path("/grants"), grant, request: "one").status == .ok)
                return try first.publicID
            }
            let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            let rows = try await store.database.read { session throws(StoreError) in
                try session.rows("SELECT * FROM requests")
            }
            #expect(rows.count == 1 && !"\(rows)".contains(publicID), "\(rows)")
            try await store.close()
        }
    }

    @Test func `the admin API doesn't find a customer if the authority that signed the artifacts isn't trusted`()
        async throws
    {
        try await withFolder { folder in
            let customer = try await withService(in: folder) { client in
                try await AdminClient(client: client, key: nil).owner()
            }
            try await withService(in: folder) { configuration in
                configuration.adminKey = AdminClient.adminKey
                configuration.anchors = [.production: .apple]
            } _: { (client: Client) async throws in
                let admin = AdminClient(client: client, key: AdminClient.adminKey)
                #expect(try await admin.get(try customer.path()).status == .notFound)
                #expect(try await admin.delete(try customer.path()).status == .notFound)
                #expect(
                    try await admin.post(try customer.path("/grants"), ["entitlement": "everything", "reason": "r"])
                        .status == .notFound)
                let lines = try await admin.get("/v1/admin/audit").entries
                #expect(lines.count == 2)
            }
        }
    }
}
