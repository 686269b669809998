import Foundation
import TenureAppStore
package import TenureCore

/// What customers may use, computed from the state without signed artifacts. Tests compare a service's answers with it.
extension AppStoreState {
    /// The products that the customer may use now, by Apple's rules for `currentEntitlements`: permanent purchases, and
    /// the plan that runs or is in its grace period. Non-renewing purchases aren't among them, because the developer
    /// decides their length.
    func entitledProducts(of customer: String) throws(AppStoreStateError) -> Set<String> {
        let account = accounts[try accountPlace(customer)]
        var result: Set<String> = []
        for place in account.transactions {
            let transaction = transactions[place]
            if products[transaction.product].type == .nonConsumable, transaction.revocation == nil {
                result.insert(products[transaction.product].id)
            }
        }
        for place in account.subscriptions {
            let subscription = subscriptions[place]
            switch subscription.state {
            case .active: result.insert(products[subscription.product].id)
            case .gracePeriod(let end): if end > now { result.insert(products[subscription.product].id) }
            case .billingRetry, .expired, .revoked: break
            }
        }
        return result
    }

    /// What the customer may use now under a policy, without any signed artifact: the entitlements of their purchases,
    /// and those that honor the era in which they got the app.
    /// Works only for policies in which all eras begin on a date, without changeover windows and lengths of time.
    package func truth(
        of customer: String, under policy: Policy, app bundleID: String? = nil
    ) throws(AppStoreStateError) -> Set<String> {
        let products = try entitledProducts(of: customer)
        let acquisition = self.acquisition(of: try accountPlace(customer), app: try appPlace(bundleID))
        let bought = acquisition.flatMap { era(of: $0, under: policy) }
        return Set(
            policy.entitlements.filter { entitlement in
                entitlement.products.contains { products.contains($0.id) }
                    || (entitlement.honors ?? []).contains { $0.era == bought }
            }.map(\.name))
    }

    /// The era in which the account got the app; nil while it is refunded. After a refund, the era in which it was
    /// acquired again.
    private func era(of acquisition: AppStoreAcquisition, under policy: Policy) -> String? {
        guard acquisition.refundedAt == nil else { return nil }
        let date = acquisition.gotAgainAt ?? acquisition.date
        return policy.eras.last { era in
            era.begins.isEmpty || (era.begins[acquisition.platform]?.date).map { $0 <= date } ?? false
        }?.name
    }
}
