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

    /// Sets the clock to `instant`. If an event is scheduled before `instant`, sets the clock to that event instead,
    /// and the event happens.
    ///
    /// Returns whether an event happened. The caller can then deliver the event's notifications before it calls again.
    mutating func step(to instant: Date) -> Bool {
        guard let (date, event) = scheduledEvents.next(by: instant) else {
            setClock(to: instant)
            return false
        }
        setClock(to: date)
        switch event {
        case .renewal(let subscription, let transaction):
            if isCurrent(subscription, transaction), subscriptions[subscription].state == .active,
                transactions[transaction].expiresDate == date.addingTimeInterval(Self.renewalLead),
                canRenew(subscription)
            {
                renew(subscription, recovering: false)
            }
        case .periodEnd(let subscription, let transaction):
            if isCurrent(subscription, transaction), subscriptions[subscription].state == .active,
                transactions[transaction].expiresDate == date
            {
                endPeriod(of: subscription)
            }
        case .gracePeriodEnd(let subscription, let transaction):
            if isCurrent(subscription, transaction), subscriptions[subscription].gracePeriodEnd == date {
                endGracePeriod(of: subscription)
            }
        case .billingRetryEnd(let subscription, let transaction):
            if isCurrent(subscription, transaction), subscriptions[subscription].state == .billingRetry {
                expire(subscription, .billingError)
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
}
