import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import StoreContract
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `notifications` {
    private static let day: TimeInterval = 86_400
    private static let now = Calculator.now

    /// Returns a period of the yearly subscription that began `start` days ago and lasts `length` days.
    private static func period(_ id: String = "1", start: Double, length: Double = 30) -> SimulatedPurchase {
        let start = now.addingTimeInterval(-start * day)
        return SimulatedPurchase(
            id: id, original: "1", product: Calculator.yearly, type: .autoRenewable, purchased: start,
            expires: start.addingTimeInterval(length * day), acquisition: "704000000000000009")
    }

    private static func renewal(grace: Date? = nil, retry: Bool = false) -> SimulatedRenewal {
        SimulatedRenewal(
            original: "1", product: Calculator.yearly, next: Calculator.yearly, grace: grace, isInBillingRetry: retry,
            acquisition: "704000000000000009")
    }

    private static func bought(_ id: String = "9", revoked: Date? = nil) -> SimulatedPurchase {
        SimulatedPurchase(
            id: id, original: id, product: Calculator.everything, type: .nonConsumable,
            purchased: now.addingTimeInterval(-day), revoked: revoked, acquisition: "704000000000000009")
    }

    private static func minter(_ secondsAgo: Double = 60) -> JWSMinter {
        Calculator.minter(signed: now.addingTimeInterval(-secondsAgo))
    }

    // MARK: Storage

    @Test func `a notification is stored once and unchanged, and a repeated notification is recognized`() async throws {
        try await withServiceTestBed { testBed in
            let jws = try Self.minter().notification("SUBSCRIBED", "INITIAL_BUY", uuid: "u1", of: Self.period(start: 1))
            for status in ["kept", "known", "known"] {
                let response = try await testBed.client.notify(jws)
                #expect(response.status == .ok)
                #expect(String(buffer: response.body) == #"{"status":"\#(status)"}"#)
            }
            let store = testBed.service.store
            let customer = try #require(try await store.read { try $0.customers(after: 0, limit: 1) }.first)
            let kept = try await store.read { try $0.rows(of: customer) }?.notifications.first?.notification
            #expect(kept?.bytes == Array(jws.utf8))
            #expect(kept?.type == "SUBSCRIBED" && kept?.subtype == "INITIAL_BUY")
        }
    }

    @Test func `a notification creates a customer to whom a later sync belongs`() async throws {
        try await withServiceTestBed { testBed in
            _ = try await testBed.client.notify(
                try Self.minter().notification("ONE_TIME_CHARGE", uuid: "u1", of: Self.bought()))
            let answer = try await testBed.client.sync(
                SyncRequest(appTransaction: try Calculator.minter().newcomer("704000000000000009")))
            #expect(answer.purchases.map(\.transactionID) == ["9"])
            #expect(answer.entitlements["everything"]?.outcome == .granted)
        }
    }

    @Test func `support sees a customer's notifications in the timeline, with their types`() async throws {
        try await withServiceTestBed({ $0.adminKey = AdminClient.adminKey }) { testBed in
            let jws = try Self.minter().notification("SUBSCRIBED", "INITIAL_BUY", uuid: "u1", of: Self.period(start: 1))
            #expect(try await testBed.client.notify(jws).status == .ok)
            let customer = try #require(try await testBed.customer("1"))
            let admin = AdminClient(client: testBed.client, key: AdminClient.adminKey)
            let timeline = try await admin.get("/v1/admin/customers/\(customer.publicID)/timeline")
            let entry = timeline.entries.first { $0["kind"] as? String == "notification" }
            #expect(
                entry as? [String: String] == [
                    "kind": "notification", "type": "SUBSCRIBED", "subtype": "INITIAL_BUY",
                    "at": "2026-11-20T12:00:00Z", "signed": "2026-11-20T11:59:00Z",
                ], "\(timeline.text)")
        }
    }

    @Test func `notifications that contain no customer ID are stored without a customer`() async throws {
        try await withServiceTestBed { testBed in
            var summary = JSONObject()
            for (name, value) in [("environment", "Production"), ("bundleId", "com.example.calculator")] {
                summary[name] = .string(value)
            }
            summary["appAppleId"] = .integer(828_838_134)
            var token = JSONObject()
            token["externalPurchaseId"] = .string("b2158121-7af9-49d4-9561-1f588205523e")
            token["bundleId"] = .string("com.example.calculator")
            token["appAppleId"] = .integer(828_838_134)
            let minter = Self.minter()
            let notifications = [
                try minter.notification("TEST", uuid: "u1"),
                try minter.notification("RENEWAL_EXTENSION", "SUMMARY", uuid: "u2", part: "summary", summary),
                try minter.notification(
                    "EXTERNAL_PURCHASE_TOKEN", "UNREPORTED", uuid: "u3", part: "externalPurchaseToken", token),
                try minter.notification("OF_2030", "NEW", uuid: "u4", data: ["later": .string("x")]),
            ]
            for notification in notifications {
                #expect(try await testBed.client.notify(notification).status == .ok)
            }
            for uuid in ["u1", "u2", "u3", "u4"] {
                #expect(
                    try await testBed.service.store.keepsNotification(uuid, in: Realm(.production, isTest: true)))
            }
            #expect(try await testBed.service.store.read { try $0.customers(after: 0, limit: 9) }.isEmpty)
        }
    }

    @Test func `notifications of the sandbox create a customer only in the sandbox`() async throws {
        try await withServiceTestBed { testBed in
            let minter = Calculator.minter(.sandbox)
            // The sandbox sends a test notification without the app's Apple ID.
            #expect(
                try await testBed.client.notify(
                    try minter.notification("TEST", uuid: "t", data: ["appAppleId": .null])
                ).status == .ok)
            _ = try await testBed.client.notify(
                try minter.notification("ONE_TIME_CHARGE", uuid: "u", of: Self.bought("5")))
            #expect(try await testBed.customer("5", in: .sandbox) != nil)
            #expect(try await testBed.customer("5") == nil)
        }
    }

    @Test func `customers with the same app account token stay separate, and support finds them by the token`()
        async throws
    {
        try await withServiceTestBed { testBed in
            var first = Self.bought("1")
            var second = Self.bought("2")
            (first.acquisition, second.acquisition) = (nil, nil)
            (first.token, second.token) = (
                "9B2F0E52-6C0C-4A53-9A0F-5D1F4A0F7B11", "9b2f0e52-6c0c-4a53-9a0f-5d1f4a0f7b11"
            )
            for (uuid, purchase) in [("u1", first), ("u2", second)] {
                _ = try await testBed.client.notify(
                    try Self.minter().notification("ONE_TIME_CHARGE", uuid: uuid, of: purchase))
            }
            let one = try #require(try await testBed.customer("1"))
            let two = try #require(try await testBed.customer("2"))
            #expect(one.id != two.id)
            let found = try await testBed.service.store.read {
                try $0.customers(withAnyID: "9b2f0e52-6c0c-4a53-9a0f-5d1f4a0f7b11", in: [one.realm])
            }
            #expect(found.map(\.id) == [one.id, two.id])
        }
    }

    @Test func `a customer's facts can be derived again from the stored notification`() async throws {
        try await withServiceTestBed { testBed in
            let expiry = Self.now.addingTimeInterval(5 * Self.day)
            _ = try await testBed.client.notify(
                try Self.minter().notification(
                    "DID_FAIL_TO_RENEW", "GRACE_PERIOD", uuid: "u1", of: Self.period(start: 31),
                    renewal: Self.renewal(grace: expiry, retry: true)))
            let customer = try #require(try await testBed.customer("1"))
            let rows = try #require(try await testBed.service.store.read { try $0.rows(of: customer.id) })
            let verifier = AppStoreVerifier(
                app: testBed.service.configuration.app,
                trust: try TrustConfiguration(anchors: testBed.service.configuration.anchors))
            var facts = CustomerFacts()
            for (notification, receivedAt) in rows.notifications {
                let contents = try NotificationContents(notification, receivedAt: receivedAt, verifiedBy: verifier)
                facts.add(contents.proven.proofs)
                facts.add(contents.proven.purchases)
                facts.add(contents.proven.renewals)
            }
            #expect(!facts.purchases.isEmpty && !facts.renewals.isEmpty)
            #expect(facts == customer.facts)
        }
    }

    // MARK: Effects

    @Test func `a refund of an old period doesn't end a subscription, but a refund of the current period does`()
        async throws
    {
        try await withServiceTestBed { testBed in
            var old = Self.period("1", start: 40)
            let current = Self.period("2", start: 10)
            _ = try await testBed.client.notify(
                try Self.minter(300).notification("DID_RENEW", uuid: "u1", of: current, renewal: Self.renewal()))
            old.revoked = Self.now.addingTimeInterval(-100)
            _ = try await testBed.client.notify(
                try Self.minter(90).notification("REFUND", uuid: "u2", of: old, renewal: Self.renewal()))
            let customer = try #require(try await testBed.customer("1"))
            #expect(try testBed.outcome("everything", of: customer) == .granted)
            var now = current
            now.revoked = Self.now.addingTimeInterval(-50)
            _ = try await testBed.client.notify(
                try Self.minter(40).notification("REFUND", uuid: "u3", of: now, renewal: Self.renewal()))
            let refunded = try #require(try await testBed.customer("1"))
            #expect(try testBed.outcome("everything", of: refunded) != .granted)
            now.revoked = nil
            _ = try await testBed.client.notify(
                try Self.minter(30).notification("REFUND_REVERSED", uuid: "u4", of: now, renewal: Self.renewal()))
            let restored = try #require(try await testBed.customer("1"))
            #expect(try testBed.outcome("everything", of: restored) == .granted)
        }
    }

    @Test func `a renewal notification that was signed before its period grants the right in that period`() async throws
    {
        try await withServiceTestBed { testBed in
            let next = Self.period("2", start: -0.5)
            _ = try await testBed.client.notify(
                try Self.minter().notification("DID_RENEW", uuid: "u1", of: next, renewal: Self.renewal()))
            let customer = try #require(try await testBed.customer("1"))
            #expect(try testBed.outcome("everything", of: customer, after: Self.day) == .granted)
        }
    }

    @Test func `a subscription's right lasts through a grace period, but not through billing retry after it`()
        async throws
    {
        try await withServiceTestBed { testBed in
            let over = Self.period(start: 31)
            let grace = Self.now.addingTimeInterval(15 * Self.day)
            _ = try await testBed.client.notify(
                try Self.minter(300).notification(
                    "DID_FAIL_TO_RENEW", "GRACE_PERIOD", uuid: "u1", of: over,
                    renewal: Self.renewal(grace: grace, retry: true)))
            let inGrace = try #require(try await testBed.customer("1"))
            #expect(try testBed.outcome("everything", of: inGrace) == .granted)
            #expect(try testBed.outcome("everything", of: inGrace, after: 16 * Self.day) != .granted)
            _ = try await testBed.client.notify(
                try Self.minter(60).notification(
                    "GRACE_PERIOD_EXPIRED", uuid: "u2", of: over, renewal: Self.renewal(retry: true)))
            let retrying = try #require(try await testBed.customer("1"))
            #expect(try testBed.outcome("everything", of: retrying) != .granted)
            #expect(retrying.evidence.purchases.last?.isInBillingRetryPeriod == true)
        }
    }

    @Test func `notifications of a change to another product replace the old product, in either order`() async throws {
        let policy = try SimulatedLife.policy()
        for isReversed in [false, true] {
            try await withServiceTestBed(policy: policy) { testBed in
                func period(_ id: String, _ product: String, start: Double) -> SimulatedPurchase {
                    var period = Self.period(id, start: start, length: 365)
                    period.product = "com.example.calculator." + product
                    return period
                }
                let old = period("1", "pro", start: 20)
                let new = period("2", "basic", start: 10)
                let notifications = [
                    try Self.minter(300).notification("SUBSCRIBED", uuid: "u1", of: old),
                    try Self.minter(60).notification("DID_CHANGE_RENEWAL_PREF", "UPGRADE", uuid: "u2", of: new),
                ]
                for notification in isReversed ? notifications.reversed() : notifications {
                    _ = try await testBed.client.notify(notification)
                }
                let customer = try #require(try await testBed.customer("1"))
                #expect(try testBed.outcome("basic", of: customer) == .granted)
                #expect(try testBed.outcome("pro", of: customer) != .granted)
            }
        }
    }

    @Test func `a notification that the app was refunded ends the rights of its era`() async throws {
        try await withServiceTestBed { testBed in
            let id = "704000000000000001"
            let before = try await testBed.client.sync(
                SyncRequest(appTransaction: try Calculator.minter().text(.appTransaction)))
            #expect(before.entitlements["everything"]?.outcome == .granted)
            func appData(revoked: Date?, _ secondsAgo: Double) throws -> String {
                let minter = Self.minter(secondsAgo)
                var app = try minter.payload(of: .appTransaction).signedForServer
                app["revocationDate"] = revoked.map { .instant($0) }
                var data = JSONObject()
                data["appAppleId"] = .integer(828_838_134)
                data["bundleId"] = .string("com.example.calculator")
                data["environment"] = .string("Production")
                data["signedAppTransactionInfo"] = .string(
                    String(decoding: try minter.mint(payload: app), as: UTF8.self))
                return try minter.notification(
                    revoked == nil ? "RESCIND_CONSENT" : "REFUND", uuid: "u\(secondsAgo)", part: "appData", data)
            }
            let token = try #require(before.accessToken).value
            // This notification has the app transaction, without a revocation date.
            #expect(try await testBed.client.notify(try appData(revoked: nil, 50)).status == .ok)
            #expect(try await testBed.client.customer(token).entitlements["everything"]?.outcome == .granted)
            #expect(
                try await testBed.client.notify(try appData(revoked: Self.now.addingTimeInterval(-45), 40)).status
                    == .ok)
            #expect(try await testBed.client.customer(token).entitlements["everything"]?.outcome != .granted)
            let customer = try await testBed.service.store.customer(
                by: Identity(.appTransactionID, id), in: Realm(.production, isTest: true))
            #expect(customer?.publicID == before.id)
        }
    }
}
