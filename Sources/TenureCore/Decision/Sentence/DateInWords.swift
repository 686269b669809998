import Foundation

extension CivilDay {
    /// The day in a sentence, such as "June 10, 2015".
    package var inWords: String { "\(Self.monthNames[(month - 1) % 12]) \(day), \(year)" }

    private static let monthNames = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
}

extension Date {
    /// The day in UTC, such as "June 10, 2015".
    var inWords: String { day?.inWords ?? "an unknown date" }

    /// The date as the end of a right: "until June 10, 2015" if the right ends during that day, "through June 9, 2015"
    /// if the right ends at midnight after June 9.
    ///
    /// - Parameter isOfDay: whether the end may be a day in the policy. The policy's `until` includes its whole day in
    ///   every time zone, so such a right ends at noon UTC of the next day.
    package func inWords(asEndOfDay isOfDay: Bool) -> String {
        guard let day else { return "until an unknown date" }
        guard secondsOfDay == 0 || (isOfDay && secondsOfDay == 43_200) else { return "until \(day.inWords)" }
        return "through \(CivilDay(number: day.number - 1).inWords)"
    }

    /// Seconds since midnight in UTC.
    var secondsOfDay: TimeInterval { timeIntervalSince1970 - (timeIntervalSince1970 / 86_400).rounded(.down) * 86_400 }

    /// The day in UTC; nil for a date too distant for a calendar.
    private var day: CivilDay? {
        let number = (timeIntervalSince1970 / 86_400).rounded(.down)
        return abs(number) < 4_000_000 ? CivilDay(number: Int(number)) : nil
    }
}
