import Foundation
import TenureAppStore
import TenureCore
package import TenurePolicyFile

/// Reads scenarios from YAML or JSON, with the types that also read policy files: a `Part` is a node of the document
/// with its position, and `Fields` are the parts of a mapping by key.
package struct ScenarioReader {
    /// The mistakes that were found so far. Reading goes on after a mistake, so that all are reported.
    var reading: Reading

    /// Reads a scenario.
    ///
    /// - Parameter fileName: the file's name in messages.
    /// - Throws: a `PolicyFileError` with every mistake, in the order of the text.
    package static func read(
        _ bytes: some Collection<UInt8>, named fileName: String
    ) throws(PolicyFileError) -> Scenario {
        let (root, mistakes) = try PolicyFile.document(
            bytes, named: fileName,
            as: DocumentKind("a scenario", beginning: "`scenario: ` and its name", keys: ["scenario", "timeline"]))
        var reader = ScenarioReader(reading: Reading(mistakes: mistakes))
        let scenario = reader.scenario(Part(root: root))
        guard let scenario, reader.reading.mistakes.isEmpty else { throw reader.reading.error(mainFile: fileName) }
        return scenario
    }

    /// Reads a mapping that may have only the keys of `shape`, and must have its required keys. Returns nil if the part
    /// isn't a mapping.
    mutating func fields(_ part: Part, _ shape: ScenarioShape) -> Fields? {
        Fields(part, keys: shape.keys, required: shape.required, &reading)
    }

    private mutating func scenario(_ part: Part) -> Scenario? {
        guard let fields = fields(part, .file) else { return nil }
        let name = fields["scenario"].flatMap { $0.name(&reading, example: "The Calculator disaster") }
        // The story is only for readers of the file.
        _ = fields["story"].flatMap { $0.name(&reading, example: "What happened, in a sentence") }
        let policy = fields["policy"].flatMap { $0.name(&reading, example: "calculator.policy.yaml") }
        let seed = fields["seed"].flatMap { $0.name(&reading, example: "calculator") }
        let environment = fields["environment"].flatMap { $0.word(&reading, of: AppStoreEnvironment.self) }
        if environment == .xcode, let part = fields["environment"] {
            reading.report("`environment` must be `Production` or `Sandbox`; write one of them", at: part.position)
        }
        let periods = fields["sandbox"].map { sandboxPeriods($0) }
        if periods != nil, environment != .sandbox, let part = fields["sandbox"] {
            reading.report("`sandbox` needs `environment: Sandbox`", at: part.position)
        }
        let begins = fields["begins"].flatMap { $0.dayOrInstant(&reading) }
        let app = fields["app"].flatMap { self.app($0) }
        let customers = fields["customers"].map { self.customers($0) } ?? []
        let timeline =
            fields["timeline"].map { self.timeline($0, customers: customers.map(\.name), begins: begins) } ?? []
        guard let name, let begins, let app else { return nil }
        return Scenario(
            name: name, policy: policy,
            header: JournalHeader(
                seed: seed ?? name, environment: environment ?? .production, now: begins, apps: [app],
                sandboxPeriods: periods),
            customers: customers, timeline: timeline)
    }

    /// Reads the lengths of periods in the sandbox. A missing length has its default.
    private mutating func sandboxPeriods(_ part: Part) -> SandboxPeriods {
        var periods = SandboxPeriods()
        guard let fields = fields(part, .sandbox) else { return periods }
        func length(_ name: String, atLeast shortest: TimeInterval, _ example: String) -> TimeInterval? {
            guard let part = fields[name], let seconds = part.duration(&reading, example: example) else { return nil }
            if seconds < shortest {
                reading.report("`\(name)` is too short; write `\(example)` or a longer time", at: part.position)
            }
            return max(seconds, shortest)
        }
        periods.days = length("days", atLeast: SandboxPeriods.minimumPeriod, "1m") ?? periods.days
        periods.weeks = length("weeks", atLeast: SandboxPeriods.minimumPeriod, "1m") ?? periods.weeks
        periods.month = length("month", atLeast: SandboxPeriods.minimumPeriod, "1m") ?? periods.month
        periods.waitingDay = length("waitingDay", atLeast: 1, "1s") ?? periods.waitingDay
        if let part = fields["renewals"], let renewals = part.integer(&reading, example: "12") {
            if !(0...1000).contains(renewals) {
                reading.report("a subscription renews 0 to 1000 times in the sandbox; write `12`", at: part.position)
            }
            periods.renewals = min(max(renewals, 0), 1000)
        }
        return periods
    }

    // MARK: Customers

    private mutating func customers(_ part: Part) -> [Scenario.Customer] {
        entries(part, example: "customers: { Ada: {} }").compactMap { name, part in
            if ScenarioShape.step.keys.contains(name) {
                reading.report(
                    "`\(name)` is a key of steps in the timeline; give the customer another name", at: part.position)
            }
            guard let fields = fields(part, .customer) else { return nil }
            let storefront = fields["storefront"].flatMap { $0.name(&reading, example: "USA") } ?? Storefront.usa.code
            if let part = fields["storefront"] { checkStorefront(storefront, part) }
            return Scenario.Customer(
                name: name, storefront: storefront,
                family: fields["family"].flatMap { $0.name(&reading, example: "Lovelace") },
                shows: fields["shows"].flatMap { $0.word(&reading, of: Scenario.Showing.self) } ?? .appTransaction)
        }
    }

    /// Reports a code that isn't a storefront of the local App Store.
    private mutating func checkStorefront(_ code: String, _ part: Part) {
        guard Storefront(code: code) == nil else { return }
        let advice = Spelling.advice(for: code, among: Storefront.all.map(\.code))
        reading.report("`\(code.shortened)` isn't a storefront of the local App Store; \(advice)", at: part.position)
    }

    // MARK: Parts

    /// Reads a list. Mistakes name the `example` as what to write instead.
    mutating func list(_ part: Part?, example: String) -> [Part] { part?.elements(&reading, example: example) ?? [] }

    /// Reads a string as it is written, with or without quotes.
    mutating func text(_ part: Part?, example: String) -> String? {
        guard let part else { return nil }
        if let text = part.node.text { return text }
        reading.report(
            "\(part.node.kindInWords) isn't possible here; write a string such as `\(example)`", at: part.position)
        return nil
    }

    /// Reads an amount of money, in milliunits.
    mutating func amount(_ part: Part?) -> Int64? {
        guard let text = text(part, example: "4.99"), let part else { return nil }
        if let amount = Money.milliunits(text) { return amount }
        reading.report("`\(text.shortened)` isn't an amount; write one such as `4.99`, or `free`", at: part.position)
        return nil
    }

    /// Reads a mapping with keys that the author chooses, such as the names of customers.
    mutating func entries(_ part: Part, example: String) -> [(key: String, part: Part)] {
        guard case .mapping(let entries) = part.node.content else {
            reading.report("\(part.node.kindInWords) isn't possible here; write `\(example)`", at: part.position)
            return []
        }
        return entries.map { ($0.key, Part($0, under: part.path)) }
    }

    // MARK: The app, with its releases, prices and products

    mutating func app(_ part: Part) -> AppStoreApp? {
        guard let fields = fields(part, .app) else { return nil }
        let bundleID = fields["bundleID"].flatMap { $0.name(&reading, example: "com.example.calculator") }
        let appleID = fields["appleID"].flatMap { $0.integer(&reading, example: "828838134") }
        let graceDays = fields["gracePeriodDays"].flatMap { $0.integer(&reading, example: "16") }
        if let part = fields["gracePeriodDays"], let graceDays, ![3, 16, 28].contains(graceDays) {
            reading.report(
                "the App Store has grace periods of 3, 16 and 28 days; write one of these numbers", at: part.position)
        }
        let releases = list(fields["releases"], example: "- { platform: iOS, … }").compactMap { release($0) }
        let prices = list(fields["prices"], example: "- { from: 2014-01-10, price: 4.99 }").compactMap { price($0) }
        let products = fields["products"].map { self.products($0) } ?? []
        guard let bundleID, let appleID else { return nil }
        return AppStoreApp(
            bundleID: bundleID, appAppleID: Int64(appleID), releases: releases, prices: prices, products: products,
            gracePeriodDays: graceDays)
    }

    private mutating func release(_ part: Part) -> AppStoreRelease? {
        guard let fields = fields(part, .release) else { return nil }
        let platform = fields["platform"].flatMap { $0.platform(&reading) }
        if let part = fields["platform"], let platform, !Platform.ofAcquisitions.contains(platform) {
            let names = Platform.ofAcquisitions.map { "`\($0.rawValue)`" }.joined(separator: ", ")
            reading.report(
                "the App Store signs no acquisition on `\(platform.rawValue)`; write one of \(names)",
                at: part.position)
        }
        let build = text(fields["build"], example: "37")
        let version = text(fields["version"], example: "1.4")
        let date = fields["at"].flatMap { $0.dayOrInstant(&reading) }
        guard let platform, let build, let version, let date else { return nil }
        return AppStoreRelease(platform: platform, build: build, version: version, releasedAt: date)
    }

    private mutating func price(_ part: Part) -> AppPrice? {
        guard let fields = fields(part, .price) else { return nil }
        let from = fields["from"].flatMap { $0.dayOrInstant(&reading) }
        let amount = amount(fields["price"])
        guard let from, let amount else { return nil }
        return AppPrice(from: from, price: amount)
    }

    private mutating func products(_ part: Part) -> [AppStoreProduct] {
        entries(part, example: "com.example.calculator.everything: { type: nonConsumable, price: 9.99 }")
            .compactMap { product($0.key, $0.part) }
    }

    private mutating func product(_ id: String, _ part: Part) -> AppStoreProduct? {
        guard let fields = fields(part, .product) else { return nil }
        let type = fields["type"].flatMap { $0.word(&reading, among: ProductType.allCases) }
        let price = amount(fields["price"])
        var prices: [String: Int64] = [:]
        if let written = fields["prices"] {
            for (code, item) in entries(written, example: "prices: { DEU: 10.99 }") {
                checkStorefront(code, item)
                prices[code] = amount(item)
            }
        }
        let group = fields["group"].flatMap { $0.name(&reading, example: "plans") }
        let level = fields["level"].flatMap { $0.integer(&reading, example: "1") }
        let period = fields["period"].flatMap { $0.period(&reading) }
        let isShareable = fields["familyShareable"].map { flag($0) } ?? false
        var offers = list(fields["offers"], example: "- { id: comeback, … }").compactMap { offer($0, type: nil) }
        if let offer = fields["introductory"].flatMap({ offer($0, type: .introductory) }) { offers.append(offer) }
        guard let type, let price else { return nil }
        return AppStoreProduct(
            id: id, type: type, price: price, prices: prices, group: group, level: level ?? 1, period: period,
            isFamilyShareable: isShareable, offers: offers)
    }

    private mutating func flag(_ part: Part) -> Bool {
        if let flag = part.node.text.flatMap({ Bool($0) }) { return flag }
        reading.report("\(part.node.kindInWords) is neither `true` nor `false`; write one of them", at: part.position)
        return false
    }

    /// Reads an offer. A `count` below 1 is read as 1, and a `count` above 36 as 36.
    ///
    /// - Parameter knownType: the offer's type. Nil if the offer's key `type` has it.
    private mutating func offer(_ part: Part, type knownType: OfferType?) -> SubscriptionOffer? {
        guard let fields = fields(part, .offer) else { return nil }
        let types: [OfferType] = [.promotional, .offerCode, .winBack]
        let type = knownType ?? fields["type"].flatMap { $0.word(&reading, among: types) }
        let id = fields["id"].flatMap { $0.name(&reading, example: "comeback") }
        let discounts: [OfferDiscountType] = [.freeTrial, .payAsYouGo, .payUpFront]
        let discount = fields["discount"].flatMap { $0.word(&reading, among: discounts) }
        let period = fields["period"].flatMap { $0.period(&reading) }
        let count = fields["count"].flatMap { $0.integer(&reading, example: "1") } ?? 1
        if let part = fields["count"], !(1...36).contains(count) {
            reading.report("an offer has 1 to 36 periods; write `1`", at: part.position)
        }
        let price = fields["price"].flatMap { amount($0) } ?? 0
        if knownType == nil, id == nil || type == nil {
            reading.report("an offer needs `id` and `type`; write `id: comeback, type: winBack`", at: part.position)
        }
        guard let type, let discount, let period else { return nil }
        return SubscriptionOffer(
            id: id, type: type, discount: discount, period: period, count: count, price: price)
    }
}
