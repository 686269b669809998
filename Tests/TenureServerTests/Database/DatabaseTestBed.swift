import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import StoreContract
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

/// A database with every kind of data: syncs, unbound artifacts, merged customers, support's changes and policies.
enum DatabaseTestBed {
    /// Fills the database in a folder through the service.
    static func fill(_ folder: String) async throws {
        try await withService(in: folder) { client in
            let minter = Calculator.minter()
            try await sync(8, through: client)
            _ = try await client.sync(SyncRequest(receipt: try Calculator.receipts().text()))
            try await merge(through: client)
            // The first notification is about a stored customer. The second notification is about a new customer.
            for (uuid, id) in [("1", "704000000000000102"), ("2", "704000000000000900")] {
                let notification = try minter.text(
                    .notification,
                    [
                        "notificationUUID": .string("3a4b0d0e-0000-4000-8000-00000000000\(uuid)"),
                        "data": .object(try minter.notificationData(of: id)),
                    ])
                let answer = try await client.http.execute(
                    uri: "/v1/notifications/apple", method: .post, headers: [.contentType: "application/json"],
                    body: ByteBuffer(string: #"{"signedPayload":"\#(notification)"}"#)
                ) { $0 }
                #expect(answer.status == .ok, "\(String(buffer: answer.body))")
            }
        }
        try await withStore(in: folder) { store in
            for (number, kind) in [SupportGrant.Kind.grant, .revocation, .grant].enumerated() {
                let customer = try #require(
                    try await store.customer(by: Identity(.appTransactionID, "704000000000000101"), in: realm))
                let grant = SupportGrant(
                    kind, of: "everything", date: Calculator.now.addingTimeInterval(Double(number)),
                    until: number == 2 ? Calculator.now.addingTimeInterval(86_400) : nil)
                _ = try await store.record(
                    grant, for: customer.id, reason: "wrote to us: \"Ünzufrieden\"", actor: "ada")
            }
        }
        // A stricter policy, under which only promises keep the rights.
        try await withService(in: folder, policy: try Calculator.policy(honors: nil)) { client in
            let appTransaction = try Calculator.minter().text(
                .appTransaction, ["appTransactionId": .string("704000000000000100")])
            _ = try await client.sync(SyncRequest(appTransaction: appTransaction, transactions: []))
        }
    }

    static let realm = Realm(.production, isTest: true)

    /// Syncs app transactions and purchases of new customers. Some syncs are bound, and some are unbound. A sync has
    /// an empty list of purchases.
    static func sync(_ count: Int, through client: Client) async throws {
        let minter = Calculator.minter()
        for number in 0..<count {
            let id = "70400000000000010\(number)"
            var request = SyncRequest(
                appTransaction: try minter.text(
                    .appTransaction,
                    ["appTransactionId": .string(id), "originalApplicationVersion": .string("\(number * 40)")]))
            _ = try await client.sync(request)
            request.transactions = [
                try minter.transaction("1\(number)", of: id), try minter.transaction("2\(number)", of: id),
            ]
            _ = try await client.sync(request, from: number.isMultiple(of: 2) ? Calculator.device : nil)
            request.transactions = number == 3 ? [] : nil
            _ = try await client.sync(request, from: nil)
        }
    }

    /// Merges two customers. The customer with an acquisition remains, although that customer was created later.
    private static func merge(through client: Client) async throws {
        let minter = Calculator.minter()
        let bought: [String: JSONValue] = [
            "transactionId": .string("77"), "originalTransactionId": .string("77"), "appTransactionId": .null,
        ]
        let alone = try await client.sync(SyncRequest(transactions: [try minter.text(.transaction, bought)]))
        let id = "704000000000000009"
        let appTransaction = try minter.text(.appTransaction, ["appTransactionId": .string(id)])
        let one = try await client.sync(
            SyncRequest(appTransaction: appTransaction, transactions: [try minter.transaction("77", of: id)]))
        let token = try #require(alone.accessToken?.value)
        #expect(try await client.customer(token).id == one.id)
    }

    static func trust() throws -> TrustConfiguration {
        try TrustConfiguration(anchors: [
            .production: try Calculator.authority.anchors, .sandbox: try Calculator.authority.anchors,
        ])
    }

    static func dump(_ store: Store) async throws -> String {
        let lines = Collected<[UInt8]>()
        _ = try await DatabaseDump.write(of: store) { bytes in lines.append(bytes) }
        return String(decoding: lines.all.flatMap(\.self), as: UTF8.self)
    }

    static func findings(_ store: Store, trust: TrustConfiguration? = nil) async throws -> [DatabaseFinding] {
        let findings = Collected<DatabaseFinding>()
        let trust = try trust ?? self.trust()
        let outcome = try await DatabaseCheck.run(on: store, trust: trust) { findings.append($0) }
        #expect(outcome.findings == findings.all.count)
        return findings.all
    }

    static func withStore<Result>(
        in folder: String, _ body: (Store) async throws -> Result
    ) async throws -> Result {
        let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
        let result = try await body(store)
        try await store.close()
        return result
    }

    /// Runs a test with a filled database.
    static func withFilledStore<Result>(_ body: (Store) async throws -> Result) async throws -> Result {
        try await withFolder { folder in
            try await fill(folder)
            return try await withStore(in: folder, body)
        }
    }

    static func execute(_ sql: String, in store: Store) async throws {
        _ = try await store.database.write(locking: []) { session throws(StoreError) in try session.execute(sql) }
    }
}

extension JWSMinter {
    /// Returns the data of a notification about a subscription of this account.
    fileprivate func notificationData(of id: String) throws -> JSONObject {
        var data = JSONObject()
        data["appAppleId"] = .integer(app.appAppleID)
        data["bundleId"] = .string(app.bundleID)
        data["environment"] = .string(app.environment.rawValue)
        data["signedTransactionInfo"] = .string(
            try text(
                .transaction,
                [
                    "appTransactionId": .string(id), "transactionId": .string("8\(id)"),
                    "originalTransactionId": .string("8\(id)"),
                ]))
        return data
    }
}

/// Values that closures report.
final class Collected<Element: Sendable>: Sendable {
    private let elements = Locked<[Element]>([])

    func append(_ element: Element) { elements.withLock { $0.append(element) } }

    var all: [Element] { elements.withLock { $0 } }
}
