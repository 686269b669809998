package import Foundation
import TenureAppStore
import TenureCore

/// Time passes, and scheduled events happen.
extension AppStoreState {
    /// How many seconds before the next period a renewal is charged and signed, as observed for one subscription in
    /// Apple's sandbox.
    static let renewalLead: TimeInterval = 33
    /// The number of days for which the App Store tries to charge a failed renewal.
    static let billingRetryDays: Double = 60
    /// The pauses between attempts to deliver a notification in production, in seconds.
    static let deliveryPauses: [TimeInterval] = [1, 12, 24, 48, 72].map { $0 * 3600 }

    /// Sets the clock to `instant`. If an event is due by `instant`, sets the clock to that event's time instead, and
    /// the event happens.
    ///
    /// Returns whether an event happened. The caller can then deliver the event's notifications before it calls again.
    mutating func step(to instant: Date) -> Bool {
        guard let (date, event) = scheduledEvents.next(by: instant) else {
            setClock(to: instant)
            return false
        }
        setClock(to: date)
        switch event {
        case .renewal(let index, let transaction):
            // The period ends after the renewal is charged.
            let end = date.addingTimeInterval(Self.renewalLead)
            if isActive(index, transaction, until: end), canRenew(index) { renew(index, recovering: false) }
        case .periodEnd(let index, let transaction):
            if isActive(index, transaction, until: date) { endPeriod(of: index) }
        case .gracePeriodEnd(let index, let transaction):
            if isCurrent(index, transaction), subscriptions[index].gracePeriodEnd == date { endGracePeriod(of: index) }
        case .billingRetryEnd(let index, let transaction):
            if isCurrent(index, transaction), subscriptions[index].state == .billingRetry {
                expire(index, .billingError)
            }
        case .delivery(let notification): outbox.append(notification)
        }
        return true
    }

    /// Sets the clock to `instant`, and lets all events until then happen. Delivers no notifications.
    package mutating func advance(to instant: Date) { while step(to: instant) {} }

    /// Whether an event that was scheduled for this transaction still applies. Subscriptions that the family shares
    /// have no events: they follow the purchaser's subscription.
    private func isCurrent(_ subscription: Int, _ transaction: Int) -> Bool {
        subscriptions[subscription].currentTransaction == transaction && subscriptions[subscription].sharedFrom == nil
    }

    /// Whether the subscription still runs in the period that this transaction pays for, and the period ends at `end`.
    private func isActive(_ subscription: Int, _ transaction: Int, until end: Date) -> Bool {
        isCurrent(subscription, transaction) && subscriptions[subscription].state == .active
            && transactions[transaction].expiresDate == end
    }

    // MARK: Deliveries

    /// Returns the indexes of the notifications to deliver now, and empties `outbox`.
    mutating func takeOutbox() -> [Int] {
        defer { outbox = [] }
        return outbox
    }

    /// Records the outcome of an attempt to deliver a notification. Production tries again 1, 12, 24, 48 and 72 hours
    /// after the previous attempt.
    mutating func recordAttempt(_ result: SendAttemptResult, of notification: Int) {
        guard notifications.indices.contains(notification) else { return }
        outbox.removeAll { $0 == notification }
        notifications[notification].attempts.append(SendAttempt(date: now, result: result))
        let attempts = notifications[notification].attempts.count
        guard environment.isProduction, result != .success, attempts <= Self.deliveryPauses.count else { return }
        scheduledEvents.schedule(
            .delivery(notification: notification), at: now.addingTimeInterval(Self.deliveryPauses[attempts - 1]))
    }

    // MARK: The sandbox's short periods

    /// Returns the end of a period that begins at `start`.
    func end(of period: CalendarPeriod, from start: Date) -> Date {
        environment.isProduction ? period.end(from: start) : start.addingTimeInterval(sandboxLength(of: period))
    }

    /// Returns how long a period lasts in the sandbox, in seconds.
    private func sandboxLength(of period: CalendarPeriod) -> TimeInterval {
        // A length of 28 days or more counts as months.
        switch (period.months, period.days) {
        case (0, ...3): sandboxPeriods.days
        case (0, ..<28): sandboxPeriods.weeks
        case (let months, let days): sandboxPeriods.month * max(1, Double(months) + (Double(days) / 30).rounded())
        }
    }

    /// Returns how long `days` of a grace period or of billing retry last, in seconds. The sandbox shortens each day.
    func seconds(ofDays days: Double) -> TimeInterval {
        days * (environment.isProduction ? 86_400 : sandboxPeriods.waitingDay)
    }

    /// Whether the subscription has had all the renewals that the sandbox allows, so that it ends now.
    func hasRenewedEnough(_ index: Int) -> Bool {
        !environment.isProduction && subscriptions[index].renewals >= sandboxPeriods.renewals
    }
}

/// The short periods of the sandbox, with which a tester sees a year of renewals in an afternoon. The defaults are as
/// Apple documents them; `Docs/local-app-store.md` lists the assumptions.
///
/// All lengths are in seconds.
package struct SandboxPeriods: Codable, Sendable, Hashable {
    /// The length of a period of up to three days.
    var days: TimeInterval = 2 * 60
    /// The length of a period of weeks.
    var weeks: TimeInterval = 3 * 60
    /// The length of each month of a period; a year has twelve.
    var month: TimeInterval = 5 * 60
    /// The length of each day of a grace period or of billing retry. Apple doesn't document it, so it is a thirtieth of
    /// the default `month`.
    var waitingDay: TimeInterval = 5 * 60 / 30
    /// How many times a subscription renews by itself before it ends.
    var renewals = 12

    /// The shortest allowed period. It must be longer than `AppStoreState.renewalLead`, because a renewal is charged
    /// that long before the period ends.
    static let minimumPeriod: TimeInterval = 60
}
