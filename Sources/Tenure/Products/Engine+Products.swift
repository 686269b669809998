import Foundation
import TenureCore

/// Keeps the service's list of products up to date.
extension Engine {
    /// Returns the products from the service, or else from the device's policy. Asks the service first, if the device
    /// has stored no list from it.
    func knownCatalog() async -> Tenure.ProductCatalog? {
        load()
        if device.stored.catalog == nil {
            await refreshProducts()
            device.save()
        }
        return device.stored.catalog?.catalog ?? device.facts.policy.map { Tenure.ProductCatalog($0) }
    }

    /// Requests the list of products from the service, once a day. After a failure, the next search of the App Store
    /// tries again.
    func refreshProducts() async {
        // Several callers share one request.
        let task =
            productsTask
            ?? Task {
                await service.requestProducts()
                productsTask = nil
            }
        productsTask = task
        await task.value
    }
}
