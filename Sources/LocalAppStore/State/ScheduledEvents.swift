import Foundation

/// Events, such as renewals, that happen by themselves when the local App Store's clock reaches their instant. Events
/// of one instant happen in the order in which they were scheduled.
struct ScheduledEvents: Sendable {
    /// An event. An event of a subscription contains the subscription's latest transaction at the time of scheduling.
    /// The event is skipped if the subscription has since got another transaction, another state, or another end of
    /// its period.
    enum Event: Sendable, Hashable {
        /// A subscription is charged shortly before its period ends.
        case renewal(subscription: Int, transaction: Int)
        /// A subscription's period ends. If it wasn't renewed before, it is renewed now or ends.
        case periodEnd(subscription: Int, transaction: Int)
        /// The grace period after a failed charge ends.
        case gracePeriodEnd(subscription: Int, transaction: Int)
        /// The App Store stops trying to charge.
        case billingRetryEnd(subscription: Int, transaction: Int)
        /// The App Store tries again to deliver a notification.
        case delivery(notification: Int)
    }

    private struct Entry: Sendable {
        let date: Date
        /// The number of events that were scheduled before this one.
        let number: Int
        let event: Event

        func isBefore(_ other: Entry) -> Bool { (date, number) < (other.date, other.number) }
    }

    /// A binary heap: the entry at index i is before the entries at 2i + 1 and 2i + 2, so the first entry is due next.
    private var entries: [Entry] = []
    private var scheduledCount = 0

    mutating func schedule(_ event: Event, at date: Date) {
        entries.append(Entry(date: date, number: scheduledCount, event: event))
        scheduledCount += 1
        var index = entries.count - 1
        while index > 0, entries[index].isBefore(entries[(index - 1) / 2]) {
            entries.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    /// Removes and returns the first event that is due by `date`.
    mutating func next(by date: Date) -> (date: Date, event: Event)? {
        guard let first = entries.first, first.date <= date else { return nil }
        let last = entries.removeLast()
        guard !entries.isEmpty else { return (first.date, first.event) }
        entries[0] = last
        var index = 0
        while true {
            var smallest = index
            for child in [2 * index + 1, 2 * index + 2]
            where child < entries.count && entries[child].isBefore(entries[smallest]) {
                smallest = child
            }
            if smallest == index { break }
            entries.swapAt(index, smallest)
            index = smallest
        }
        return (first.date, first.event)
    }
}
