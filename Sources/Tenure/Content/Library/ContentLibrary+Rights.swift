import Foundation
import TenureContent
import TenureCore

/// Decides which packs the customer may use, and follows changes of these rights.
extension ContentLibrary {
    /// Returns what unlocks a pack. The newest catalog decides. If no catalog contains the pack, the description that
    /// was stored when the pack was embedded, begun or installed decides.
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
        guard let unlock = unlock(of: name) else { return false }
        return engine.customerState.allows(unlock.right)
    }

    /// Whether a search may still grant the right to a pack: the right has ended and may have been renewed, or the first
    /// search is still running.
    private func mayBeRenewed(_ name: String) -> Bool {
        guard let unlock = unlock(of: name) else { return false }
        return [.ended, .resolving].contains(engine.customerState.access(to: unlock.right))
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
            guard packsAllowedSinceStart.contains(name), unlock(of: name) != nil else { continue }
            packsAllowedSinceStart.remove(name)
            if mayBeRenewed(name) {
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

    /// Removes the request for a pack, unless the customer may use the pack after all.
    private func dropRequestWithoutRight(_ name: String) {
        guard !isAllowed(name) else { return schedule() }
        (failures[name], waits[name]) = (nil, nil)
        // A caller of `download()` may have removed the request already.
        if requests.contains(where: { $0.pack == name }) { update { $0.removeAll { $0.pack == name } } }
        if let background { Task { await background.cancel(name) } }
        schedule()
    }

    /// Schedules a check for when the next right of a product ends. Such an end doesn't change the `Customer`.
    private func scheduleTimer() {
        let next = engine.customerState.nextEnd
        guard next != timer?.at else { return }
        timer?.task.cancel()
        timer = next.map { next in
            let waitUntil = setup.waitUntil
            return (
                next,
                Task { [weak self] in
                    guard (try? await waitUntil(next)) != nil else { return }
                    await self?.timerFired(next)
                }
            )
        }
    }

    private func timerFired(_ date: Date) {
        if timer?.at == date { timer = nil }
        schedule()
    }

    /// Finishes purchases after all their packs are installed: see `Options.Finishing.afterContent`.
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
    /// The name of the right in the customer's answers.
    var right: String {
        switch self {
        case .entitlement(let name): name
        case .product(let id): Evaluation.right(ofProduct: id)
        }
    }
}
