import Foundation
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

@testable import TenureServer

@Suite struct `unbound proof of a subscription` {
    private static let newcomer = "704000000000000002"
    private static let day: TimeInterval = 86_400

    /// Returns a minter that signs as the App Store did this number of days ago.
    private static func minter(daysAgo: Double) -> JWSMinter {
        Calculator.minter(signed: Calculator.now.addingTimeInterval(-daysAgo * day))
    }

    @Test func `old renewal info in an unbound sync doesn't extend a grace period that has ended`() async throws {
        try await withService { client in
            let expired = try Self.minter(daysAgo: 10).transaction(
                "20", of: Self.newcomer,
                [
                    "productId": .string(Calculator.yearly), "type": .string("Auto-Renewable Subscription"),
                    "expiresDate": .instant(Calculator.now.addingTimeInterval(-60)),
                ])
            func renewal(daysAgo: Double, grace: Date?) throws -> String {
                try Self.minter(daysAgo: daysAgo).text(
                    .renewalInfo,
                    [
                        "originalTransactionId": .string("20"), "appTransactionId": .string(Self.newcomer),
                        "gracePeriodExpiresDate": grace.map { .instant($0) } ?? .null,
                        "isInBillingRetryPeriod": .boolean(true),
                    ])
            }
            let old = SyncRequest(
                transactions: [expired],
                renewalInfos: [try renewal(daysAgo: 5, grace: Calculator.now.addingTimeInterval(Self.day))])
            let before = try await client.sync(old, from: nil)
            #expect(before.entitlements["everything"]?.outcome == .granted)
            _ = try await client.sync(
                SyncRequest(
                    appTransaction: try Calculator.minter().newcomer(Self.newcomer), transactions: [expired],
                    renewalInfos: [try renewal(daysAgo: 1, grace: nil)]))
            #expect(try await client.customer(try before.token).entitlements["everything"]?.outcome != .granted)
            #expect(try await client.sync(old, from: nil).entitlements["everything"]?.outcome != .granted)
        }
    }

    @Test func `an unbound sync of an old subscription period gives no right if the period was upgraded since`()
        async throws
    {
        try await withService { client in
            func period(daysAgo: Double, isUpgraded: Bool) throws -> String {
                try Self.minter(daysAgo: daysAgo).transaction(
                    "20", of: Self.newcomer,
                    [
                        "productId": .string(Calculator.yearly), "type": .string("Auto-Renewable Subscription"),
                        "expiresDate": .instant(Calculator.now.addingTimeInterval(30 * Self.day)),
                        "isUpgraded": isUpgraded ? .boolean(true) : .null,
                    ])
            }
            let old = SyncRequest(transactions: [try period(daysAgo: 10, isUpgraded: false)])
            let before = try await client.sync(old, from: nil)
            #expect(before.entitlements["everything"]?.outcome == .granted)
            _ = try await client.sync(
                SyncRequest(
                    appTransaction: try Calculator.minter().newcomer(Self.newcomer),
                    transactions: [try period(daysAgo: 1, isUpgraded: true)]))
            #expect(try await client.customer(try before.token).entitlements["everything"]?.outcome != .granted)
            #expect(try await client.sync(old, from: nil).entitlements["everything"]?.outcome != .granted)
        }
    }

    @Test func `an unbound sync of an old subscription period gives no right if the period has ended since`()
        async throws
    {
        try await withService { client in
            func period(daysAgo: Double, end: Double) throws -> String {
                try Self.minter(daysAgo: daysAgo).transaction(
                    "20", of: Self.newcomer,
                    [
                        "productId": .string(Calculator.yearly), "type": .string("Auto-Renewable Subscription"),
                        "expiresDate": .instant(Calculator.now.addingTimeInterval(end)),
                    ])
            }
            let old = SyncRequest(transactions: [try period(daysAgo: 10, end: 30 * Self.day)])
            let before = try await client.sync(old, from: nil)
            #expect(before.entitlements["everything"]?.outcome == .granted)
            _ = try await client.sync(
                SyncRequest(
                    appTransaction: try Calculator.minter().newcomer(Self.newcomer),
                    transactions: [try period(daysAgo: 1, end: -60)]))
            #expect(try await client.customer(try before.token).entitlements["everything"]?.outcome != .granted)
            #expect(try await client.sync(old, from: nil).entitlements["everything"]?.outcome != .granted)
        }
    }

