import Foundation
import Testing

@testable import TenureCore

/// Checks each template with each combination of facts: no sentence may contradict a fact.
@Suite struct SentenceFactsTests {
    // MARK: Customers

    @Test(arguments: zip([false, true], [Policy.InDoubt.undetermined, .favorCustomer]))
    func `no decision's sentence contradicts its facts`(_ hasTitles: Bool, _ inDoubt: Policy.InDoubt) throws {
        let policy = try Facts.policy(hasTitles: hasTitles, inDoubt: inDoubt)
        var findings = Findings()
        for proofs in Facts.proofs {
            for purchases in Facts.purchases {
                for (now, isComplete) in [("2015-07-01", true), ("2015-07-01", false), ("2017-02-01", true)] {
                    do {
                        let evidence = Calculator.evidence(
                            proofs, transactions: purchases.transactions, renewals: purchases.renewals,
                            complete: isComplete)
                        check(decide(evidence, under: policy, at: date(now)), &findings)
                    }
                }
            }
        }
        // The combinations lead to each of these reasons.
        let reached: [Reason.Code] = [
            .eraHonored, .eraNotHonored, .inDoubt, .noHonors, .noAcquisition, .outsideWindow, .honorEnded, .appRefunded,
            .boughtAgain, .licenseEnded, .product, .gracePeriod, .billingRetry, .expired, .refunded, .upgraded,
        ]
        #expect(Set(reached.map(\.rawValue)).subtracting(findings.codes) == [])
        #expect(findings.problems == [:])
    }

    @Test(arguments: [false, true])
    func `customers' sentences stay true with a support decision, a promise, a persona or a test environment`(
        _ hasTitles: Bool
    ) throws {
        let now = date("2015-07-01")
        var findings = Findings()
        for environments in Policy.TestEnvironments.allCases {
            let policy = try Facts.policy(hasTitles: hasTitles, testEnvironments: environments)
            for proofs in Facts.proofs {
                for support in Facts.support(of: policy) {
                    for promises in Facts.promises(of: policy) where environments == .newCustomer {
                        let evidence = Calculator.evidence(proofs, support: support)
                        check(decide(evidence, promises: promises, under: policy, at: now), &findings)
                    }
                    for environment in [AppStoreEnvironment.sandbox, .xcode] {
                        for persona in [nil, Persona(name: "Ann", proof: Calculator.app("37", "2014-05-01"))] {
                            let evidence = Calculator.evidence(
                                proofs, environment: environment, support: support, persona: persona)
                            check(decide(evidence, under: policy, at: now), &findings)
                        }
                    }
                }
            }
        }
        #expect(findings.problems == [:])
    }

    /// The problems that were found, with one example of each.
    private struct Findings {
        var problems: [String: String] = [:]
        var codes: Set<String> = []
        private var checked: Set<Checked> = []

        private struct Checked: Hashable {
            let text: String
            let until: Date?
            let isPromised: Bool
            let findings: [Finding]
            let versions: [String?]
        }

        /// Whether the same text wasn't checked with the same facts before. Most purchases affect few entitlements, so
        /// texts repeat.
        mutating func isNew(_ text: String, of decision: Decision) -> Bool {
            let versions = decision.context.acquisitions.map(\.originalAppVersion)
            return checked.insert(
                Checked(
                    text: text, until: decision.until, isPromised: decision.isPromised, findings: decision.findings,
                    versions: versions)
            ).inserted
        }

        mutating func add(_ found: [String], in text: String, of decision: Decision) {
            for problem in found { problems[problem] = "\(text) \(decision.reasons)" }
        }
    }

    /// Checks the sentences in two languages.
    private func check(_ decisions: [Decision], _ findings: inout Findings) {
        for decision in decisions {
            findings.codes.formUnion(decision.reasons.map(\.code))
            let titles = decision.title?.translations.map(\.text) ?? [decision.entitlement]
            for (title, languages) in zip(titles, [[], ["de"]]) {
                let text = decision.sentence(in: languages)
                guard findings.isNew(text, of: decision) else { continue }
                findings.add(SentenceCheck.problems(in: text, of: decision, titled: title), in: text, of: decision)
            }
        }
    }

    // MARK: Reasons, whatever made them

