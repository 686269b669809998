import Foundation

/// Rule F: what one purchase gives of an entitlement, by Apple's rules for `currentEntitlements`.
struct ProductSource {
    let purchase: Purchase
    let product: Entitlement.Product

    func answer(at now: Date) -> SourceAnswer {
        let id = product.id
        if purchase.isUpgraded { return .nothing(.upgraded(id: id)) }
        let answer = answerByType(at: now)
        guard let revocation = purchase.revocationDate, case .gives(let until, let reason) = answer else {
            return purchase.revocationDate.map { $0 <= now ? .nothing(.refunded(id: id, at: $0)) : answer } ?? answer
        }
        if revocation <= now { return .nothing(.refunded(id: id, at: revocation)) }
        return until.outlasts(revocation) ? .gives(until: revocation, reason) : answer
    }

    private func answerByType(at now: Date) -> SourceAnswer {
        let id = product.id
        switch purchase.type {
        case .consumable: return .nothing(.consumable(id: id))
        case .unknown: return .nothing(.unknownProductType(id: id))
        case .nonConsumable: return .gives(until: nil, .product(id: id, until: nil))
        case .autoRenewable: return subscription(at: now)
        case .nonRenewing: return nonRenewing(at: now)
        // Old receipts do not name the type: what expires is a subscription, and what the policy gives a length runs.
        case nil:
            if purchase.expiresDate != nil { return subscription(at: now) }
            return product.length == nil ? .gives(until: nil, .product(id: id, until: nil)) : nonRenewing(at: now)
        }
    }

    private func subscription(at now: Date) -> SourceAnswer {
        let id = product.id
        // Without an end nobody can tell that the period runs.
        guard let expires = purchase.expiresDate else { return .nothing(.noLength(id: id)) }
        if now < expires { return .gives(until: expires, .product(id: id, until: expires)) }
        if let grace = purchase.gracePeriodExpiresDate, now < grace {
            return .gives(until: grace, .gracePeriod(id: id, until: grace))
        }
        return .nothing(purchase.isInBillingRetryPeriod ? .billingRetry(id: id) : .expired(id: id, at: expires))
    }

    private func nonRenewing(at now: Date) -> SourceAnswer {
        let id = product.id
        guard let length = product.length, let start = purchase.purchaseDate else { return .nothing(.noLength(id: id)) }
        let end = length.end(from: start)
        return now < end ? .gives(until: end, .product(id: id, until: end)) : .nothing(.expired(id: id, at: end))
    }
}
