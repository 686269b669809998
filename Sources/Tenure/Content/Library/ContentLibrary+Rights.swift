import Foundation
import TenureContent

/// Decides which packs the customer may use, and follows changes of these rights. The engine finds out about rights in
/// a *search*: it reads the App Store, and asks the service if there is one.
extension ContentLibrary {
    /// Returns what unlocks a pack: an entitlement or a product. Nil if no pack has this name, or if the engine doesn't
    /// decide about the product yet.
    ///
    /// The newest catalog decides. If no catalog contains the pack, the description that was stored when the pack was
    /// embedded, begun or installed decides.
    func unlock(of name: String) -> ContentCatalog.Unlock? {
        let unlock = describedUnlock(of: name)
        if case .product(let id)? = unlock, !followedProducts.contains(id) { return nil }
        return unlock
    }

    /// Like `unlock(of:)`, but also returns a product about which the engine doesn't decide yet.
    private func describedUnlock(of name: String) -> ContentCatalog.Unlock? {
        catalogs.pack(name)?.unlock ?? catalogs.embedded(name)?.pack.unlock ?? plans[name]?.description.unlock
            ?? installed[name]?.description.unlock
    }

    /// Whether the customer may download and open a pack.
    func isAllowed(_ name: String) -> Bool {
        unlock(of: name).map { engine.customerState.allows($0.right) } ?? false
    }

    /// Searches if the right to a pack has ended, or waits for the first search: see `Engine.search(afterEndOf:)`.
    func checkEndedRight(to name: String) async {
        if let unlock = unlock(of: name) { await engine.search(afterEndOf: unlock.right) }
    }

    /// Records which packs the customer may use, and removes requests for packs after their right has ended. After a
    /// new purchase, the app has to request the pack again.
    func followRights() {
        for name in Set(requests.map(\.pack)).union(packsAllowedSinceStart) {
            if isAllowed(name) {
                packsAllowedSinceStart.insert(name)
                continue
            }
            guard packsAllowedSinceStart.contains(name), let unlock = unlock(of: name) else { continue }
            packsAllowedSinceStart.remove(name)
            // A search may still grant the right: the right has ended and may have been renewed, or the first search is
            // still running.
            if [.ended, .resolving].contains(engine.customerState.access(to: unlock.right)) {
                Task { [weak self] in
                    await self?.checkEndedRight(to: name)
                    await self?.dropRequestWithoutRight(name)
                }
            } else {
                dropRequestWithoutRight(name)
            }
        }
        scheduleTimer()
    }

    /// Removes the request for a pack, unless the customer may use the pack again.
    private func dropRequestWithoutRight(_ name: String) {
        guard !isAllowed(name) else { return schedule() }
        (failures[name], waits[name]) = (nil, nil)
        // A caller of `download()` may have removed the request already.
        if requests.contains(where: { $0.pack == name }) { update { $0.removeAll { $0.pack == name } } }
        if let background { Task { await background.cancel(name) } }
        schedule()
    }

    /// Schedules a check for the time when the next right ends. The end of the right to a product doesn't change the
    /// `Customer`, so `followCustomer` doesn't notice it.
    private func scheduleTimer() {
        let next = engine.customerState.nextEnd
        guard next != timer?.at else { return }
        timer?.task.cancel()
        timer = nil
        guard let next else { return }
        let waitUntil = setup.waitUntil
        let task = Task { [weak self] in
            guard (try? await waitUntil(next)) != nil else { return }
            await self?.timerFired(next)
        }
        timer = (next, task)
    }

    private func timerFired(_ date: Date) {
        if timer?.at == date { timer = nil }
        schedule()
    }

    /// Finishes the transactions of a product after all its packs are installed, if `Options.Finishing.afterContent`
    /// names the product.
    func finishPurchases() async {
        // A source that hasn't listed its packs yet may have more packs for the product.
        guard case .afterContent(let products) = setup.options.finishing, isUsed, catalogs.areComplete else { return }
        let waiting = await engine.undelivered(products)
        guard !waiting.isEmpty, let productCatalog = await engine.knownCatalog() else { return }
        let names = Set(catalogs.packs.map(\.name)).union(catalogs.embedded.keys).union(installed.keys)
        for product in waiting.sorted() {
            let grants = Set(productCatalog.grants(of: product).map(\.entitlement))
            let unlocked = names.filter { name in
                switch describedUnlock(of: name) {
                case .entitlement(let name): grants.contains(name)
                case .product(let id): id == product
                case nil: false
                }
            }
            guard !unlocked.isEmpty, unlocked.allSatisfy({ packInUse($0) != nil }) else { continue }
            await engine.contentArrived(forProduct: product)
        }
    }
}

extension ContentCatalog.Unlock {
    /// The name of the entitlement or product in the engine's answers.
    var right: String {
        switch self {
        case .entitlement(let name): name
        case .product(let id): Evaluation.right(ofProduct: id)
        }
    }
}
