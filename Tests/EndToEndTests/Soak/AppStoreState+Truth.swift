import CalculatorSeller
import TenureCore

@testable import LocalAppStore

extension AppStoreState {
    /// What the customer may use now under a policy, without any signed artifact: the entitlements of their purchases,
    /// and those that honor the era in which they got the app.
    /// Works only for policies in which all eras begin on a date, without changeover windows and lengths of time.
    func truth(
        of customer: String, under policy: Policy, app bundleID: String? = nil
    ) throws(AppStoreStateError) -> Set<String> {
        let products = try entitledProducts(of: customer)
        let acquisition = self.acquisition(of: try accountIndex(customer), app: try appIndex(bundleID))
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