    @Test(arguments: Decision.Outcome.allCases)
    func `no reason's sentence contradicts the facts of another reason`(_ outcome: Decision.Outcome) throws {
        var findings = Findings()
        var leading: Set<Reason.Code> = []
        // Only denials depend on what is sold and on the honored eras.
        let all = try Facts.policies()
        for policy in outcome == .denied ? all : [all[7], all[15], all[16]] {
            let isSold = !policy.entitlements[0].products.isEmpty
            for finding in Facts.findings where isSold || !finding.isOfPurchase {
                for others in Facts.others where isSold || !others.contains(where: \.isOfPurchase) {
                    for decision in Facts.decisions(outcome, [finding] + others, under: policy) {
                        leading.formUnion([decision.leadingReason?.codeValue].compactMap(\.self))
                        let text = decision.sentence
                        let title = decision.title?.translations.first?.text ?? "everything"
                        let problems = SentenceCheck.problems(in: text, of: decision, titled: title)
                        findings.add(problems, in: text, of: decision)
                    }
                }
            }
        }
        #expect(findings.problems == [:])
        #expect(leading == Set(Reason.Code.allCases), "the random decisions include every reason")
    }

    // MARK: The check itself

    @Test func `the tests' check of sentences notices a wrong template`() throws {
        let policy = try Facts.policy(hasTitles: true, inDoubt: .favorCustomer)
        func notices(_ proof: AppProof?, _ old: String, _ new: String, of entitlement: String = "everything") throws {
            let decisions = decide(Calculator.evidence([proof].compactMap(\.self)), under: policy, at: Calculator.now)
            let decision = try #require(decisions.first { $0.entitlement == entitlement })
            let title = try #require(decision.title?.translations.first?.text)
            let right = decision.sentence
            #expect(SentenceCheck.problems(in: right, of: decision, titled: title) == [])
            let wrong = right.replacingOccurrences(of: old, with: new)
            #expect(wrong != right, "there is no `\(old)` in: \(right)")
            #expect(SentenceCheck.problems(in: wrong, of: decision, titled: title) != [], "\(wrong)")
        }
        let owner = Calculator.app("37", "2014-05-01")
        let newcomer = Calculator.app("120", "2015-07-01")
        let inDoubt = Calculator.app("120", "2015-06-10T20:00:00Z")
        try notices(owner, " permanently", "")
        try notices(owner, "permanently", "until May 1, 2014")
        try notices(owner, "May 1, 2014", "May 2, 2014")
        try notices(owner, "sold for a price", "free, and it was free")
        try notices(owner, "Everything", "everything")
        try notices(owner, "“Everything”", "“Everything” (\(Calculator.all))")
        try notices(owner, "you got", "you  got")
        try notices(owner, "price.", "price")
        try notices(owner, ": you got", ": we decided in your favor, you got")
        try notices(owner, " is yours permanently", " isn't included")
        try notices(inDoubt, "is yours:", "is yours permanently:")
        try notices(newcomer, "it was free", "it was sold for a price")
        try notices(newcomer, "try it, buy it, or tap Restore Purchases", "ask")
        try notices(newcomer, "please contact our support team", "never mind")
        try notices(newcomer, "you got the app", "you didn't buy the app")
        try notices(newcomer, "try it", "use it for free, try it. Or not. Yes")
        try notices(newcomer, "; if this", ", or someone in your family got the app earlier; if this", of: "extras")
        try notices(newcomer, "In the app you can", "In the app you can try it or", of: "extras")
        try notices(Calculator.app("37", "2016-02-01"), "as build 37", "on February 1, 2016")
        try notices(Calculator.app("37", "2016-02-01"), " as build 37", "")
        try notices(nil, "Please open the app while you're online and tap Restore Purchases", "Goodbye")
        try notices(nil, "We can't tell yet whether “Everything” is yours", "“Everything” is yours")
    }
}

extension Finding {
    /// Whether only an entitlement that is sold can have this reason.
    fileprivate var isOfPurchase: Bool {
        switch self {
        case .product, .familyShared, .gracePeriod, .billingRetry, .expired, .refunded, .upgraded, .consumable,
            .noLength, .unknownProductType, .noPurchase, .purchasesIncomplete:
            true
        default: false
        }
    }
}

