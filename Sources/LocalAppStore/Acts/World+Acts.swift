import Foundation
import TenureAppStore
import TenureCore

extension World {
    /// Performs an operation. Throws a `WorldError` or an `ActMistake`; then nothing has changed.
    package mutating func perform(_ act: Act) throws {
        try act.checkCompleteness()
        let app = act[.app]
        let customer = act[.customer] ?? ""
        let product = act[.product] ?? ""
        switch act.verb {
        case .advance: if let instant = try act.timeToReach(in: self) { advance(to: instant) }

        case .release:
            let release = StoreRelease(
                platform: try act.platform() ?? .iOS, build: try act.text(.build), version: try act.text(.version),
                releasedAt: now)
            try self.release(release, of: app)
        case .setPrice: try setPrice(AppPrice(from: now, price: try act.price() ?? 0), of: app)
        case .raisePrice:
            try raisePrice(of: product, to: try act.price() ?? 0, needsConsent: try act.flag(.needsConsent) ?? true)
        case .withdraw: try setOnSale(false, product: product)
        case .offerAgain: try setOnSale(true, product: product)
        case .notifyAt: try setNotificationURL(act[.url], of: app)
        case .network: network = try act.word(.state, among: Network.allCases) { $0.rawValue } ?? .up

        case .customer:
            try addCustomer(
                customer, storefront: act[.storefront] ?? Storefront.usa.code, family: act[.family],
                devices: try act.number(.devices, in: 1...10) ?? 1)
        case .move: try move(customer, to: try act.text(.storefront))
        case .acquire:
            try acquire(
                customer, app: app, on: try act.platform() ?? .iOS, release: act[.release], price: try act.price(),
                way: try act.word(.way, among: StoreAcquisition.Way.allCases) { $0.rawValue } ?? .purchase,
                preorderDate: try act.date(.preordered), licenseEnds: try act.date(.licenseEnds))
        case .update: try update(customer, app: app, on: try act.platform())
        case .refundApp: try refundApp(customer, app: app)
        case .rescindConsent: try rescindConsent(customer, app: app)

        case .buy:
            try buy(
                product, customer, quantity: Int64(try act.number(.quantity, in: 1...10) ?? 1), offer: act[.offer],
                appAccountToken: try act.uuid(.appAccountToken))
        case .cancel: try setAutoRenew(false, customer, product)
        case .resume: try setAutoRenew(true, customer, product)
        case .upgrade: try changePlan(customer, to: product, offer: act[.offer], as: .upgrade)
        case .downgrade: try changePlan(customer, to: product, offer: act[.offer], as: .downgrade)
        case .keepPlan: try changePlan(customer, to: product, offer: act[.offer], as: .stay)
        case .failBilling: try setBillingWorks(false, of: customer)
        case .recover: try recover(customer, product)
        case .consent: try consent(customer, product)

        case .requestRefund:
            let reason = try act.word(.reason, among: ConsumptionRequestReason.allCases) { "\($0)" }
            try requestRefund(
                customer, product, reason: reason ?? .unintendedPurchase, periodsAgo: try periodsAgo(act))
        case .declineRefund: try declineRefund(customer, product, periodsAgo: try periodsAgo(act))
        case .refund:
            try refund(
                customer, product, percentage: try act.number(.percent, in: 1...100).map { Int64($0) * 1000 },
                reason: try act.word(.reason, among: RevocationReason.allCases) { "\($0)" } ?? .other,
                periodsAgo: try periodsAgo(act))
        case .reverseRefund: try reverseRefund(customer, product, periodsAgo: try periodsAgo(act))
        case .share: try share(customer, product)
        case .unshare: try unshare(customer, product)
        case .leaveFamily: try leaveFamily(customer)

        case .extend, .extendAll, .setAppAccountToken, .answerConsumption, .finish, .testNotification:
            try performForDeveloper(act)
        }
    }

    private func periodsAgo(_ act: Act) throws(ActMistake) -> Int { try act.number(.periodsAgo, in: 0...1000) ?? 0 }

    private mutating func performForDeveloper(_ act: Act) throws {
        if act.verb == .testNotification {
            notify(.test, app: try appPlace(act[.app]), about: .nothing)
            return
        }
        if act.verb == .extendAll {
            let storefronts = act[.storefronts]?.split(separator: ",").map(String.init) ?? []
            try extendAll(
                try act.text(.product), by: try act.number(.days, in: 1...90) ?? 1, request: try act.text(.request),
                in: storefronts)
            return
        }
        let id = try act.text(.transaction)
        guard let transaction = transaction(id) else {
            throw ActMistake(id, in: .transaction, is: "the ID of a transaction")
        }
        switch act.verb {
        case .extend:
            guard extend(transaction, by: try act.number(.days, in: 1...90) ?? 1) != nil else {
                throw ActMistake("`extend` needs a running subscription")
            }
        case .setAppAccountToken:
            let token = try act.uuid(.appAccountToken)
            for place in accounts[transaction.account].transactions
            where transactions[place].original == transaction.original {
                change(place) { $0.appAccountToken = token }
            }
        case .answerConsumption:
            consumption[transaction.index] = ConsumptionAnswer(
                date: now, deliveryStatus: try act.text(.deliveryStatus), refundPreference: act[.refundPreference])
        case .finish: change(transaction.index) { $0.isFinished = true }
        default: break
        }
    }
}

/// What happens to notifications on their way.
package enum Network: String, CaseIterable, Sendable, Hashable {
    case up
    /// They don't arrive: the App Store tries again later.
    case down
    /// They get a successful response, but no receiver keeps them.
    case swallowing
}
