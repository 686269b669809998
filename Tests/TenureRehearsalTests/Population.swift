import Foundation
import TenureCore
import TenureMint

/// Invented customers, and policies that differ in the build with which the app became free.
enum Population {
    static let now = date("2016-01-01")

    static func date(_ text: String) -> Date { Date(written: text) ?? .distantPast }

    /// - Parameter build: the first build of the free era on iOS.
    static func policy(freeFrom build: String, honors: Bool = true, alsoNames extra: String? = nil) throws -> Policy {
        var entitlements = [
            Entitlement(
                name: "everything", products: [.init(id: "com.example.calculator.everything")],
                honors: honors ? [Honor(era: "paid")] : nil),
            Entitlement(
                name: "cloud", products: [.init(id: "com.example.calculator.yearly")],
                honors: [Honor(era: "paid", length: CalendarPeriod(months: 12))]),
        ]
        if let extra { entitlements.append(Entitlement(name: extra, honors: [Honor(era: "paid")])) }
        return try Policy(
            app: .init(bundleID: "com.example.calculator", appleID: 828_838_134),
            eras: [
                Era(name: "paid", model: .paid),
                Era(
                    name: "free", model: .free,
                    begins: [.iOS: .at(version: AppVersion(build), date: nil)]),
            ],
            buildNumbers: .increasing, entitlements: entitlements, inDoubt: .undetermined)
    }

    /// The app transaction of the customer with this ID.
    static func appTransaction(
        _ id: String = "1", on platform: Platform = .iOS, version: String? = "37", bought: String? = "2014-05-01"
    ) -> AppProof {
        AppProof(
            kind: .appTransaction, signedDate: now, id: .appTransaction(id), originalPlatform: platform,
            originalAppVersion: version, originalPurchaseDate: bought.map(date))
    }

    static func customers(_ count: Int, seed: UInt64) -> [(id: String, evidence: Evidence)] {
        var random = SeededRandom(seed: seed)
        let platforms: [Platform?] = [.iOS, .iOS, .macOS, .tvOS, nil]
        return (0..<count).map { number in
            let versions: [String?] = ["\(Int.random(in: 1...200, using: &random))", "2.0b", nil]
            let proof = AppProof(
                kind: .appTransaction, signedDate: now, id: .appTransaction("\(number)"),
                originalPlatform: platforms.randomElement(using: &random) ?? nil,
                originalAppVersion: versions[Int.random(in: 0..<10, using: &random) / 8 + (number % 19 == 0 ? 1 : 0)],
                originalPurchaseDate: now.addingTimeInterval(-86_400 * Double(Int.random(in: 1...1500, using: &random)))
            )
            let purchase = Purchase(
                transactionID: "\(number)", productID: "com.example.calculator.everything", type: .nonConsumable,
                purchaseDate: now, signedDate: now)
            let evidence = Evidence(
                environment: .production, app: number % 23 == 0 ? [] : [proof],
                transactions: number % 7 == 0 ? [purchase] : [], purchasesAreComplete: number % 5 != 0)
            return ("\(number)", evidence)
        }
    }
}
