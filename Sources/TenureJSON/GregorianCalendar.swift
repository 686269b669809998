/// Arithmetic of the proleptic Gregorian calendar. A day number counts days since 1970-01-01.
///
/// The computations use years that begin in March, so that a leap day is a year's last day, and cycles of 400 years,
/// which all have 146,097 days. There are 719,468 days from March 1 of the year 0 to 1970-01-01. With March as month 0,
/// there are `(153 * month + 2) / 5` days before a month. These are the algorithms `days_from_civil` and
/// `civil_from_days` by Howard Hinnant.
package enum GregorianCalendar {
    /// Returns the day number of a date.
    package static func dayNumber(year: Int, month: Int, day: Int) -> Int {
        let marchYear = month <= 2 ? year - 1 : year
        let cycle = Int((Double(marchYear) / 400).rounded(.down))
        let yearOfCycle = marchYear - cycle * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return cycle * 146_097 + yearOfCycle * 365 + yearOfCycle / 4 - yearOfCycle / 100 + dayOfYear - 719_468
    }

    /// Returns the date of a day number.
    package static func date(dayNumber number: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = number + 719_468
        let cycle = Int((Double(shifted) / 146_097).rounded(.down))
        let dayOfCycle = shifted - cycle * 146_097
        let yearOfCycle = (dayOfCycle - dayOfCycle / 1_460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
        let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfCycle + cycle * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    /// Returns the number of days in a month.
    package static func length(ofMonth month: Int, year: Int) -> Int {
        switch month {
        case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension Int {
    /// The number with leading zeros.
    package func padded(to width: Int) -> String {
        let digits = String(self)
        return String(repeating: "0", count: Swift.max(0, width - digits.count)) + digits
    }
}
