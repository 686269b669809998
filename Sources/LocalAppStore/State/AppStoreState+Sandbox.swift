import Foundation
import TenureCore

/// The sandbox's short periods, in which a tester sees a year of renewals in an afternoon.
extension AppStoreState {
    /// Returns the end of a period that begins at `start`.
    func end(of period: CalendarPeriod, from start: Date) -> Date {
        environment.isProduction ? period.end(from: start) : start.addingTimeInterval(sandboxLength(of: period))
    }

    /// Returns how long a period lasts in the sandbox, in seconds.
    private func sandboxLength(of period: CalendarPeriod) -> TimeInterval {
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
