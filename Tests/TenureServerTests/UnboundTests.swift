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

@Suite struct `unbound proof` {
    private static let newcomer = "704000000000000002"
    private static let day: TimeInterval = 86_400

    /// Returns a minter that signs as the App Store did this number of days ago.
    private static func minter(daysAgo: Double) -> JWSMinter {
        Calculator.minter(signed: Calculator.now.addingTimeInterval(-daysAgo * day))
    }

    private static func appTransaction(daysAgo: Double, refunded: Bool = false) throws -> String {
        try minter(daysAgo: daysAgo).text(
            .appTransaction,
            refunded ? ["revocationDate": .instant(Calculator.now.addingTimeInterval(-2 * day))] : [:])
    }

    private static func transaction(_ id: String, daysAgo: Double, refunded: Bool = false) throws -> String {
        try minter(daysAgo: daysAgo).transaction(
            id, of: newcomer,
            refunded ? ["revocationDate": .instant(Calculator.now.addingTimeInterval(-2 * day))] : [:])
    }

    @Test func `an unbound sync without purchases is undetermined, even after one that listed all purchases`()
        async throws
    {
        try await withService { client in
            let app = try Self.minter(daysAgo: 5).newcomer()
            let complete = try await client.sync(SyncRequest(appTransaction: app, transactions: []), from: nil)
            #expect(complete.entitlements["everything"]?.outcome == .denied)
            let open = try await client.sync(SyncRequest(appTransaction: app), from: nil)
            #expect(open.entitlements["everything"]?.outcome == .undetermined)
            #expect(try await client.customer(try complete.token).entitlements["everything"]?.outcome == .denied)
            #expect(try await client.customer(try open.token).entitlements["everything"]?.outcome == .undetermined)
        }
    }

    // MARK: Refunds and revocations that the service knows

    @Test func `an old app transaction in an unbound sync doesn't restore a refunded acquisition`() async throws {
        try await withService { client in
            let old = SyncRequest(appTransaction: try Self.appTransaction(daysAgo: 10))
            let before = try await client.sync(old, from: nil)
            #expect(before.entitlements["everything"]?.outcome == .granted)
            _ = try await client.sync(SyncRequest(appTransaction: try Self.appTransaction(daysAgo: 1, refunded: true)))
            // The test checks the access token from before the refund, and a new response.
            #expect(try await client.customer(try before.token).entitlements["everything"]?.outcome != .granted)
            let after = try await client.sync(old, from: nil)
            #expect(after.entitlements["everything"]?.outcome != .granted)
            #expect(after.bound == false)
            let claimed = try await client.sync(old, from: UUID())
            #expect(claimed.entitlements["everything"]?.outcome != .granted)
        }
    }

    @Test func `an old app transaction without an ID, in an unbound sync, doesn't restore a refunded acquisition`()
        async throws
    {
        try await withService { client in
            let old = SyncRequest(
                appTransaction: try Self.minter(daysAgo: 10).text(.appTransaction, ["appTransactionId": .null]))
            let owner = try await client.sync(old)
            let before = try await client.sync(old, from: nil)
            #expect(owner.bound && !before.bound)
            #expect(before.entitlements["everything"]?.outcome == .granted)
            // The newer app transaction has an ID. The device and the acquisition are the same.
            _ = try await client.sync(SyncRequest(appTransaction: try Self.appTransaction(daysAgo: 1, refunded: true)))
            #expect(try await client.sync(old).entitlements["everything"]?.outcome != .granted)
            #expect(try await client.customer(try before.token).entitlements["everything"]?.outcome != .granted)
            #expect(try await client.sync(old, from: nil).entitlements["everything"]?.outcome != .granted)
        }
    }

    @Test func `an old transaction in an unbound sync doesn't restore a refunded purchase`() async throws {
        try await withService { client in
            let old = SyncRequest(transactions: [try Self.transaction("1", daysAgo: 10)])
            let before = try await client.sync(old, from: nil)
            #expect(before.entitlements["everything"]?.outcome == .granted)
            _ = try await client.sync(
                SyncRequest(
                    appTransaction: try Calculator.minter().newcomer(Self.newcomer),
                    transactions: [try Self.transaction("1", daysAgo: 1, refunded: true)]))
            for answer in [try await client.customer(try before.token), try await client.sync(old, from: nil)] {
                // The outcome isn't denied: without an app transaction, an era may still grant the entitlement.
                #expect(answer.entitlements["everything"]?.outcome == .undetermined)
                #expect(answer.entitlements["everything"]?.reasons.contains { $0.code == "refunded" } == true)
                #expect(answer.purchases.first?.revocationDate != nil)
                #expect(!answer.bound)
            }
        }
    }

