import Foundation
import TenureAppStore
import TenureCore
package import TenurePolicyFile

/// Reads scenarios from YAML or JSON.
package struct ScenarioReader {
    private var reading: Reading

    /// - Throws: every mistake, in the order of the text.
    package static func read(
        _ bytes: some Collection<UInt8>, named fileName: String
    ) throws(PolicyFileError) -> Scenario {
        let (root, mistakes) = try PolicyFile.document(
            bytes, named: fileName, beginning: "a scenario, beginning with `scenario: ` and its name")
        var reader = ScenarioReader(reading: Reading(mistakes: mistakes))
        let scenario = reader.scenario(Part(root: root))
        guard let scenario, reader.reading.mistakes.isEmpty else { throw reader.reading.error(mainFile: fileName) }
        return scenario
    }

    private mutating func fields(_ part: Part, _ shape: ScenarioShape) -> Fields? {
        Fields(part, keys: shape.keys, required: shape.required, &reading)
    }

    private mutating func scenario(_ part: Part) -> Scenario? {
        guard let fields = fields(part, .file) else { return nil }
        let name = fields["scenario"].flatMap { $0.name(&reading, example: "The Calculator disaster") }
        let story = fields["story"].flatMap { $0.name(&reading, example: "What happened, in a sentence") }
        let policy = fields["policy"].flatMap { $0.name(&reading, example: "calculator.policy.yaml") }
        let seed = fields["seed"].flatMap { $0.name(&reading, example: "calculator") }
        let environment = fields["environment"].flatMap { $0.word(&reading, of: AppStoreEnvironment.self) }
        if environment == .xcode, let part = fields["environment"] {
            reading.report("the store signs in `Production` or `Sandbox`; write one of them", at: part.position)
        }
        let begins = fields["begins"].flatMap { $0.dayOrInstant(&reading) }
        let app = fields["app"].flatMap { self.app($0) }
        let customers = fields["customers"].map { self.customers($0) } ?? []
        let timeline = fields["timeline"].map { self.timeline($0, customers: customers.map(\.name)) } ?? []
        guard let name, let begins, let app else { return nil }
        return Scenario(
            name: name, story: story, policy: policy,
            founding: Founding(
                seed: seed ?? name, environment: environment ?? .production, now: begins, apps: [app]),
            customers: customers, timeline: timeline)
    }

    // MARK: The app

    private mutating func app(_ part: Part) -> StoreApp? {
        guard let fields = fields(part, .app) else { return nil }
        let bundleID = fields["bundleID"].flatMap { $0.name(&reading, example: "com.example.calculator") }
        let appleID = fields["appleID"].flatMap { $0.integer(&reading, example: "828838134") }
        let graceDays = fields["gracePeriodDays"].flatMap { $0.integer(&reading, example: "16") }
        if let part = fields["gracePeriodDays"], let graceDays, ![3, 16, 28].contains(graceDays) {
            reading.report("the App Store knows grace periods of 3, 16 and 28 days; write one", at: part.position)
        }
        let releases = list(fields["releases"], example: "- { platform: iOS, … }").compactMap { release($0) }
        let prices = list(fields["prices"], example: "- { from: 2014-01-10, price: 4.99 }").compactMap { price($0) }
        let products = fields["products"].map { self.products($0) } ?? []
        guard let bundleID, let appleID else { return nil }
        return StoreApp(
            bundleID: bundleID, appAppleID: Int64(appleID), releases: releases, prices: prices, products: products,
            gracePeriodDays: graceDays)
    }

    private mutating func list(_ part: Part?, example: String) -> [Part] {
        part?.elements(&reading, example: example) ?? []
    }

    private mutating func release(_ part: Part) -> StoreRelease? {
        guard let fields = fields(part, .release) else { return nil }
        let platform = fields["platform"].flatMap { $0.platform(&reading) }
        let build = text(fields["build"], example: "37")
        let version = text(fields["version"], example: "1.4")
        let date = fields["at"].flatMap { $0.dayOrInstant(&reading) }
        guard let platform, let build, let version, let date else { return nil }
        return StoreRelease(platform: platform, build: build, version: version, releasedAt: date)
    }

    /// Quoted or not, as it stands.
    private mutating func text(_ part: Part?, example: String) -> String? {
        guard let part else { return nil }
        if let text = part.node.text { return text }
        reading.report(
            "\(part.node.kindInWords) cannot stand here; write a text such as `\(example)`", at: part.position)
        return nil
    }

    private mutating func amount(_ part: Part?) -> Int64? {
        guard let text = text(part, example: "4.99"), let part else { return nil }
        if let amount = Money.milliunits(text) { return amount }
        reading.report("`\(text.shortened)` is no amount; write one such as `4.99`, or `free`", at: part.position)
        return nil
    }

    private mutating func price(_ part: Part) -> AppPrice? {
        guard let fields = fields(part, .price) else { return nil }
        let from = fields["from"].flatMap { $0.dayOrInstant(&reading) }
        let amount = amount(fields["price"])
        guard let from, let amount else { return nil }
        return AppPrice(from: from, price: amount)
    }

    private mutating func products(_ part: Part) -> [StoreProduct] {
        entries(part, example: "com.example.calculator.everything: { type: nonConsumable, price: 9.99 }")
            .compactMap { product($0.key, $0.part) }
    }

    /// The members of a mapping whose keys are names.
    private mutating func entries(_ part: Part, example: String) -> [(key: String, part: Part)] {
        guard case .mapping(let entries) = part.node.content else {
            reading.report("\(part.node.kindInWords) cannot stand here; write `\(example)`", at: part.position)
            return []
        }
        return entries.map { ($0.key, Part($0, under: part.path)) }
    }

    private mutating func product(_ id: String, _ part: Part) -> StoreProduct? {
        guard let fields = fields(part, .product) else { return nil }
        let type = fields["type"].flatMap { $0.word(&reading, of: ProductWord.self) }?.type
        let price = amount(fields["price"])
        var prices: [String: Int64] = [:]
        if let part = fields["prices"] {
            for (code, part) in entries(part, example: "prices: { DEU: 10.99 }") {
                if Storefront(code: code) == nil {
                    reading.report(
                        "`\(code.shortened)` is no storefront of this store; \(Spelling.advice(for: code, among: Storefront.all.map(\.code)))",
                        at: part.position)
                }
                prices[code] = amount(part)
            }
        }
        let group = fields["group"].flatMap { $0.name(&reading, example: "plans") }
        let level = fields["level"].flatMap { $0.integer(&reading, example: "1") }
        let period = fields["period"].flatMap { $0.period(&reading) }
        let isShareable = fields["familyShareable"].map { flag($0) } ?? false
        var offers = list(fields["offers"], example: "- { id: comeback, … }").compactMap { offer($0, type: nil) }
        if let offer = fields["introductory"].flatMap({ offer($0, type: .introductory) }) { offers.append(offer) }
        guard let type, let price else { return nil }
        return StoreProduct(
            id: id, type: type, price: price, prices: prices, group: group, level: level ?? 1, period: period,
            isFamilyShareable: isShareable, offers: offers)
    }

    private mutating func flag(_ part: Part) -> Bool {
        switch part.node.text {
        case "true": return true
        case "false": return false
        default:
            reading.report(
                "\(part.node.kindInWords) is neither `true` nor `false`; write one of them", at: part.position)
            return false
        }
    }

    private mutating func offer(_ part: Part, type fixed: OfferType?) -> SubscriptionOffer? {
        guard let fields = fields(part, .offer) else { return nil }
        let type = fixed ?? fields["type"].flatMap { $0.word(&reading, of: OfferWord.self) }?.type
        let id = fields["id"].flatMap { $0.name(&reading, example: "comeback") }
        let discount = fields["discount"].flatMap { $0.word(&reading, of: DiscountWord.self) }?.discount
        let period = fields["period"].flatMap { $0.period(&reading) }
        let count = fields["count"].flatMap { $0.integer(&reading, example: "1") } ?? 1
        let price = fields["price"].flatMap { amount($0) } ?? 0
        if fixed == nil, id == nil || type == nil {
            reading.report("an offer needs `id` and `type`; write `id: comeback, type: winBack`", at: part.position)
        }
        guard let type, let discount, let period else { return nil }
        return SubscriptionOffer(
            id: id, type: type, discount: discount, period: period, count: max(1, min(count, 36)), price: price)
    }

    // MARK: Customers

    private mutating func customers(_ part: Part) -> [Scenario.Customer] {
        entries(part, example: "customers: { Ada: {} }").compactMap { name, part in
            if ScenarioShape.step.keys.contains(name) {
                reading.report(
                    "`\(name)` has a meaning in the timeline; name the customer otherwise", at: part.position)
            }
            guard let fields = fields(part, .customer) else { return nil }
            let storefront = fields["storefront"].flatMap { $0.name(&reading, example: "USA") } ?? Storefront.usa.code
            if let part = fields["storefront"], Storefront(code: storefront) == nil {
                reading.report(
                    "`\(storefront.shortened)` is no storefront of this store; \(Spelling.advice(for: storefront, among: Storefront.all.map(\.code)))",
                    at: part.position)
            }
            return Scenario.Customer(
                name: name, storefront: storefront,
                family: fields["family"].flatMap { $0.name(&reading, example: "Lovelace") },
                shows: fields["shows"].flatMap { $0.word(&reading, of: Scenario.Showing.self) } ?? .appTransaction)
        }
    }

    // MARK: The timeline

    private mutating func timeline(_ part: Part, customers: [String]) -> [Scenario.Step] {
        var last: Date?
        return list(part, example: "- at: 2014-05-01").compactMap { step($0, customers: customers, last: &last) }
    }

    private mutating func step(_ part: Part, customers: [String], last: inout Date?) -> Scenario.Step? {
        guard Fields(part, keys: ScenarioShape.step.keys + customers, &reading) != nil else { return nil }
        var time: Scenario.Step.Time?
        var times = 0
        var events: [Scenario.Event] = []
        guard case .mapping(let entries) = part.node.content else { return nil }
        for entry in entries {
            let part = Part(entry, under: part.path)
            switch entry.key {
            case "at":
                times += 1
                guard let date = part.dayOrInstant(&reading) else { continue }
                if let last, date < last {
                    reading.report("time does not run backwards: this lies before the step above", at: part.position)
                }
                last = date
                time = .at(date)
            case "after":
                times += 1
                guard let seconds = part.duration(&reading, example: "31d") else { continue }
                if seconds < 0 { reading.report("time does not run backwards; write `31d`", at: part.position) }
                last = last?.addingTimeInterval(max(0, seconds))
                time = .after(max(0, seconds))
            case "store": events += acts(part, of: nil)
            case "service":
                if part.word(&reading, of: ServiceWord.self) != nil { events.append(.catchUp) }
            case "expect", "known": events += expectations(part, customers, opensApp: entry.key == "expect")
            default: if customers.contains(entry.key) { events += acts(part, of: entry.key) }
            }
        }
        if times != 1 {
            reading.report("a step needs one of `at: 2014-05-01` and `after: 31d`", at: part.position)
        }
        guard let time else { return nil }
        return Scenario.Step(time: time, events: events, place: place(part))
    }

    private func place(_ part: Part) -> String {
        "\(part.position.file):\(part.position.line):\(part.position.column)"
    }

    /// `acquires`, `{ acquires: macOS }`, `{ buys: com.example.calculator.yearly, offer: comeback }`, or a list of them.
    private mutating func acts(_ part: Part, of customer: String?) -> [Scenario.Event] {
        if case .sequence = part.node.content {
            return list(part, example: "- buys: …").flatMap { acts($0, of: customer) }
        }
        let words = Verb.words(byCustomer: customer != nil)
        func unknown(_ word: String) -> String {
            "`\(word.shortened)` is nothing that \(customer == nil ? "the store" : "a customer") does; \(Spelling.advice(for: word, among: words))"
        }
        var act: Act
        if let word = part.node.text {
            guard let verb = Verb.told(word, byCustomer: customer != nil) else {
                reading.report(unknown(word), at: part.position)
                return []
            }
            act = Act(verb)
            if let customer { act.particulars[.customer] = customer }
        } else {
            let members = entries(part, example: customer == nil ? "setsPrice: 4.99" : "acquires: iOS")
            guard !members.isEmpty else { return [] }
            guard
                let (word, verb) = members.lazy.compactMap({ member in
                    Verb.told(member.key, byCustomer: customer != nil).map { (member.key, $0) }
                }).first
            else {
                reading.report(unknown(members[0].key), at: part.position)
                return []
            }
            act = Act(verb)
            if let customer { act.particulars[.customer] = customer }
            for (key, member) in members {
                guard let text = text(member, example: "…") else { continue }
                let name = key == word ? verb.object?.rawValue : key
                do throws(ActMistake) {
                    guard let name else { throw ActMistake("nothing stands behind `\(word)`; write `\(word)` alone") }
                    try act.set(name, to: text)
                    // Alone, so that the mistake stands at its own place.
                    var alone = Act(verb)
                    try alone.set(name, to: text)
                    try alone.checkValues()
                } catch {
                    reading.report(error.description, at: member.position)
                }
            }
        }
        do throws(ActMistake) {
            try act.checkCompleteness()
        } catch {
            reading.report(error.description, at: part.position)
        }
        return [.act(act, place: place(part))]
    }

    private mutating func expectations(_ part: Part, _ customers: [String], opensApp: Bool) -> [Scenario.Event] {
        var events: [Scenario.Event] = []
        for (name, part) in entries(part, example: "expect: { Ada: { everything: granted } }") {
            guard customers.contains(name) else {
                reading.report(
                    "there is no customer `\(name.shortened)`; \(Spelling.advice(for: name, among: customers))",
                    at: part.position)
                continue
            }
            for (entitlement, part) in entries(part, example: "everything: granted") {
                guard let outcome = part.word(&reading, of: Decision.Outcome.self) else { continue }
                events.append(
                    .expect(
                        .init(
                            customer: name, entitlement: entitlement, outcome: outcome, opensApp: opensApp,
                            place: place(part))))
            }
        }
        return events
    }
}

private enum ProductWord: String, CaseIterable {
    case autoRenewable, nonConsumable, consumable, nonRenewing

    var type: ProductType {
        switch self {
        case .autoRenewable: .autoRenewable
        case .nonConsumable: .nonConsumable
        case .consumable: .consumable
        case .nonRenewing: .nonRenewing
        }
    }
}

private enum OfferWord: String, CaseIterable {
    case promotional, offerCode, winBack

    var type: OfferType {
        switch self {
        case .promotional: .promotional
        case .offerCode: .offerCode
        case .winBack: .winBack
        }
    }
}

private enum DiscountWord: String, CaseIterable {
    case freeTrial, payAsYouGo, payUpFront

    var discount: OfferDiscountType {
        switch self {
        case .freeTrial: .freeTrial
        case .payAsYouGo: .payAsYouGo
        case .payUpFront: .payUpFront
        }
    }
}

private enum ServiceWord: String, CaseIterable {
    case catchesUp
}
