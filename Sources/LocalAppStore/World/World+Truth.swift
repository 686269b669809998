import Foundation
import TenureAppStore
package import TenureCore

/// What the world itself knows: with which every service must agree in the end.
extension World {
    /// The products that the customer may use now, by Apple's rules for `currentEntitlements`: what was bought for good,
    /// and the plan that runs or is in its grace period. Non-renewing ones last as the developer says, and are not
    /// among them.
    package func entitledProducts(of customer: String) throws(WorldError) -> Set<String> {
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

    /// What the customer may use now under a policy, by what happened in the world and nothing that anybody signed: the
    /// entitlements of what they bought, and those that honor the era in which they got the app.
    ///
    /// Of policies that do not need to doubt: eras with dated beginnings, without windows and lengths.
    package func truth(
        of customer: String, under policy: Policy, app bundleID: String? = nil
    ) throws(WorldError) -> Set<String> {
        let products = try entitledProducts(of: customer)
        let acquisition = self.acquisition(of: try accountPlace(customer), app: try appPlace(bundleID))
        let bought = acquisition.flatMap { era(of: $0, under: policy) }
        return Set(
            policy.entitlements.filter { entitlement in
                entitlement.products.contains { products.contains($0.id) }
                    || (entitlement.honors ?? []).contains { $0.era == bought }
            }.map(\.name))
    }

    /// In which the account got the app; nil while it is refunded. Who had the money back and got it again got it then.
    private func era(of acquisition: StoreAcquisition, under policy: Policy) -> String? {
        guard acquisition.refundedAt == nil else { return nil }
        let date = acquisition.gotAgainAt ?? acquisition.date
        return policy.eras.last { era in
            era.begins.isEmpty || (era.begins[acquisition.platform]?.date).map { $0 <= date } ?? false
        }?.name
    }
}
