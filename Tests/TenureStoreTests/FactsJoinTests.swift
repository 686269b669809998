import Foundation
import TenureCore
import TenureMint
import Testing

@testable import TenureStore

@Suite struct `joining facts about a customer` {
    private static let effort = ProcessInfo.processInfo.environment["TENURE_SOAK"] == nil ? 1 : 100

    /// A fact that an update adds. It is made from few values, so that signing dates often coincide.
    private enum AddedFact {
        case proof(AppProof)
        case purchase(Purchase)
        case renewal(Renewal)

        init(using random: inout SeededRandom) {
            func instant() -> Date? {
                let day = Int.random(in: -1...40, using: &random)
                return day < 0 ? nil : Date(timeIntervalSince1970: 1_600_000_000 + Double(day) * 86_400)
            }
            func rarely() -> Date? { Int.random(in: 0..<3, using: &random) == 0 ? instant() : nil }
            func few() -> String { ["1", "2"].randomElement(using: &random) ?? "1" }
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                self = .proof(
                    AppProof(
                        kind: [.appTransaction, .serverAppTransaction].randomElement(using: &random) ?? .receipt,
                        signedDate: instant(), id: .appTransaction(few()), originalAppVersion: few(),
                        revocationDate: rarely()))
            case 1:
                self = .purchase(
                    Purchase(
                        transactionID: few(), originalTransactionID: few(), productID: few(),
                        type: [.autoRenewable, .nonConsumable, nil].randomElement(using: &random) ?? nil,
                        purchaseDate: rarely(), expiresDate: rarely(), revocationDate: rarely(),
                        isUpgraded: Int.random(in: 0..<4, using: &random) == 0,
                        isFamilyShared: Bool.random(using: &random),
                        signedDate: Int.random(in: 0..<2, using: &random) == 0
                            ? Date(timeIntervalSince1970: 1_600_000_000) : instant()))
            default:
                self = .renewal(
                    Renewal(
                        originalTransactionID: few(), productID: few(), gracePeriodExpiresDate: rarely(),
                        isInBillingRetryPeriod: Bool.random(using: &random), signedDate: instant()))
            }
        }
    }

    private func facts(_ addedFacts: some Sequence<AddedFact>) -> CustomerFacts {
        var facts = CustomerFacts()
        for fact in addedFacts {
            switch fact {
            case .proof(let proof): facts.add([proof])
            case .purchase(let purchase): facts.add([purchase])
            case .renewal(let renewal): facts.add([renewal])
            }
        }
        return facts
    }

    @Test func `joining a customer's facts gives the same result in any order, in groups and with repetitions`() {
        var random = SeededRandom(seed: 41)
        for round in 0..<3_000 * Self.effort {
            let addedFacts = (0..<Int.random(in: 1...9, using: &random)).map { _ in AddedFact(using: &random) }
            let whole = facts(addedFacts)
            #expect(
                facts(addedFacts.shuffled(using: &random) + addedFacts.shuffled(using: &random)) == whole,
                "round \(round)")
            // The facts are split between two customers, who are then merged.
            let cut = Int.random(in: 0...addedFacts.count, using: &random)
            var (left, right) = (facts(addedFacts[..<cut]), facts(addedFacts[cut...]))
            let other = left
            left.add(right)
            right.add(other)
            #expect(left == whole && right == whole, "round \(round)")
        }
    }
}
