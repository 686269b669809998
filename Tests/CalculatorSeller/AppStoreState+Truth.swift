import Foundation
import TenureAppStore

@testable package import LocalAppStore

/// What customers may use, computed from the state without signed artifacts. Tests compare a service's decisions with
/// these results.
extension AppStoreState {
    /// Returns the products that the customer may use now, by Apple's rules for `currentEntitlements`: permanent
    /// purchases, and the plan that runs or is in its grace period. The result has no non-renewing purchases, because
    /// the developer decides how long these purchases are valid.
    package func entitledProducts(of customer: String) throws(AppStoreStateError) -> Set<String> {
        let account = accounts[try accountIndex(customer)]
        var result: Set<String> = []
        for index in account.transactions {
            let transaction = transactions[index]
            if products[transaction.product].type == .nonConsumable, transaction.revocation == nil {
                result.insert(products[transaction.product].id)
            }
        }
        for index in account.subscriptions {
            let subscription = subscriptions[index]
            switch subscription.state {
            case .active: result.insert(products[subscription.product].id)
            case .gracePeriod(let end): if end > now { result.insert(products[subscription.product].id) }
            case .billingRetry, .expired, .revoked: break
            }
        }
        return result
    }
}
