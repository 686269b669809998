import Foundation
import TenureCore

/// The sandbox's short periods, in which a tester sees a year of renewals in an afternoon.
extension AppStoreState {
    /// The end of a period that begins then.
    func end(of period: CalendarPeriod, from start: Date) -> Date {
        environment.isProduction ? period.end(from: start) : start.addingTimeInterval(sandboxLength(of: period))
    }

    private func sandboxLength(of period: CalendarPeriod) -> TimeInterval {
        switch (period.months, period.days) {
        case (0, ...3): sandboxPeriods.days
        case (0, ..<28): sandboxPeriods.weeks
        case (let months, let days): sandboxPeriods.month * max(1, Double(months) + (Double(days) / 30).rounded())
        }
    }

    /// The days that the App Store waits for a payment, or to try again.
    func seconds(ofDays days: Double) -> TimeInterval {
        days * (environment.isProduction ? 86_400 : sandboxPeriods.waitingDay)
    }

    /// Whether the sandbox lets the subscription end after its number of renewals.
    func hasRenewedEnough(_ subscription: Int) -> Bool {
        !environment.isProduction && subscriptions[subscription].renewals >= sandboxPeriods.renewals
    }
}
