import Foundation
import TenureCore
import TenureJSON

extension RehearsalReport {
    /// Sentences about unusual facts: contradicting proofs, and products that no entitlement lists.
    var remarks: [String] {
        var remarks: [String] = []
        if tally.contradicting > 0 {
            remarks.append("\(contradictions): the version and the purchase date prove different eras")
        }
        let products = tally.productsWithoutEntitlement.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        for (product, count) in products.prefix(Self.maximumProducts) {
            remarks.append(purchases(of: product, by: count))
        }
        if products.count > Self.maximumProducts {
            remarks.append(
                "no entitlement lists \((products.count - Self.maximumProducts).grouped("more product")) that customers have bought; the JSON report has them all"
            )
        }
        return remarks
    }

    /// A clause such as "2 customers (5%) have contradicting proofs".
    var contradictions: String {
        let count = tally.contradicting
        return
            "\(count.grouped("customer")) (\(count.share(of: tally.customers))) \(count == 1 ? "has" : "have") contradicting proofs"
    }

    /// Returns a clause about a product that no entitlement lists, and the number of customers who have bought it.
    func purchases(of product: String, by count: Int) -> String {
        "\(count.grouped("customer")) \(count == 1 ? "has" : "have") bought `\(product)`, which no entitlement lists"
    }

    /// The maximum number of products that remarks name.
    private static let maximumProducts = 5

    /// Returns a sentence about the `id`s that the rehearsal ignored, because they are placeholders.
    func remark(on anonymous: [EvidenceRehearsal.AnonymousID]) -> String {
        let count = anonymous.count
        let names =
            showsIDs
            ? " (\(anonymous.prefix(3).map { "`\($0.id)`" }.joined(separator: ", "))\(count > 3 ? ", …" : ""))" : ""
        let maximumAccounts = anonymous.map(\.accounts).max() ?? 0
        return count == 1
            ? "1 `id`\(names) is shared by \(maximumAccounts.grouped) Apple Accounts, so it doesn't identify a customer and is ignored"
            : "\(count.grouped) `id`s\(names) are each shared by up to \(maximumAccounts.grouped) Apple Accounts, so they don't identify customers and are ignored"
    }
}

extension Date {
    /// The date for people: `June 10, 2015`, or `June 10, 2015, 18:00 UTC` if the time isn't midnight.
    var readable: String {
        let day = CivilDay(of: self)
        let minutes = Int((timeIntervalSince(day.midnight) / 60).rounded(.down))
        guard minutes > 0, minutes < 24 * 60 else { return day.inWords }
        let (hour, minute) = (minutes / 60, minutes % 60)
        return "\(day.inWords), \(hour.padded(to: 2)):\(minute.padded(to: 2)) UTC"
    }
}

extension Set<String> {
    /// A clause about these products, which the new policy no longer lists for an entitlement, such as `` `a` and `b`
    /// no longer grant it``.
    var removal: String {
        let maximumNamed = 3
        let named = sorted().prefix(maximumNamed).map { "`\($0)`" }
        let others = count > maximumNamed ? ["\((count - maximumNamed).grouped("other product"))"] : []
        return "\((named + others).listed) no longer grant\(count == 1 ? "s" : "") it"
    }
}