    @Test func `a refund from a notification ends the right that an unbound sync gave before`() async throws {
        try await withServiceTestBed { testBed in
            let old = SyncRequest(transactions: [try Self.transaction("1", daysAgo: 10)])
            let before = try await testBed.client.sync(old, from: nil)
            #expect(before.entitlements["everything"]?.outcome == .granted)
            let refunded = SimulatedPurchase(
                id: "1", original: "1", product: Calculator.everything, type: .nonConsumable,
                purchased: Calculator.now.addingTimeInterval(-20 * Self.day), revoked: Calculator.now,
                acquisition: Self.newcomer)
            let response = try await testBed.client.notify(
                try Calculator.minter().notification("REFUND", uuid: "u1", of: refunded))
            #expect(response.status == .ok)
            for answer in [
                try await testBed.client.customer(try before.token), try await testBed.client.sync(old, from: nil),
            ] {
                // The outcome isn't denied: without an app transaction, an era may still grant the entitlement.
                #expect(answer.entitlements["everything"]?.outcome == .undetermined)
                #expect(answer.entitlements["everything"]?.reasons.contains { $0.code == "refunded" } == true)
            }
        }
    }

    /// Notifies the service of a purchase of the account, or of its refund.
    private static func notify(
        _ client: Client, _ id: String, of account: String, refunded: Bool = false
    ) async throws {
        let purchase = SimulatedPurchase(
            id: id, original: id, product: Calculator.everything, type: .nonConsumable,
            purchased: Calculator.now.addingTimeInterval(-20 * day), revoked: refunded ? Calculator.now : nil,
            acquisition: account)
        let response = try await client.notify(
            try Calculator.minter().notification(
                refunded ? "REFUND" : "ONE_TIME_CHARGE", uuid: "\(id) \(account)", of: purchase))
        #expect(response.status == .ok)
    }

    /// Sends a refund under another account than the purchase. Checks that the refund applies to artifacts that list
    /// the purchase, and to the access token from before the refund.
    private static func expectRefund(
        of artifacts: SyncRequest, in client: Client, after earlier: (id: String, account: String), of id: String
    ) async throws {
        let before = try await client.sync(artifacts, from: nil)
        #expect(before.entitlements["everything"]?.outcome == .granted)
        try await notify(client, earlier.id, of: earlier.account)
        #expect(try await client.sync(artifacts, from: nil).entitlements["everything"]?.outcome == .granted)
        try await notify(client, id, of: "704000000000000009", refunded: true)
        for answer in [try await client.customer(try before.token), try await client.sync(artifacts, from: nil)] {
            #expect(answer.entitlements["everything"]?.outcome != .granted)
            #expect(answer.entitlements["everything"]?.reasons.contains { $0.code == "refunded" } == true)
        }
    }

