import Foundation
import TenureAppStore

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
}
