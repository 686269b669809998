import Foundation
import TenureCore

/// In the sandbox time is short, so that a tester sees a year of renewals in an afternoon.
extension World {
    /// So often a subscription renews by itself there; then it ends.
    static let sandboxRenewals = 12

    /// When a period that begins then ends.
    func end(of period: CalendarPeriod, from start: Date) -> Date {
        environment.isProduction ? period.end(from: start) : start.addingTimeInterval(Self.sandboxLength(of: period))
    }

    /// As Apple documents it: up to three days take two minutes, weeks three, and each month five.
    private static func sandboxLength(of period: CalendarPeriod) -> TimeInterval {
        switch (period.months, period.days) {
        case (0, ...3): 2 * 60
        case (0, ..<28): 3 * 60
        case (let months, let days): 5 * 60 * max(1, Double(months) + (Double(days) / 30).rounded())
        }
    }

    /// Days that the App Store waits, for a payment or to try again: in the sandbox shorter by as much as a month is.
    func seconds(ofDays days: Double) -> TimeInterval {
        environment.isProduction ? days * 86_400 : days * (5 * 60 / 30)
    }

    /// Whether the sandbox lets it end, having renewed it often enough.
    func hasRenewedEnough(_ subscription: Int) -> Bool {
        !environment.isProduction && subscriptions[subscription].renewals >= Self.sandboxRenewals
    }
}
