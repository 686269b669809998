import Foundation

/// Rule F of Docs/decision-rules.md: what a purchase gives, and until when.
extension Purchase {
    /// Whether this is a purchase of the product. Comparing the hashes first is faster.
    func isOf(_ product: Entitlement.Product) -> Bool {
        productFingerprint == product.fingerprint && productID == product.id
    }

    /// Returns what this purchase of one of the entitlement's products gives, by Apple's rules for
    /// `currentEntitlements`.
    func answer(as product: Entitlement.Product, at index: PurchaseIndex, now: Date) -> SourceAnswer {
        if isUpgraded { return .notGranted(.upgraded(index)) }
        if let revocationDate, revocationDate <= now { return .notGranted(.refunded(index, at: revocationDate)) }
        let answer = answerByType(as: product, at: index, now: now)
        return revocationDate.map(answer.ending(at:)) ?? answer
    }

    /// Returns what the purchase gives by its type and dates, without looking at upgrades and refunds.
    private func answerByType(as product: Entitlement.Product, at index: PurchaseIndex, now: Date) -> SourceAnswer {
        switch type {
        case .consumable: return .notGranted(.consumable(index))
        // Rule F3: if the end can't be known, the answer is undetermined.
        case .unknown: return .undetermined(.unknownProductType(index))
        case .nonConsumable: return .granted(until: nil, .product(index, until: nil))
        case .autoRenewable: return subscription(at: index, now: now)
        case .nonRenewing: return nonRenewing(for: product.length, at: index, now: now)
        // Old receipts don't contain the type. A purchase with an expiration date is a subscription. A product with a
        // length in the policy is a non-renewing purchase.
        case nil:
            if expiresDate != nil { return subscription(at: index, now: now) }
            return product.length == nil
                ? .granted(until: nil, .product(index, until: nil))
                : nonRenewing(for: product.length, at: index, now: now)
        }
    }

    /// Returns what a subscription gives: until the end of its period, or of its grace period.
    private func subscription(at index: PurchaseIndex, now: Date) -> SourceAnswer {
        guard let expires = expiresDate else { return .undetermined(.noLength(index)) }
        if now < expires { return .granted(until: expires, .product(index, until: expires)) }
        if let grace = gracePeriodExpiresDate, now < grace {
            return .granted(until: grace, .gracePeriod(index, until: grace))
        }
        return .notGranted(isInBillingRetryPeriod ? .billingRetry(index) : .expired(index, at: expires))
    }

    /// Returns what a non-renewing purchase gives: for the length in the policy, from the purchase on.
    private func nonRenewing(for length: CalendarPeriod?, at index: PurchaseIndex, now: Date) -> SourceAnswer {
        guard let length, let start = purchaseDate else { return .undetermined(.noLength(index)) }
        let end = length.end(from: start)
        return now < end ? .granted(until: end, .product(index, until: end)) : .notGranted(.expired(index, at: end))
    }
}
