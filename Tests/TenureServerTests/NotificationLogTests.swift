import Foundation
import HTTPTypes
import HummingbirdTesting
import Logging
import NIOCore
import TenureAPI
import TenureAppStore
import TenureCore
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

/// The response to a notification, and its line in the log.
@Suite struct `the result of a notification` {
    @Test func `the log has each notification with its type, environment and customer, and whether it is new`()
        async throws
    {
        try await withServiceTestBed { testBed in
            let lines = LogLines()
            let service = NotificationService(
                verifier: try testBed.service.configuration.verifier(), store: testBed.service.store,
                policies: testBed.service.policies, entitlementComparer: nil, metrics: ServiceMetrics())
            let bought = SimulatedPurchase(
                id: "9", original: "9", product: Calculator.everything, type: .nonConsumable,
                purchased: Calculator.now, acquisition: "704000000000000009")
            let minter = Calculator.minter()
            let charge = try minter.notification("ONE_TIME_CHARGE", uuid: "u1", of: bought)
            let test = try minter.notification("TEST", "SUMMARY", uuid: "u2")
            for jws in [charge, charge, test] {
                _ = try await service.receive(Array(jws.utf8), now: Calculator.now, logger: lines.logger(.info))
            }
            let id = try #require(try await testBed.customer("9")?.publicID)
            let entries = try lines.texts.map {
                try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: String])
            }
            let expected: [[String]] = [
                ["info", "notification received", "ONE_TIME_CHARGE", "-", "Production", "true", id],
                ["info", "notification received", "ONE_TIME_CHARGE", "-", "Production", "false", id],
                ["info", "notification received", "TEST", "SUMMARY", "Production", "true", "-"],
            ]
            let names = ["level", "message", "type", "subtype", "environment", "new", "customer"]
            let shown = entries.map { entry in names.map { entry[$0] ?? "" } }
            #expect(shown == expected)
        }
    }

    @Test func `a notification about an erased customer isn't stored, and creates no customer`() async throws {
        try await withAdminClient { admin, _ in
            let owner = try await admin.owner()
            #expect(try await admin.delete(try owner.path()).status == .ok)
            let notification = try Calculator.minter().text(.notification)
            for _ in 0..<2 {
                let response = try await admin.client.notify(notification)
                #expect(response.status == .ok && String(buffer: response.body) == #"{"status":"erased"}"#)
            }
            for id in ["704000000000000001", "410000000000020"] {
                #expect(try await admin.get("/v1/admin/customers?id=\(id)").found.isEmpty)
            }
        }
    }

    private func detail(
        of jws: String, _ change: (inout ServiceConfiguration) throws -> Void = { _ in }
    ) async throws -> String {
        try await withService(change) { client in try client.problem(try await client.notify(jws)).detail }
    }

    @Test func `the response to a notification that a setting refuses says which setting to correct`() async throws {
        let sound = try Calculator.minter().notification("TEST", uuid: "u1")
        let late = try Calculator.minter(signed: Calculator.now.addingTimeInterval(86_400))
            .notification("TEST", uuid: "u2")
        let foreign = try Calculator.minter(bundleID: "com.example.abacus").notification("TEST", uuid: "u3")
        let cases: [(detail: String, start: String)] = [
            (
                try await detail(of: late),
                "the notification was signed later than this service's clock shows; set the clock ("
            ),
            (
                try await detail(of: sound) {
                    $0.app = AppIdentity(bundleID: "com.example.calculator", appAppleID: 1)
                },
                "the notification has this app's bundle ID but another Apple ID; correct `appleID` in the policy ("
            ),
            (
                try await detail(of: sound) { $0.anchors[.production] = nil },
                "the notification's environment isn't configured; add the environment to `environments` ("
            ),
            (try await detail(of: foreign), "the notification was rejected: "),
        ]
        for (detail, start) in cases { #expect(detail.hasPrefix(start), "\(detail)") }
    }
}
