import Foundation

/// Whether one source (an acquisition of the app, a product, support, a promise) gives one entitlement, and until when.
enum SourceAnswer {
    /// The source gives the entitlement until this time. Nil if the source gives it permanently.
    case granted(until: Date?, Finding)
    /// The evidence isn't sufficient to tell whether the source gives the entitlement.
    case undetermined(Finding)
    /// The source doesn't give the entitlement.
    case notGranted(Finding)

    /// The reason for the answer.
    var finding: Finding {
        switch self {
        case .granted(_, let finding), .undetermined(let finding), .notGranted(let finding): finding
        }
    }

    /// Returns the answer that is better for the customer. If both answers are equally good, returns the first answer.
    static func best(_ first: SourceAnswer?, _ second: SourceAnswer?) -> SourceAnswer? {
        guard let second else { return first }
        guard let first else { return second }
        return second.isBetter(than: first) ? second : first
    }

    /// Returns this answer with an end no later than `end`. Without an end (nil), the answer doesn't change.
    func ending(at end: Date?) -> SourceAnswer {
        guard let end, case .granted(let until, let finding) = self, until.outlasts(end) else { return self }
        return .granted(until: end, finding)
    }

    /// Whether both answers give nothing, and only the other answer has the reason `eraNotHonored`. Any other reason,
    /// such as an honor that has ended, tells the customer more.
    func isMoreInformative(than other: SourceAnswer) -> Bool {
        guard case .notGranted(let mine) = self, case .notGranted(.eraNotHonored) = other else { return false }
        if case .eraNotHonored = mine { return false }
        return true
    }

    /// Whether this answer is better for the customer than the other answer. A grant is better than an undetermined
    /// answer, which is better than an answer that gives nothing. Of two grants, the grant with the later end is
    /// better.
    func isBetter(than other: SourceAnswer) -> Bool {
        switch (self, other) {
        case (.granted(let mine, _), .granted(let others, _)): mine.outlasts(others)
        case (.granted, _): true
        case (.undetermined, .notGranted): true
        default: false
        }
    }

    /// Returns a grant with another reason. Other answers don't change.
    func explained(by finding: Finding) -> SourceAnswer {
        guard case .granted(let until, _) = self else { return self }
        return .granted(until: until, finding)
    }
}

extension Date? {
    /// Whether this end of a right is later than the other end; nil means permanent.
    func outlasts(_ other: Date?) -> Bool {
        guard let other else { return false }
        guard let self else { return true }
        return self > other
    }

    /// Whether a right with this end is still valid. At the time of its end, the right isn't valid anymore.
    func isStillValid(at now: Date) -> Bool { self.map { now < $0 } ?? true }
}

extension Purchase {
    /// Whether this is a purchase of the product. Comparing the hashes first is faster.
    func isOf(_ product: Entitlement.Product) -> Bool {
        productFingerprint == product.fingerprint && productID == product.id
    }

    /// Rule F of Docs/decision-rules.md: what this purchase of one of the entitlement's products gives, by
    /// Apple's rules for `currentEntitlements`.
    func answer(as product: Entitlement.Product, at index: PurchaseIndex, now: Date) -> SourceAnswer {
        if isUpgraded { return .notGranted(.upgraded(index)) }
        if let revocationDate, revocationDate <= now { return .notGranted(.refunded(index, at: revocationDate)) }
        let answer = answerByType(as: product, at: index, now: now)
        return revocationDate.map(answer.ending(at:)) ?? answer
    }

    /// Returns what the purchase gives if it was neither upgraded nor refunded.
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

/// Rule H3 of Docs/decision-rules.md: when a promise ends.
extension Promise {
    /// Returns what the promise gives; nil if `until` has passed.
    ///
    /// A refund or the end of a license ends the promise, too, by the policy under which it was made. The version and
    /// the date of the acquisition don't matter anymore, and neither do other acquisitions.
    func answer(for acquisitions: [Acquisition], at now: Date) -> SourceAnswer? {
        guard until.isStillValid(at: now) else { return nil }
        let promised = SourceAnswer.granted(until: until, .promise(until: until))
        let entitlement = policy.entitlement(named: entitlement) ?? Entitlement(name: entitlement)
        var best: SourceAnswer?
        // If the promise has no ID, several acquisitions can match by date. Use the best answer.
        for candidate in acquisitions where candidate.key.matches(acquisition) {
            let endings = Endings(
                acquisition: candidate, timelines: policy.timelines.possible(for: candidate.originalPlatform),
                policy: policy, now: now)
            best = SourceAnswer.best(best, endings.apply(to: promised, for: entitlement))
        }
        switch best ?? promised {
        case .granted(let end, _): return .granted(until: end, .promise(until: end))
        case .undetermined(let finding): return .undetermined(finding)
        case .notGranted: return .notGranted(.promiseEnded)
        }
    }
}
