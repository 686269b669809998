import Foundation
import Testing

@testable import TenureCore

@Suite struct `subscriptions of many periods` {
    private static let start = Date(timeIntervalSince1970: 1_600_000_000)

    private static func period(
        _ number: Int, at hours: Int, for length: Int?, product: String, of subscription: String
    ) -> Purchase {
        let date = start.addingTimeInterval(Double(hours) * 3600)
        return Purchase(
            transactionID: String(1000 + number), originalTransactionID: subscription, productID: product,
            type: .autoRenewable, purchaseDate: date,
            expiresDate: length.map { date.addingTimeInterval(Double($0) * 3600) }, signedDate: start)
    }

    /// Applies the rule directly: a period ends when a period of another product begins within it.
    private static func isReplaced(_ old: Purchase, among all: [Purchase]) -> Bool {
        guard let start = old.purchaseDate, let end = old.expiresDate else { return false }
        return all.contains { new in
            guard let beginning = new.purchaseDate else { return false }
            return new.originalTransactionID == old.originalTransactionID && new.productID != old.productID
                && start < beginning && beginning < end
        }
    }

    @Test func `a subscription period ends when a period of another product begins, in any order of the artifacts`() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<300 {
            let periods = (0..<Int.random(in: 2...12, using: &random)).map { number in
                Self.period(
                    number, at: Int.random(in: 0...6, using: &random),
                    for: Bool.random(using: &random) ? Int.random(in: 1...8, using: &random) : nil,
                    product: ["a", "b", "c"].randomElement(using: &random) ?? "a",
                    of: ["x", "y"].randomElement(using: &random) ?? "x")
            }
            let evidence = Evidence(environment: .production, transactions: periods)
            for purchase in evidence.purchases {
                #expect(purchase.isUpgraded == Self.isReplaced(purchase, among: periods), "\(periods)")
            }
        }
    }

    @Test func `renewal info applies to the last subscription period of its product`() {
        let purchases = (0..<40).map {
            Self.period($0, at: $0, for: 1, product: $0.isMultiple(of: 2) ? "a" : "b", of: "\($0 % 4)")
        }
        let grace = Self.start.addingTimeInterval(1_000_000)
        let renewals = (0..<4).map {
            Renewal(
                originalTransactionID: "\($0)", productID: $0.isMultiple(of: 2) ? "a" : "b",
                gracePeriodExpiresDate: grace, isInBillingRetryPeriod: true, signedDate: Self.start)
        }
        let evidence = Evidence(environment: .production, transactions: purchases, renewals: renewals)
        let inGrace = evidence.purchases.filter { $0.gracePeriodExpiresDate == grace }
        #expect(inGrace.map(\.transactionID).sorted() == ["1036", "1037", "1038", "1039"])
    }
}
