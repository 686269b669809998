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

extension Reason.Code? {
    /// The meaning of a deciding reason, for readers of a report who don't know the codes. It continues a sentence
    /// about a customer, and “it” is the entitlement.
    var phrase: String {
        guard let self else { return "the policy doesn't have the entitlement" }
        switch self {
        case .eraHonored: return "got the app in an honored era"
        case .eraNotHonored: return "got the app in an era that isn't honored"
        case .inDoubt: return "can't tell whether an honored era applies, so `inDoubt` in the policy decides"
        case .noHonors: return "no era grants it"
        case .nothingToCompare: return "neither the version nor the date can be compared with the policy"
        case .noAcquisition: return "no evidence proves how the app was acquired"
        case .outsideWindow: return "got the app outside the purchase dates that the policy honors"
        case .windowNeedsDate: return "the policy honors certain purchase dates, and the customer's date isn't known"
        case .honorEnded: return "the right from the era has ended"
        case .endUnknown: return "the end of the right from the era isn't known"
        case .appRefunded: return "the app was refunded"
        case .boughtAgain: return "got the app again after a refund, in an honored era"
        case .boughtAgainInDoubt: return "got the app again after a refund, perhaps in an era that isn't honored"
        case .licenseEnded: return "a volume license has ended"
        case .product: return "has a purchase that grants it"
        case .gracePeriod: return "has a subscription in its grace period"
        case .supportGrant: return "support granted it"
        case .supportGrantEnded: return "the grant by support has ended"
        case .supportRevocation: return "support revoked it"
        case .promise: return "it was promised before"
        case .promiseEnded: return "a promise has ended"
        case .noPurchase: return "has no purchase that grants it"
        case .purchasesIncomplete: return "not all purchases are known"
        case .testEnvironment: return "comes from a test environment"
        default: return self.rawValue
        }
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

extension Change {
    /// The label of a row in the report for a terminal.
    var phrase: String {
        switch self {
        case .gains: "gain"
        case .loses: "lose"
        case .changesOutcome: "other outcome"
        case .changesReason: "other reason"
        case .same: "as before"
        }
    }
}