    @Test func `a refund under another account than the purchase applies to an unbound sync with the purchase`()
        async throws
    {
        try await withService { client in
            try await Self.expectRefund(
                of: SyncRequest(transactions: [try Self.minter(daysAgo: 10).looseTransaction("31")]), in: client,
                after: ("31", Self.newcomer), of: "31")
        }
        try await withService { client in
            let receipts = Calculator.receipts(signed: Calculator.now.addingTimeInterval(-10 * Self.day))
            func receipt(_ ids: [String]) throws -> SyncRequest {
                SyncRequest(
                    receipt: try receipts.text { draft in
                        draft[.downloadID] = .number(604_000_000_000_002)
                        draft[.originalAppVersion] = .text("300")
                        draft[.originalPurchaseDate] = .date(Date(timeIntervalSince1970: 1_600_000_000))
                        guard let first = draft.purchases.first else { return }
                        draft.purchases = ids.map { id in
                            var purchase = first
                            purchase[.transactionID] = .text(id)
                            purchase[.originalTransactionID] = .text(id)
                            return purchase
                        }
                    })
            }
            // The receipt's customer belongs to one account, and another account refunds what the receipt lists.
            _ = try await client.sync(try receipt(["41"]), from: nil)
            try await Self.expectRefund(
                of: try receipt(["42"]), in: client, after: ("41", Self.newcomer), of: "42")
            #expect(
                try await client.sync(try receipt(["41"]), from: nil).entitlements["everything"]?.outcome == .granted)
        }
    }

    @Test
    func `a refund under another account applies to a purchase in an unbound sync, even if many accounts have it`()
        async throws
    {
        try await withService { client in
            for account in ["704000000000000007", "704000000000000008"] {
                try await Self.notify(client, "31", of: account)
            }
            // The refund is of a fourth account.
            try await Self.expectRefund(
                of: SyncRequest(transactions: [try Self.minter(daysAgo: 10).looseTransaction("31")]), in: client,
                after: ("31", Self.newcomer), of: "31")
        }
    }

    @Test func `an old receipt in an unbound sync doesn't restore a purchase that was refunded since`() async throws {
        try await withService { client in
            func receipt(daysAgo: Double, refunded: Bool) throws -> SyncRequest {
                let receipts = Calculator.receipts(signed: Calculator.now.addingTimeInterval(-daysAgo * Self.day))
                return SyncRequest(
                    receipt: try receipts.text { draft in
                        draft[.originalAppVersion] = .text("300")
                        draft[.originalPurchaseDate] = .date(Date(timeIntervalSince1970: 1_600_000_000))
                        if refunded {
                            draft.purchases = draft.purchases.map { purchase in
                                var purchase = purchase
                                purchase[.cancellationDate] = .date(Calculator.now.addingTimeInterval(-2 * Self.day))
                                return purchase
                            }
                        }
                    })
            }
            let before = try await client.sync(try receipt(daysAgo: 10, refunded: false))
            #expect(before.entitlements["everything"]?.outcome == .granted)
            _ = try await client.sync(try receipt(daysAgo: 1, refunded: true))
            #expect(try await client.customer(try before.token).entitlements["everything"]?.outcome != .granted)
            let after = try await client.sync(try receipt(daysAgo: 10, refunded: false))
            #expect(after.entitlements["everything"]?.outcome != .granted)
        }
    }

    @Test func `an old receipt of a volume license gives no right after the license has ended`() async throws {
        try await withService { client in
            func receipt(daysAgo: Double, ends: Date?) throws -> SyncRequest {
                let receipts = Calculator.receipts(signed: Calculator.now.addingTimeInterval(-daysAgo * Self.day))
                return SyncRequest(
                    receipt: try receipts.text { draft in
                        // Only receipts of volume purchases have an expiration date.
                        draft[.receiptType] = .text(ReceiptType.productionVPP.rawValue)
                        draft.purchases = []
                        if let ends { draft[.expirationDate] = .date(ends) }
                    })
            }
            let old = try receipt(daysAgo: 10, ends: nil)
            let before = try await client.sync(old)
            #expect(before.entitlements["everything"]?.outcome == .granted)
            _ = try await client.sync(try receipt(daysAgo: 1, ends: Calculator.now.addingTimeInterval(-3600)))
            #expect(try await client.customer(try before.token).entitlements["everything"]?.outcome != .granted)
            #expect(try await client.sync(old).entitlements["everything"]?.outcome != .granted)
            // A later receipt with a renewed license gives the right, but an older receipt of the ended license
            // doesn't.
            let ended = try receipt(daysAgo: 5, ends: Calculator.now.addingTimeInterval(-7200))
            #expect(try await client.sync(ended, from: nil).entitlements["everything"]?.outcome != .granted)
            let renewed = try receipt(daysAgo: 0.5, ends: Calculator.now.addingTimeInterval(30 * Self.day))
            #expect(try await client.sync(renewed).entitlements["everything"]?.outcome == .granted)
            #expect(try await client.sync(ended, from: nil).entitlements["everything"]?.outcome != .granted)
        }
    }

    @Test func `an entitlement that support revoked is also denied in unbound responses`() async throws {
        try await withAdminClient { admin, _ in
            let owner = try await admin.owner()
            let found = SyncRequest(appTransaction: try Self.appTransaction(daysAgo: 10))
            let before = try await admin.client.sync(found, from: nil)
            #expect(before.entitlements["everything"]?.outcome == .granted)
            let change: [String: Any?] = ["entitlement": "everything", "reason": "chargeback"]
            _ = try await admin.post(try owner.path("/revocations"), change)
            for answer in [
                try await admin.client.customer(try before.token), try await admin.client.sync(found, from: nil),
            ] {
                #expect(answer.entitlements["everything"]?.outcome == .denied)
            }
            // A later grant cancels the revocation, but doesn't appear in an unbound response.
            _ = try await admin.post(try owner.path("/grants"), change)
            let after = try await admin.client.sync(found, from: nil)
            #expect(after.entitlements["everything"]?.outcome == .granted)
            #expect(after.entitlements["everything"]?.reasons.contains { $0.code == "supportGrant" } == false)
        }
    }

    // MARK: Other data of the customer

    @Test func `a support revocation for another account that has the same purchase doesn't affect an unbound sync`()
        async throws
    {
        try await withAdminClient { admin, _ in
            let other = "704000000000000009"
            let artifacts = SyncRequest(transactions: [try Self.minter(daysAgo: 10).looseTransaction("31")])
            _ = try await admin.client.sync(artifacts, from: nil)
            for account in [Self.newcomer, other] { try await Self.notify(admin.client, "31", of: account) }
            let found = try await admin.get("/v1/admin/customers?id=\(other)").found
            let publicID = try #require(found.first)
            let revoked = try await admin.post(
                "/v1/admin/customers/\(publicID)/revocations", ["entitlement": "everything", "reason": "a mistake"])
            #expect(revoked.problem == nil)
            let answer = try await admin.client.sync(artifacts, from: nil)
            #expect(answer.entitlements["everything"]?.outcome == .granted)
        }
    }

    @Test func `an unbound response contains no support grant, no other purchases and no ID of the customer`()
        async throws
    {
        try await withAdminClient { admin, _ in
            let minter = Calculator.minter()
            let customer = try await admin.client.sync(
                SyncRequest(
                    appTransaction: try minter.newcomer(Self.newcomer),
                    transactions: [try minter.transaction("1", of: Self.newcomer)]))
            #expect(customer.bound && customer.entitlements["everything"]?.outcome == .granted)
            let found = SyncRequest(appTransaction: try Self.minter(daysAgo: 10).newcomer(Self.newcomer))
            let before = try await admin.client.sync(found, from: nil)
            _ = try await admin.post(try customer.path("/grants"), ["entitlement": "everything", "reason": "a gift"])
            for answer in [
                before, try await admin.client.customer(try before.token),
                try await admin.client.sync(found, from: nil),
            ] {
                #expect(!answer.bound)
                #expect(answer.id != customer.id)
                #expect(answer.purchases.isEmpty)
                #expect(!answer.purchasesAreComplete)
                #expect(answer.entitlementToken == nil)
                #expect(answer.entitlements["everything"]?.outcome != .granted)
            }
            let response = try await admin.client.get("/v1/customer", token: try before.token)
            let text = String(buffer: response.body)
            #expect(response.status == .ok && text.contains(before.id), "\(text)")
            for secret in [customer.id, "supportGrant", "a gift"] { #expect(!text.contains(secret), "\(text)") }
        }
    }

    @Test func `an unbound response ignores what other unbound syncs sent about the same acquisition`() async throws {
        try await withService { client in
            // The app was refunded, and acquired again while it was still sold.
            let acquired = Date(timeIntervalSince1970: 1_409_997_600)
            func appTransaction(_ seconds: TimeInterval, refunded: TimeInterval? = nil) throws -> SyncRequest {
                let minter = Calculator.minter(signed: acquired.addingTimeInterval(seconds))
                return SyncRequest(
                    appTransaction: try minter.text(
                        .appTransaction,
                        refunded.map { ["revocationDate": .instant(acquired.addingTimeInterval($0))] } ?? [:]))
            }
            _ = try await client.sync(try appTransaction(2 * Self.day, refunded: Self.day))
            let again = try await client.sync(try appTransaction(10 * Self.day), from: nil)
            let old = try await client.sync(try appTransaction(3600), from: nil)
            #expect(old.id != again.id)
            #expect(old.entitlements["everything"]?.outcome != .granted)
        }
    }

    @Test func `an unbound sync of a merged customer gets only the promises of the account in its app transaction`()
        async throws
    {
        try await withFolder { folder in
            let owner = SyncRequest(appTransaction: try Self.appTransaction(daysAgo: 10), transactions: [])
            let newcomer = SyncRequest(
                appTransaction: try Calculator.minter().newcomer(Self.newcomer), transactions: [])
            try await withService(in: folder) {
                $0.adminKey = AdminClient.adminKey
            } _: { client in
                let admin = AdminClient(client: client, key: AdminClient.adminKey)
                let one = try await client.sync(owner)
                let two = try await client.sync(newcomer)
                let merged = try await admin.post(
                    try one.path("/merges"), ["other": try two.publicID, "reason": "one person"])
                #expect(merged.status == .ok, "\(merged.text)")
                #expect(try await client.customer(try two.token).entitlements["everything"]?.outcome == .granted)
            }
            let harsh = try Calculator.policy(honors: nil)
            try await withService(in: folder, policy: harsh) { client in
                let promised = try await client.sync(owner, from: nil)
                #expect(promised.entitlements["everything"]?.reasons.first?.code == "promise")
                let other = try await client.sync(newcomer, from: nil)
                #expect(other.entitlements["everything"]?.outcome == .denied)
                #expect(try await client.customer(try other.token).entitlements["everything"]?.outcome == .denied)
                #expect(try await client.sync(newcomer).entitlements["everything"]?.outcome == .granted, "bound")
            }
        }
    }

    @Test func `an access token from an unbound sync is invalid after the customer was erased`() async throws {
        try await withAdminClient { admin, _ in
            let owner = try await admin.owner()
            let found = SyncRequest(appTransaction: try Self.appTransaction(daysAgo: 10))
            let shown = try await admin.client.sync(found, from: nil)
            let erased = try await admin.delete(try owner.path("?reason=asked"))
            #expect(erased.status == .ok, "\(erased.text)")
            #expect(try await admin.client.get("/v1/customer", token: try shown.token).status == .unauthorized)
        }
    }
}
