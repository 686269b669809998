import Foundation

@testable import TenureCore

/// Compares a sentence with the facts of its decision. It finds claims in the text without using the templates. A
/// sentence may leave out facts, but must not claim anything else.
struct SentenceCheck {
    let decision: Decision
    let text: String
    /// The title that the reader must see.
    let title: String

    private let policy: Policy
    private let entitlement: Entitlement?
    private var problems: [String] = []

    /// The parts of the text that contradict a fact, or that support can't send to a customer.
    static func problems(in text: String, of decision: Decision, titled title: String) -> [String] {
        var check = SentenceCheck(decision: decision, text: text, title: title)
        check.checkForm()
        check.checkNames()
        check.checkOutcome()
        check.checkDates()
        check.checkEras()
        check.checkOffers()
        check.checkClaims()
        return check.problems
    }

    private init(decision: Decision, text: String, title: String) {
        self.decision = decision
        self.text = text
        self.title = title
        policy = decision.context.policy
        entitlement = policy.entitlement(named: decision.entitlement)
    }

    private mutating func require(_ isTrue: Bool, _ problem: String) { if !isTrue { problems.append(problem) } }

    private func says(_ words: String) -> Bool { text.contains(words) }

    private func has(_ codes: Reason.Code...) -> Bool {
        decision.findings.contains { codes.contains(Reason(finding: $0, context: decision.context).codeValue) }
    }

    private var leadingCode: Reason.Code? { decision.leadingReason?.codeValue }

    // MARK: One check for each kind of claim

    private mutating func checkForm() {
        require(text.hasSuffix(".") && !text.hasSuffix(".."), "it doesn't end with a period")
        var words = text.replacingOccurrences(of: title, with: "title").split(separator: " ").count
        // The words about the persona don't count, because only testers see them.
        if says("As the test customer “") { words -= 5 }
        require(words < 60, "it has \(words) words")
        let sentences = text.components(separatedBy: ". ").count
        require(sentences <= 2, "it has \(sentences) sentences")
        for mark in ["  ", " .", " ,", " ;", " :", ",.", ":.", "“”", "()", ", ,", " on on "] where says(mark) {
            problems.append("it has `\(mark)`")
        }
        // Without a date and a version, the clause follows directly: you got the app when this was included.
        require(!says(": you got the app, "), "it has a comma in place of a date or a version")
        let quotes = text.filter { "“”".contains($0) }
        require(
            quotes.count.isMultiple(of: 2) && !quotes.contains("““") && !quotes.contains("””"), "its quotes don't match"
        )
        require(text.unicodeScalars.allSatisfy { $0.value >= 0x20 }, "it has a control character")
    }

    private mutating func checkNames() {
        require(says("“\(title)”"), "it doesn't name “\(title)”")
        let ids = policy.entitlements.flatMap(\.products).map(\.id) + decision.context.purchases.map(\.productID)
        for id in Set(ids) where says(id) { problems.append("it names the product ID `\(id)`") }
        require(has(.persona) == says("As the test customer “"), "a test customer is named without a persona, or isn't")
    }