/// Customers and reasons, in combinations.
private enum Facts {
    static func policy(
        hasTitles: Bool, inDoubt: Policy.InDoubt = .favorCustomer,
        testEnvironments: Policy.TestEnvironments = .newCustomer
    ) throws -> Policy {
        func title(_ english: String, _ german: String) -> Title? {
            hasTitles ? ["en": english, "de": german] : nil
        }
        let all = Entitlement.Product(id: Calculator.all, title: title("Full Version", "Vollversion"))
        let yearly = Entitlement.Product(id: Calculator.yearly, title: title("One Year", "Ein Jahr"))
        let season = Entitlement.Product(
            id: "com.example.season", title: title("Season Pass", "Saisonkarte"), length: CalendarPeriod(months: 3))
        let coins = Entitlement.Product(id: "com.example.coins", title: title("Coins", "Taler"))
        // At noon UTC on July 1, the last day of June has ended in every time zone.
        let lastDay = date("2015-07-01T12:00:00Z")
        return try Policy(
            app: Policy.App(bundleID: "com.example.calculator"),
            eras: [
                Era(name: "paid", model: .paid),
                Era(
                    name: "freemium", model: .free,
                    begins: [
                        .iOS: .at(version: AppVersion("120"), date: Calculator.iOSChange),
                        .macOS: .at(version: AppVersion("2.0"), date: Calculator.macChange),
                    ],
                    changeover: .window(from: -24 * 3600, until: 48 * 3600)),
            ],
            buildNumbers: .increasing,
            entitlements: [
                Entitlement(
                    name: "everything", title: title("Everything", "Alles"), products: [all, yearly],
                    honors: [Honor(era: "paid")], trial: .sessions(5)),
                Entitlement(
                    name: "cloud", title: title("Cloud", "Wolke"), products: [yearly],
                    honors: [
                        Honor(
                            era: "paid", boughtSince: date("2014-06-10"), length: CalendarPeriod(months: 12))
                    ]),
                Entitlement(
                    name: "archive", title: title("Archive", "Archiv"),
                    honors: [Honor(era: "paid", boughtBefore: date("2014-10-01"), until: lastDay)]),
                Entitlement(name: "extras", title: title("Extras", "Zugaben"), products: [all, season, coins]),
                Entitlement(
                    name: "lessons", title: title("Lessons", "Stunden"), products: [season],
                    honors: [Honor(era: "freemium")], trial: .days(14)),
                Entitlement(
                    name: "thanks", title: title("Thank You", "Danke"),
                    honors: [Honor(era: "paid"), Honor(era: "freemium")]),
                Entitlement(name: "gift", title: title("Gift", "Geschenk"), honors: []),
            ],
            inDoubt: inDoubt, testEnvironments: testEnvironments)
    }

    private static let other = AcquisitionID.appTransaction("700000000000002")

    /// What the App Store signed about the app, for one customer each.
    static let proofs: [[AppProof]] = [
        [],
        [Calculator.app("37", "2014-05-01")],
        [Calculator.app("37", "2014-11-01")],
        [Calculator.app("120", "2015-06-30")],
        [Calculator.app("120", "2015-06-10T20:00:00Z")],
        [Calculator.app("130", "2014-02-01")],
        [Calculator.app("37", "2015-06-29")],
        [Calculator.app("37", nil)],
        [Calculator.app("1.x", "2014-02-01")],
        [Calculator.app(nil, nil)],
        [Calculator.app(" 37 ", "2014-06-10")],
        [Calculator.app(String(repeating: "9", count: 60), "2015-06-30")],
        [Calculator.app("1.9", "2014-02-01", platform: .macOS)],
        [Calculator.app("2.1", "2015-06-30", platform: nil, id: .download("1"), kind: .receipt)],
        [Calculator.app("37", "2014-05-01", signed: "2014-06-02", revoked: "2014-06-01")],
        [
            Calculator.app("37", "2014-05-01", signed: "2014-06-02", revoked: "2014-06-01"),
            Calculator.app("37", "2014-05-01", signed: "2015-05-01"),
        ],
        [
            Calculator.app("37", "2014-05-01", signed: "2014-06-02", revoked: "2014-06-01"),
            Calculator.app("37", "2014-05-01", signed: "2015-06-30"),
        ],
        [Calculator.app("37", "2014-05-01", platform: nil, id: .download("1"), kind: .receipt, expires: "2015-01-01")],
        [
            AppProof(
                kind: .appTransaction, signedDate: date("2015-06-30"), id: other, originalPlatform: .iOS,
                originalAppVersion: "120", originalPurchaseDate: date("2015-06-20"), preorderDate: date("2015-06-01"))
        ],
        [Calculator.app("130", "2015-06-30"), Calculator.app("37", "2014-11-01", id: other)],
    ]