    /// Returns a yearly subscription that ended five days ago.
    private static func expired() throws -> String {
        try minter(daysAgo: 10).transaction(
            "20", of: newcomer,
            [
                "productId": .string(Calculator.yearly), "type": .string("Auto-Renewable Subscription"),
                "expiresDate": .instant(Calculator.now.addingTimeInterval(-5 * day)),
            ])
    }

    /// Returns the renewal info of that subscription. `grace` is the end of the grace period, in seconds from now.
    private static func renewal(daysAgo: Double, grace: Double) throws -> String {
        try minter(daysAgo: daysAgo).text(
            .renewalInfo,
            [
                "originalTransactionId": .string("20"), "appTransactionId": .string(newcomer),
                "gracePeriodExpiresDate": .instant(Calculator.now.addingTimeInterval(grace)),
                "isInBillingRetryPeriod": .boolean(true),
            ])
    }

    @Test func `a customer's stored grace period isn't used for an unbound sync that lacks its renewal info`()
        async throws
    {
        try await withService { client in
            let expired = try Self.expired()
            let bound = try await client.sync(
                SyncRequest(
                    appTransaction: try Calculator.minter().newcomer(Self.newcomer), transactions: [expired],
                    renewalInfos: [try Self.renewal(daysAgo: 1, grace: Self.day)]))
            #expect(bound.entitlements["everything"]?.outcome == .granted)
            let old = SyncRequest(
                transactions: [expired], renewalInfos: [try Self.renewal(daysAgo: 4, grace: -3600)])
            #expect(try await client.sync(old, from: nil).entitlements["everything"]?.outcome != .granted)
        }
    }

    @Test(arguments: [true, false])
    func `an unbound sync gets a subscription's grace period, unless the stored next period was refunded`(
        isRefunded: Bool
    ) async throws {
        try await withService { client in
            let expired = try Self.expired()
            let latest = try Self.minter(daysAgo: 1).transaction(
                "21", of: Self.newcomer,
                [
                    "originalTransactionId": .string("20"), "productId": .string(Calculator.yearly),
                    "type": .string("Auto-Renewable Subscription"),
                    "purchaseDate": .instant(Calculator.now.addingTimeInterval(-3 * Self.day)),
                    "expiresDate": .instant(Calculator.now.addingTimeInterval(30 * Self.day)),
                    "revocationDate": isRefunded ? .instant(Calculator.now.addingTimeInterval(-Self.day)) : .null,
                    "revocationReason": isRefunded ? .number("0") : .null,
                ])
            let unbound = SyncRequest(
                transactions: [expired], renewalInfos: [try Self.renewal(daysAgo: 4, grace: Self.day)])
            #expect(try await client.sync(unbound, from: nil).entitlements["everything"]?.outcome == .granted)
            let bound = try await client.sync(
                SyncRequest(
                    appTransaction: try Calculator.minter().newcomer(Self.newcomer), transactions: [expired, latest]))
            #expect(bound.bound && (bound.entitlements["everything"]?.outcome == .granted) != isRefunded)
            let again = try await client.sync(unbound, from: nil)
            for answer in [again, try await client.customer(try again.token)] {
                #expect((answer.entitlements["everything"]?.outcome == .granted) != isRefunded)
            }
        }
    }

    @Test func `older stored renewal info doesn't shorten the grace period in an unbound sync`() async throws {
        try await withService { client in
            let expired = try Self.expired()
            let bound = try await client.sync(
                SyncRequest(
                    appTransaction: try Calculator.minter().newcomer(Self.newcomer), transactions: [expired],
                    renewalInfos: [try Self.renewal(daysAgo: 4, grace: -3600)]))
            #expect(bound.bound && bound.entitlements["everything"]?.outcome != .granted)
            let later = SyncRequest(
                transactions: [expired], renewalInfos: [try Self.renewal(daysAgo: 1, grace: Self.day)])
            #expect(try await client.sync(later, from: nil).entitlements["everything"]?.outcome == .granted)
        }
    }
}
