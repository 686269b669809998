import Foundation
import TenureAppStore
import TenureCore
import TenurePolicyFile

/// Reads the app of a scenario, with its releases, prices and products.
extension ScenarioReader {
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
        if let part = fields["prices"] {
            for (code, part) in entries(part, example: "prices: { DEU: 10.99 }") {
                if Storefront(code: code) == nil {
                    reading.report(
                        "`\(code.shortened)` isn't a storefront of the local App Store; \(Spelling.advice(for: code, among: Storefront.all.map(\.code)))",
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
        return AppStoreProduct(
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

    /// Reads an offer.
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
        let price = fields["price"].flatMap { amount($0) } ?? 0
        if knownType == nil, id == nil || type == nil {
            reading.report("an offer needs `id` and `type`; write `id: comeback, type: winBack`", at: part.position)
        }
        guard let type, let discount, let period else { return nil }
        return SubscriptionOffer(
            id: id, type: type, discount: discount, period: period, count: max(1, min(count, 36)), price: price)
    }
}