    typealias Purchases = (transactions: [Purchase], renewals: [Renewal])

    static let purchases: [Purchases] = [
        ([], []),
        ([bought(Calculator.all, .nonConsumable)], []),
        ([bought(Calculator.all, .nonConsumable, isFamilyShared: true)], []),
        ([bought(Calculator.all, .nonConsumable, revoked: "2015-06-20")], []),
        ([bought(Calculator.yearly, .autoRenewable, expires: "2017-06-30T10:00:00Z")], []),
        ([bought(Calculator.yearly, .autoRenewable, expires: "2015-06-30")], []),
        ([bought(Calculator.yearly, .autoRenewable, expires: "2015-06-30")], [renewal(grace: "2017-07-05")]),
        ([bought(Calculator.yearly, .autoRenewable, expires: "2015-06-30")], [renewal(grace: nil)]),
        ([bought(Calculator.yearly, .autoRenewable, expires: "2016-06-30", revoked: "2015-06-20")], []),
        ([bought(Calculator.yearly, .autoRenewable, expires: "2016-06-30", isUpgraded: true)], []),
        ([bought(Calculator.yearly, nil)], []),
        ([bought("com.example.season", .nonRenewing), bought("com.example.coins", .consumable)], []),
        ([bought(Calculator.all, .unknown("Rental")), bought(Calculator.yearly, .nonRenewing)], []),
    ]

    private static func bought(
        _ id: String, _ type: Purchase.ProductType?, expires: String? = nil, revoked: String? = nil,
        isUpgraded: Bool = false, isFamilyShared: Bool = false
    ) -> Purchase {
        Purchase(
            transactionID: "9" + id, originalTransactionID: "1", productID: id, type: type,
            purchaseDate: date("2015-06-15"), expiresDate: expires.map(date), revocationDate: revoked.map(date),
            isUpgraded: isUpgraded, isFamilyShared: isFamilyShared, signedDate: date("2015-06-30"))
    }

    private static func renewal(grace: String?) -> Renewal {
        Renewal(
            originalTransactionID: "1", productID: nil, gracePeriodExpiresDate: grace.map(date),
            isInBillingRetryPeriod: true, signedDate: date("2015-06-30"))
    }

    static func support(of policy: Policy) -> [[SupportGrant]] {
        let names = policy.entitlements.map(\.name)
        let day = date("2015-06-25")
        return [
            [],
            names.map { SupportGrant(.revocation, of: $0, date: day) },
            names.map { SupportGrant(.grant, of: $0, date: day) },
            names.map { SupportGrant(.grant, of: $0, date: day, until: date("2015-12-31")) },
            names.map { SupportGrant(.grant, of: $0, date: day, until: date("2015-06-26T09:00:00Z")) },
        ]
    }

    static func promises(of policy: Policy) -> [[Promise]] {
        let key = Calculator.evidence([Calculator.app("37", "2014-05-01")]).acquisitions[0].key
        func promise(_ name: String, until: Date? = nil) -> Promise {
            Promise(entitlement: name, acquisition: key, policy: policy, until: until)
        }
        let names = policy.entitlements.map(\.name) + ["renamed"]
        return [
            [], names.map { promise($0) }, names.map { promise($0, until: date("2015-09-01T12:00:00Z")) },
        ]
    }

    // MARK: Reasons

    static func policies() throws -> [Policy] {
        var policies: [Policy] = []
        for hasTitles in [false, true] {
            for isSold in [false, true] {
                for trial in [nil, Trial.sessions(5)] {
                    for honors in [false, true] {
                        policies.append(
                            try SentencePolicy(hasTitles: hasTitles, isSold: isSold, trial: trial, honors: honors)
                                .policy())
                    }
                }
            }
        }
        policies.append(try SentencePolicy(since: "2014-06-10", before: "2014-07-10", hasLastDay: true).policy())
        return policies
    }

