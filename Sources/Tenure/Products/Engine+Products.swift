import Foundation
import TenureCore

extension Engine {
    /// The products from the service or from the device's policy. Asks the service if neither is known.
    func knownCatalog() async -> Tenure.ProductCatalog? {
        load()
        if device.memory.catalog == nil {
            await refreshProducts()
            device.save()
        }
        return device.memory.catalog?.catalog ?? device.facts.policy.map { Tenure.ProductCatalog($0) }
    }

    /// Asks the service which products there are, once a day. After a failure, the next search asks again.
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
