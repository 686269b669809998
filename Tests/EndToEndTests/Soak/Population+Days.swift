import Foundation
import TenureAppStore
import TenureCore
import TenureMint

@testable import LocalAppStore

/// What the customers do each day.
extension Population {
    /// Simulates one day; its notifications aren't sent yet. Returns who opens their app in the evening.
    mutating func live(_ day: Int, in state: inout AppStoreState) -> [Int] {
        state.advance(to: Self.begins.addingTimeInterval(Double(day) * 86_400 + 43_200))
        var opening: [Int] = []
        for customer in moments[day] {
            simulate(customer, on: day, in: &state)
            if unseen.contains(customer) || random.chance(40) { opening.append(customer) }
        }
        if day == 200 {
            // For every customer with that plan at once.
            _ = attempt("the price rises") { try state.raisePrice(of: Self.monthly, to: 2990) }
        }
        if day == 205 {
            _ = attempt("renewal dates are extended") {
                try state.extendAll(Self.pro, by: 7, request: "outage", in: ["DEU", "FRA", "USA"])
            }
        }
        return opening
    }

    /// What a customer may do on a day.
    private enum Operation {
        case getApp, update, refundApp, move
        case subscribe, buyEverything, buyCoins
        case cancel, resume, upgrade, downgrade, keepPlan, failBilling, recover, consent
        case askForRefund, refund, refundOlder, refundInPart, refundEverything, reverseRefund
        case share, unshare, leaveFamily
    }

    private mutating func simulate(_ customer: Int, on day: Int, in state: inout AppStoreState) {
        // The chosen operation may be impossible, as most are at most moments.
        for _ in 0..<4 {
            guard let operation = random.pick(operations(for: customer, in: state)) else { return }
            if perform(operation, customer, on: day, in: &state) { return }
        }
    }

    private func operations(for customer: Int, in state: AppStoreState) -> [(Operation, weight: Int)] {
        guard let account = try? state.accountIndex(name(customer)) else { return [] }
        guard let acquisition = state.acquisition(of: account, app: 0) else { return [(.getApp, 1)] }
        guard acquisition.refundedAt == nil else {
            // The App Store forgets a refund of the app at the next purchase. A service that didn't see it by then
            // never learns of it.
            guard !unseen.contains(customer) else { return [] }
            // A customer who got a refund while the app was sold, and gets it for free later, is in doubt under every
            // policy.
            let isForSale = state.apps[0].price(at: state.now) > 0
            let wasForSale = acquisition.refundedAt.map { state.apps[0].price(at: $0) > 0 } ?? false
            return isForSale == wasForSale ? [(.getApp, 1)] : []
        }
        let always: [(Operation, weight: Int)] = [
            (.update, 2), (.move, 2), (.refundApp, 3), (.buyEverything, 8), (.buyCoins, 4), (.refundEverything, 3),
            (.reverseRefund, 6), (.leaveFamily, 1), (.askForRefund, 2), (.refundOlder, 2),
        ]
        guard let monthly = try? state.productIndex(Self.monthly),
            let plan = state.subscription(of: account, inGroupOf: monthly), plan.isRunning
        else {
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

    private mutating func perform(_ operation: Operation, _ customer: Int, on day: Int, in state: inout AppStoreState)
        -> Bool
    {
        let name = name(customer)
        let plans = [Self.monthly, Self.yearly, Self.pro]
        let plan = plans[random.roll(plans.count)]
        let shared = random.chance(70) ? plan : Self.everything
        let coin = random.chance(50)
        let periodsAgo = 1 + random.roll(3)
        switch operation {
        case .getApp:
            guard (try? acquire(customer, in: &state)) != nil else { return false }
            if opened.contains(customer) { unseen.insert(customer) }
            return true
        case .update: return attempt("updates") { try state.update(name) }
        case .move: return attempt("moves") { try state.move(name, to: coin ? "DEU" : "USA") }
        case .refundApp:
            guard attempt("returns the app", { try state.refundApp(name) }) else { return false }
            unseen.insert(customer)
            return true
        case .subscribe:
            let offers: [String?] = [nil, nil, "comeback", "friends"]
            let offer = offers[random.roll(offers.count)]
            guard attempt("subscribes", { try state.buy(plan, name, offer: offer) }) else { return false }
            return true
        case .buyEverything: return attempt("buys permanently") { try state.buy(Self.everything, name) }
        case .buyCoins: return attempt("buys coins") { try state.buy(Self.coins, name, quantity: 3) }
        case .cancel: return attempt("cancels") { try state.setAutoRenew(false, name, plan) }
        case .resume: return attempt("resumes") { try state.setAutoRenew(true, name, plan) }
        case .upgrade: return attempt("upgrades") { try state.changePlan(name, to: plan, as: .upgrade) }
        case .downgrade: return attempt("downgrades") { try state.changePlan(name, to: plan, as: .downgrade) }
        case .keepPlan: return attempt("keeps the plan") { try state.changePlan(name, to: plan, as: .stay) }
        case .failBilling:
            guard attempt("cannot pay", { try state.setBillingWorks(false, of: name) }) else { return false }
            // Most people use another card, sooner or later.
            if random.chance(70) { later(customer, after: day, within: 80) }
            return true
        case .recover:
            return attempt("pays again") { try state.recover(name, plan) }
        case .consent: return attempt("consents") { try state.consent(name, plan) }
        case .askForRefund:
            return attempt("asks for a refund") {
                try state.requestRefund(name, plan)
                if coin { try state.declineRefund(name, plan) }
            }
        case .refund: return attempt("has a period refunded") { try state.refund(name, plan) }
        case .refundOlder:
            return attempt("has an older period refunded") {
                try state.refund(name, plan, reason: .issueInTheApp, periodsAgo: periodsAgo)
            }
        case .refundInPart:
            return attempt("has a part refunded") { try state.refund(name, plan, percentage: 40_000) }
        case .refundEverything: return attempt("has a purchase refunded") { try state.refund(name, Self.everything) }
        case .reverseRefund:
            return attempt("loses a refund") {
                try state.reverseRefund(name, coin ? plan : Self.everything)
            }
        case .share: return attempt("shares") { try state.share(name, shared) }
        case .unshare: return attempt("stops sharing") { try state.unshare(name, shared) }
        case .leaveFamily: return attempt("leaves the family") { try state.leaveFamily(name) }
        }
    }

    private mutating func later(_ customer: Int, after day: Int, within days: Int) {
        let next = day + 1 + random.roll(days)
        if next < Self.days { moments[next].append(customer) }
    }
}