    private static let day = date("2016-02-29T10:00:00Z")
    private static let paid = EraSet(from: 0, to: 1)
    private static let free = EraSet(from: 1, to: 2)
    private static let both = EraSet(from: 0, to: 2)

    /// Every reason at least once, which a test checks.
    static let findings: [Finding] = [
        .eraHonored(paid), .eraHonored(both), .eraNotHonored(paid), .eraNotHonored(free), .eraNotHonored(both),
        .inDoubt(honored: paid, others: free), .noHonors, .nothingToCompare, .noAcquisition, .outsideWindow(era: 0),
        .windowNeedsDate(era: 0), .honorEnded(era: 0, at: day), .honorEnded(era: 0, at: date("2016-02-29T12:00:00Z")),
        .endUnknown(era: 0), .appRefunded(at: day), .boughtAgain(signed: day), .boughtAgainInDoubt(signed: day),
        .licenseEnded(at: day), .product(0, until: nil), .familyShared(0), .gracePeriod(0, until: day),
        .billingRetry(0), .expired(0, at: day), .expired(1, at: day), .refunded(0, at: day), .upgraded(0),
        .consumable(0), .noLength(0), .unknownProductType(0), .noPurchase, .purchasesIncomplete,
        .supportGrant(until: nil), .supportGrantEnded(at: day), .supportRevocation, .promise(until: nil),
        .promiseEnded, .version(0, eras: paid), .versionMissing, .versionMalformed(0), .versionNotListed(0),
        .versionNotComparable(0), .platformNotInPolicy(.visionOS), .date(date("2014-05-01"), eras: paid), .dateMissing,
        .changeover(date("2014-05-01"), eras: both), .dateBeforeVersion, .versionAuthoritative, .contradiction,
        .preorder(date("2014-04-20")), .testEnvironment, .persona, .personaRefused,
    ]

    /// Reasons from proofs, from purchases and from support.
    static let others: [[Finding]] = [
        [.versionMissing, .dateMissing],
        [.version(0, eras: paid), .dateMissing],
        [.versionNotListed(0), .date(date("2014-05-01"), eras: paid)],
        [.version(0, eras: paid), .date(date("2014-05-01"), eras: paid), .preorder(date("2014-04-20"))],
        [.versionAuthoritative, .version(0, eras: paid), .date(date("2016-02-01"), eras: free)],
        [.dateBeforeVersion, .version(0, eras: free), .date(date("2014-05-01"), eras: paid), .persona],
        [.changeover(date("2014-05-01"), eras: both), .version(0, eras: free), .date(date("2014-05-01"), eras: paid)],
        [.noPurchase, .version(0, eras: free), .date(date("2016-02-01"), eras: free)],
        [.expired(1, at: day), .billingRetry(0), .dateMissing],
    ]

    static func decisions(_ outcome: Decision.Outcome, _ findings: [Finding], under policy: Policy) -> [Decision] {
        let bought = Calculator.app("37", "2014-05-01")
        let purchases = [("id.pro", Purchase.ProductType.autoRenewable), ("id.old", .nonConsumable)].map {
            Purchase(transactionID: $0.0, productID: $0.0, type: $0.1, purchaseDate: nil, signedDate: nil)
        }
        let evidence = Calculator.evidence(
            [bought], transactions: purchases.sorted { $0.productID > $1.productID }, environment: .sandbox,
            persona: Persona(name: "Ann", proof: bought))
        let context = Reason.Context(evidence, evaluated: evidence.acquisitions, under: policy)
        func decision(until: Date? = nil, _ nextSteps: [NextStep] = [], isPromised: Bool = false) -> Decision {
            Decision(
                entitlement: "everything", outcome: outcome, until: until, nextSteps: nextSteps, eraRights: [],
                isPromised: isPromised, title: policy.entitlements[0].title, findings: findings, context: context)
        }
        switch outcome {
        case .denied: return [decision()]
        case .granted:
            return [nil, date("2016-03-01"), date("2016-03-01T12:00:00Z"), day].flatMap { until in
                [decision(until: until)] + (until == nil ? [decision(isPromised: true)] : [])
            }
        case .undetermined:
            return [
                [.support], [.purchases], [.purchases, .support], [.appTransaction, .refreshedReceipt],
                [.appTransaction, .support],
            ].map { decision($0) }
        }
    }
}
