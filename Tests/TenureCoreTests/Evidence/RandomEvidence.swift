import Foundation
import TenureMint

@testable import TenureCore

/// Evidence near every boundary of the Calculator's policy.
enum RandomEvidence {
    static let instants = [
        "2012-10-01", "2014-02-01", "2014-05-01", "2014-05-01T00:00:01Z", "2014-11-01", "2015-06-09T20:00:00Z",
        "2015-06-10T18:00:00Z", "2015-06-12T18:00:01Z", "2015-06-20", "2016-02-01", "2017-01-01",
    ]

    static func proof(using random: inout SeededRandom) -> AppProof {
        let kind: AppProof.Kind = Bool.random(using: &random) ? .appTransaction : .receipt
        let id: AcquisitionID? =
            [
                nil, kind == .receipt ? .download("5") : .appTransaction("7"),
                kind == .receipt ? .download("6") : .appTransaction("8"),
            ].randomElement(using: &random) ?? nil
        return Calculator.app(
            ["37", "9", "119", "120", "130", "1.10", "2.0", "1.x", nil].randomElement(using: &random) ?? nil,
            (instants + [nil]).randomElement(using: &random) ?? nil,
            platform: kind == .receipt ? nil : [.iOS, .macOS, .tvOS, nil].randomElement(using: &random) ?? nil,
            signed: instants.randomElement(using: &random) ?? "2015-01-01",
            id: id, kind: kind,
            revoked: kind == .appTransaction && Int.random(in: 0..<5, using: &random) == 0 ? "2014-12-01" : nil,
            expires: kind == .receipt && Int.random(in: 0..<6, using: &random) == 0 ? "2015-01-01" : nil)
    }

    static func purchase(using random: inout SeededRandom) -> Purchase {
        let types: [Purchase.ProductType?] = [.nonConsumable, .autoRenewable, .consumable, .nonRenewing, nil]
        return Purchase(
            transactionID: String(Int.random(in: 1...3, using: &random)), originalTransactionID: "1",
            productID: [Calculator.all, Calculator.yearly, "com.example.other"].randomElement(using: &random) ?? "",
            type: types.randomElement(using: &random) ?? nil,
            purchaseDate: date(instants.randomElement(using: &random) ?? ""),
            expiresDate: Bool.random(using: &random) ? date(instants.randomElement(using: &random) ?? "") : nil,
            revocationDate: Int.random(in: 0..<5, using: &random) == 0 ? date("2014-12-01") : nil,
            isUpgraded: Int.random(in: 0..<6, using: &random) == 0,
            signedDate: date(instants.randomElement(using: &random) ?? ""))
    }

    static func renewal(using random: inout SeededRandom) -> Renewal {
        Renewal(
            originalTransactionID: "1", productID: nil, gracePeriodExpiresDate: date("2015-07-05"),
            isInBillingRetryPeriod: true, signedDate: date(instants.randomElement(using: &random) ?? ""))
    }
}