    private mutating func checkOutcome() {
        let isOpen = says("tell yet whether “")
        let grants =
            !isOpen && ["permanently", "until", "through"].contains { says("is yours \($0)") }
            || !isOpen && says("is yours:")
        require(grants == (decision.outcome == .granted), "it grants")
        require(says("We can't tell yet whether") == (decision.outcome == .undetermined), "it leaves the answer open")
        if decision.outcome == .denied {
            let refuses = ["isn't included", "withdrew", "gave you", "came with", "comes with"].contains(where: says)
            require(refuses, "it doesn't refuse")
        }
        let isInDoubt = leadingCode == .inDoubt
        if says("permanently") {
            require(
                decision.outcome == .granted && decision.until == nil, "it says “permanently” of a right with an end")
            require(!isInDoubt || decision.isPromised, "it says “permanently” in doubt, without a promise")
            require(!has(.familyShared), "it says “permanently” of what a family shares")
            require(!has(.testEnvironment), "it says “permanently” in a test environment")
        } else if decision.outcome == .granted, decision.until == nil, !isInDoubt || decision.isPromised {
            require(has(.familyShared, .testEnvironment), "it doesn't say “permanently”")
        }
    }

    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]

    /// The days that the text names, each with the words before it.
    private var datesInText: [(day: CivilDay, before: String)] {
        let words = text.split(separator: " ")
        return words.indices.dropLast(2).compactMap { index in
            guard let month = Self.months.firstIndex(of: String(words[index])),
                let day = Int(words[index + 1].filter(\.isNumber)), let year = Int(words[index + 2].prefix(4))
            else { return nil }
            return (
                CivilDay(year: year, month: month + 1, day: day),
                words[max(0, index - 2)..<index].joined(separator: " ")
            )
        }
    }

    private mutating func checkDates() {
        var facts: [Date] = [decision.until].compactMap(\.self)
        for reason in decision.reasons {
            for (_, fact) in reason.facts { if case .date(let date) = fact { facts.append(date) } }
        }
        let limits = (entitlement?.honors ?? []).flatMap { [$0.boughtSince, $0.boughtBefore] }.compactMap(\.self)
        for (day, before) in datesInText {
            if before.hasSuffix("through") {
                // The last day of a right, by UTC or in every time zone.
                let ends = [day.midnight.addingTimeInterval(86_400), day.midnight.addingTimeInterval(129_600)]
                require(facts.contains(where: ends.contains), "no right ends with \(day)")
            } else if before.hasSuffix("between") || before.hasSuffix("and") && says("between")
                || before.hasSuffix("it by")
                || says("people who got it on \(day.inWords)")
            {
                require(
                    limits.contains {
                        [0, -1, 14 * 3600, -12 * 3600 - 1].map($0.addingTimeInterval).map { CivilDay(of: $0) }.contains(
                            day)
                    }, "\(day) is no limit")
                require(!facts.contains { CivilDay(of: $0) == day && has(.outsideWindow) }, "\(day) is the customer's")
            } else {
                require(facts.contains { CivilDay(of: $0) == day }, "\(day) is no fact")
                if before.hasSuffix("until") {
                    require(facts.contains { CivilDay(of: $0) == day && $0 != day.midnight }, "\(day) isn't included")
                }
            }
        }
        if decision.outcome == .granted {
            let namesEnd = says("is yours until ") || says("is yours through ")
            require(namesEnd == (decision.until != nil), "it doesn't name the end, or one that isn't there")
        }
    }

    /// The eras that the text may mention: those of the deciding reason.
    private var decidingEras: EraSet? {
        switch decision.findings.first {
        case .eraHonored(let eras): eras
        default:
            decision.findings.lazy.compactMap { if case .eraNotHonored(let eras) = $0 { eras } else { nil } }.first
        }
    }

    private mutating func checkEras() {
        let models = decidingEras?.map { policy.eras[$0].model }
        if says("sold for a price") { require(models?.allSatisfy { $0 == .paid } == true, "not all eras were paid") }
        if says("it was free") { require(models?.allSatisfy { $0 == .free } == true, "not all eras were free") }
        let isChangeover = decision.findings.contains { if case .changeover = $0 { true } else { false } }
        for finding in decision.findings {
            switch finding {
            case .date(let date, let eras):
                let named = "you got the app on \(CivilDay(of: date).inWords)"
                let isOverridden = decidingEras.map(eras.isDisjoint) == true && !isChangeover
                require(!says(named) || !isOverridden, "the date didn't decide")
            case .version(let index, let eras):
                let version = decision.context.acquisition(index)?.version?.description ?? ""
                let isNamed = says("build \(version)") || says("version \(version)")
                require(!isNamed || decidingEras.map(eras.isDisjoint) != true, "the version didn't decide")
                if has(.versionAuthoritative), decidingEras != nil, says("you got the app") {
                    require(isNamed || decidingEras.map(eras.isDisjoint) == true, "the version decided and isn't named")
                }
            default: break
            }
        }
        if says("(build ") || says("as build ") {
            let platforms = decision.context.acquisitions.map(\.originalPlatform)
            require(platforms.contains { $0 != nil && $0 != .macOS }, "only a known platform has builds")
        }
    }

    private mutating func checkOffers() {
        let isSold = entitlement?.products.isEmpty == false
        let offers = ["buy it", "renew it", "try it", "Restore Purchases"].contains(where: says)
        require(!says("buy it") && !says("renew it") && !says("in the app, and we have") || isSold, "it isn't sold")
        require(!says("buying it") || isSold, "it isn't sold")
        let hasTrial = entitlement?.trial != nil
        require(!says("try it") && !says("trying it") || hasTrial, "there is no trial")
        require(
            !says("renew it") || decision.context.purchases.contains { $0.isSubscription }, "nothing can be renewed")
        let isFinal = has(.supportRevocation)
        if decision.outcome == .denied {
            require(offers || !isSold, "it doesn't say what can be bought or restored")
            require(!isFinal || !says("you can"), "support decided, so nothing else helps")
            require(!isFinal || says("buying it") == isSold, "it doesn't say that buying doesn't help")
            require(!isFinal || says("trying it") == hasTrial, "it doesn't say that the trial doesn't help")
            require(says("support") || says("payment method"), "it doesn't say whom to ask")
        }
        if says("in your family got") {
            require(decision.outcome == .denied && !(entitlement?.honoredEras.isEmpty ?? true), "no era helps a family")
        }
        if decision.outcome == .undetermined {
            let steps = decision.nextSteps
            require(says(". Please "), "it doesn't say what to do next")
            let needsRestore = steps.contains { $0 != .support }
            require(says("Restore Purchases") == needsRestore, "it names the wrong next step")
            require(says("our support") == (steps.contains(.support) || steps.isEmpty), "support is named wrongly")
        }
    }

    private mutating func checkClaims() {
        // An app that was acquired may have been free, so this doesn't mean that the customer paid.
        for words in ["not buy", "n't buy", "n't bought", "n't paid", "not pay", "never bought", "n't pay"]
        where says(words) {
            problems.append("it says “\(words)”")
        }
        func claim(_ words: String, needs codes: Reason.Code...) {
            if says(words), !codes.contains(where: { has($0) }) { problems.append("“\(words)” is no fact") }
        }
        claim("refunded", needs: .appRefunded, .refunded, .boughtAgainInDoubt, .promiseEnded)
        claim("its refund", needs: .boughtAgain, .boughtAgainInDoubt)
        claim("license", needs: .licenseEnded, .promiseEnded)
        claim("payment failed", needs: .billingRetry, .gracePeriod)
        claim("in your favor", needs: .inDoubt, .boughtAgainInDoubt)
        claim("in your family shares", needs: .familyShared)
        claim("support team gave", needs: .supportGrant, .supportGrantEnded)
        claim("support team withdrew", needs: .supportRevocation)
        claim("keep that promise", needs: .promise)
        claim("every tester", needs: .testEnvironment)
        claim("pre-ordered", needs: .preorder)
        claim("around the time when it changed", needs: .changeover)
        claim("no record of such", needs: .noPurchase)
        claim("no record of one", needs: .noPurchase)
        claim("changed to another one", needs: .upgraded)
        claim("came with your copy of the app until", needs: .honorEnded)
        claim(
            "your subscription", needs: .product, .gracePeriod, .billingRetry, .expired, .refunded, .upgraded,
            .noLength, .unknownProductType)
        claim("on which day you got the app", needs: .dateMissing)
        claim("hasn't confirmed yet how you got the app", needs: .noAcquisition)
    }
}
