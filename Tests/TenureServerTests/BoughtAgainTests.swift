import Foundation
import HTTPTypes
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

/// An owner who got the app again after a refund, while it was still sold.
@Suite struct `an owner who bought again after a refund` {
    private static let signings: [(signed: String, revoked: String?)] = [
        ("2015-05-01T00:00:00Z", nil), ("2015-05-11T00:00:00Z", "2015-05-10T00:00:00Z"),
        ("2015-05-20T00:00:00Z", nil), ("2015-06-30T00:00:00Z", nil), ("2015-07-01T00:00:00Z", nil),
    ]

    private func appTransaction(
        _ place: Int, of id: String?, on device: UUID = Calculator.device
    ) throws -> String {
        let (signed, revoked) = Self.signings[place]
        var fields: [String: JSONValue] = [
            "appTransactionId": id.map { .string($0) } ?? .null,
            "receiptCreationDate": .instant(try #require(Date(rfc3339: signed))),
            "originalPurchaseDate": .instant(Date(timeIntervalSince1970: 1_400_000_000)),
        ]
        if let revoked { fields["revocationDate"] = .instant(try #require(Date(rfc3339: revoked))) }
        return try Calculator.minter(device: device).text(.appTransaction, fields)
    }

    @Test func `an owner who bought again after a refund keeps the right, in whatever order the artifacts arrive`()
        async throws
    {
        try await withService { client in
            let orders = [
                [0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [0, 2, 3, 4, 1], [1, 4, 0, 3, 2], [2, 0, 4, 3, 1],
            ]
            for (number, order) in orders.enumerated() {
                let id = "70400000000000001\(number)"
                var answer: CustomerResponse?
                for place in order {
                    answer = try await client.sync(SyncRequest(appTransaction: try appTransaction(place, of: id)))
                }
                let right = try #require(answer?.entitlements["everything"])
                #expect(right.outcome == .granted, "\(order)")
                #expect(right.reasons.first?.code == "boughtAgain", "\(order)")
                // A promise follows the same rule.
                #expect(try await client.customer(try #require(answer).token).entitlements["everything"] == right)
            }
        }
    }

    @Test func `an owner who bought again gets the right back if support merges the customers of two devices`()
        async throws
    {
        try await withAdminClient { admin, _ in
            let (id, elsewhere) = ("704000000000000021", UUID())
            // The first device saw no refund, and its artifacts have no ID.
            var one: CustomerResponse?
            for place in [0, 2, 3] {
                one = try await admin.client.sync(SyncRequest(appTransaction: try appTransaction(place, of: nil)))
            }
            var other: CustomerResponse?
            for place in [1, 4] {
                other = try await admin.client.sync(
                    SyncRequest(appTransaction: try appTransaction(place, of: id, on: elsewhere)), from: elsewhere)
            }
            let (first, second) = (try #require(one), try #require(other))
            #expect(first.id != second.id)
            #expect(second.entitlements["everything"]?.outcome == .undetermined)
            let merged = try await admin.post(
                try first.path("/merges"), ["other": try second.publicID, "reason": "one person"])
            #expect(merged.status == .ok)
            let answer = try await admin.client.customer(try second.token)
            #expect(answer.entitlements["everything"]?.outcome == .granted)
        }
    }
}
