import Foundation
import TenureCore

extension Engine {
    /// The products from the service or from the device's policy. Asks the service if neither is known.
    func knownCatalog() async -> Tenure.ProductCatalog? {
        load()
        if memory.catalog == nil {
            await refreshProducts()
            save()
        }
        return memory.catalog?.catalog ?? policy.map { Tenure.ProductCatalog($0) }
    }

    /// The app's products, as far as they are known.
    var productIDs: [String] {
        let known = policy?.entitlements.flatMap { $0.products.map(\.id) } ?? []
        return known.isEmpty ? memory.catalog?.catalog?.ids ?? [] : Array(Set(known)).sorted()
    }

    /// Asks the service which products there are, once a day. After a failure, the next search asks again.
    func refreshProducts() async {
        // Several callers share one request.
        let task = productsTask ?? Task { await requestProducts() }
        productsTask = task
        await task.value
    }

    private func requestProducts() async {
        defer { productsTask = nil }
        guard let service = setup.service else { return }
        let isWanted = areProductsWanted
        areProductsWanted = false
        let clock = setup.clock()
        // If this release can't read the stored list, it fetches the whole list again.
        let known = memory.catalog.flatMap { $0.catalog == nil ? nil : $0 }
        if !isWanted, let asked = known?.askedAt, abs(clock.timeIntervalSince(asked)) < Self.productsWait { return }
        do throws(ServiceFailure) {
            switch try await service.products(unlessTagged: known?.tag) {
            case .unchanged: memory.catalog?.askedAt = clock
            case .told(let text, let tag):
                memory.catalog = CachedCatalog(text: text, tag: tag, askedAt: clock)
            }
        } catch {
            setup.options.log.info("the service did not return its products: \(error)")
        }
    }

    /// Somewhat less than a day, so that an app that opens once a day asks each time.
    private static let productsWait: TimeInterval = 82_800
}
