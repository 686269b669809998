import Foundation
import TenureAppStore
import TenureCore

/// What the customers do each day.
extension Population {
    /// Simulates one day; its notifications aren't sent yet. Returns who opens their app in the evening.
    package mutating func live(_ day: Int, in world: inout World) -> [Int] {
        world.advance(to: Self.begins.addingTimeInterval(Double(day) * 86_400 + 43_200))
        var opening: [Int] = []
        for customer in moments[day] {
            act(customer, on: day, in: &world)
            if unseen.contains(customer) || dice.chance(40) { opening.append(customer) }
        }
        if day == 200 {
            // For every customer with that plan at once.
            _ = attempt("the price rises") { try world.raisePrice(of: Self.monthly, to: 2990) }
        }
        if day == 205 {
            _ = attempt("renewal dates are extended") {
                try world.extendAll(Self.pro, by: 7, request: "outage", in: ["DEU", "FRA", "USA"])
            }
        }
        return opening
    }

    private enum Word {
        case getApp, update, refundApp, move
        case subscribe, buyEverything, buyCoins
        case cancel, resume, upgrade, downgrade, keepPlan, failBilling, recover, consent
        case askForRefund, refund, refundOlder, refundInPart, refundEverything, reverseRefund
        case share, unshare, leaveFamily
    }

    private mutating func act(_ customer: Int, on day: Int, in world: inout World) {
        // The chosen operation may be impossible, as most are at most moments.
        for _ in 0..<4 {
            guard let word = dice.pick(words(for: customer, in: world)) else { return }
            if perform(word, customer, on: day, in: &world) { return }
        }
    }

    private func words(for customer: Int, in world: World) -> [(Word, weight: Int)] {
        guard let account = try? world.accountPlace(name(customer)) else { return [] }
        guard let acquisition = world.acquisition(of: account, app: 0) else { return [(.getApp, 1)] }
        guard acquisition.refundedAt == nil else {
            // The App Store forgets a refund of the app at the next purchase. A service that didn't see it by then
            // never learns of it.
            guard !unseen.contains(customer) else { return [] }
            // A customer who got a refund while the app was sold, and gets it for free later, is in doubt under every
            // policy.
            let isForSale = world.apps[0].price(at: world.now) > 0
            let wasForSale = acquisition.refundedAt.map { world.apps[0].price(at: $0) > 0 } ?? false
            return isForSale == wasForSale ? [(.getApp, 1)] : []
        }
        let always: [(Word, weight: Int)] = [
            (.update, 2), (.move, 2), (.refundApp, 3), (.buyEverything, 8), (.buyCoins, 4), (.refundEverything, 3),
            (.reverseRefund, 6), (.leaveFamily, 1), (.askForRefund, 2), (.refundOlder, 2),
        ]
        guard let plan = world.subscription(of: account, group: "plans"), plan.isRunning else {
            return always + [(.subscribe, 40)]
        }
        switch plan.state {
        case .gracePeriod, .billingRetry: return always + [(.recover, 60), (.cancel, 5)]
        default:
            return always + [
                (plan.autoRenews ? .cancel : .resume, 10), (.upgrade, 8), (.downgrade, 8), (.keepPlan, 3),
                (.failBilling, 14), (.refund, 10), (.refundInPart, 4), (.share, 12), (.unshare, 4),
                (.consent, plan.priceIncrease == nil ? 0 : 40),
            ]
        }
    }

    private mutating func perform(_ word: Word, _ customer: Int, on day: Int, in world: inout World) -> Bool {
        let name = name(customer)
        let plans = [Self.monthly, Self.yearly, Self.pro]
        let plan = plans[dice.roll(plans.count)]
        let shared = dice.chance(70) ? plan : Self.everything
        let coin = dice.chance(50)
        let periodsAgo = 1 + dice.roll(3)
        switch word {
        case .getApp:
            guard (try? acquire(customer, in: &world)) != nil else { return false }
            if opened.contains(customer) { unseen.insert(customer) }
            return true
        case .update: return attempt("updates") { try world.update(name) }
        case .move: return attempt("moves") { try world.move(name, to: coin ? "DEU" : "USA") }
        case .refundApp:
            guard attempt("returns the app", { try world.refundApp(name) }) else { return false }
            unseen.insert(customer)
            return true
        case .subscribe:
            let offers: [String?] = [nil, nil, "comeback", "friends"]
            let offer = offers[dice.roll(offers.count)]
            guard attempt("subscribes", { try world.buy(plan, name, offer: offer) }) else { return false }
            return true
        case .buyEverything: return attempt("buys permanently") { try world.buy(Self.everything, name) }
        case .buyCoins: return attempt("buys coins") { try world.buy(Self.coins, name, quantity: 3) }
        case .cancel: return attempt("cancels") { try world.setAutoRenew(false, name, plan) }
        case .resume: return attempt("resumes") { try world.setAutoRenew(true, name, plan) }
        case .upgrade: return attempt("upgrades") { try world.changePlan(name, to: plan, as: .upgrade) }
        case .downgrade: return attempt("downgrades") { try world.changePlan(name, to: plan, as: .downgrade) }
        case .keepPlan: return attempt("keeps the plan") { try world.changePlan(name, to: plan, as: .stay) }
        case .failBilling:
            guard attempt("cannot pay", { try world.setBillingWorks(false, of: name) }) else { return false }
            // Most people use another card, sooner or later.
            if dice.chance(70) { later(customer, after: day, within: 80) }
            return true
        case .recover:
            return attempt("pays again") { try world.recover(name, plan) }
        case .consent: return attempt("consents") { try world.consent(name, plan) }
        case .askForRefund:
            return attempt("asks for a refund") {
                try world.requestRefund(name, plan)
                if coin { try world.declineRefund(name, plan) }
            }
        case .refund: return attempt("has a period refunded") { try world.refund(name, plan) }
        case .refundOlder:
            return attempt("has an older period refunded") {
                try world.refund(name, plan, reason: .issueInTheApp, periodsAgo: periodsAgo)
            }
        case .refundInPart:
            return attempt("has a part refunded") { try world.refund(name, plan, percentage: 40_000) }
        case .refundEverything: return attempt("has a purchase refunded") { try world.refund(name, Self.everything) }
        case .reverseRefund:
            return attempt("loses a refund") {
                try world.reverseRefund(name, coin ? plan : Self.everything)
            }
        case .share: return attempt("shares") { try world.share(name, shared) }
        case .unshare: return attempt("stops sharing") { try world.unshare(name, shared) }
        case .leaveFamily: return attempt("leaves the family") { try world.leaveFamily(name) }
        }
    }

    private mutating func later(_ customer: Int, after day: Int, within days: Int) {
        let next = day + 1 + dice.roll(days)
        if next < Self.days { moments[next].append(customer) }
    }
}
