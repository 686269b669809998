import Foundation
import TenureJSON
import Testing

@testable import TenureCore

@Suite struct CalendarPeriodTests {
    @Test(arguments: [
        ("P1Y", "2015-06-10T18:00:00Z", "2016-06-10T18:00:00Z"),
        ("P1M", "2015-01-31", "2015-02-28"),
        ("P1M", "2016-01-31", "2016-02-29"),
        ("P1Y", "2016-02-29", "2017-02-28"),
        ("P3M", "2015-11-15", "2016-02-15"),
        ("P2W", "2015-12-25", "2016-01-08"),
        ("P1Y2M3D", "2015-01-01", "2016-03-04"),
        ("P1M", "1969-12-31T23:59:59Z", "1970-01-31T23:59:59Z"),
    ])
    func `a calendar period ends at the time of day at which it began, on a day that exists`(
        period: String, from: String, to: String
    ) throws {
        let period = try #require(CalendarPeriod(iso8601: period))
        #expect(period.end(from: date(from)) == date(to))
    }

    @Test(arguments: [
        "", "P", "P0D", "1Y", "P1", "P1H", "PT1H", "P1D1Y", "P1Y1Y", "P-1Y", "P123456D", "p1y", "P1.5Y",
        // In days or months, these periods have more digits than a period may have.
        "P14286W", "P99999W99999D", "P99999Y12M",
    ])
    func `a string that isn't a calendar period is refused`(text: String) {
        #expect(CalendarPeriod(iso8601: text) == nil)
    }

    @Test(arguments: ["P1Y", "P3M", "P14D", "P1Y2M3D", "P99999Y11M99999D"])
    func `a calendar period is written as it was read`(text: String) {
        #expect(CalendarPeriod(iso8601: text)?.iso8601 == text)
    }

    @Test(arguments: [
        ("9999-12-31T23:59:59Z", true), ("9999-12-31T23:59:59-08:00", false), ("0000-01-01T00:00:00Z", true),
        ("0000-01-01T00:00:00+01:00", false), ("9999-12-31T23:59:60Z", false),
        ("9999-12-31T23:59:59.999999999Z", true),
    ])
    func `an instant is read only if its year has four digits`(text: String, isRead: Bool) {
        let instant = Date(rfc3339: text)
        #expect((instant != nil) == isRead)
        if let instant { #expect(Date(rfc3339: instant.rfc3339) == instant) }
    }

    @Test func `the calendar counts every day from 1600 to 2400 once`() {
        var previous = CivilDay(year: 1599, month: 12, day: 31)
        for number in previous.number + 1...CivilDay(year: 2400, month: 12, day: 31).number {
            let day = CivilDay(number: number)
            #expect(day.number == number)
            let follows =
                day.day == previous.day + 1 && day.month == previous.month
                || day.day == 1
                    && previous.day == GregorianCalendar.length(ofMonth: previous.month, year: previous.year)
            #expect(follows && previous < day)
            previous = day
        }
        #expect(CivilDay("1970-01-01")?.number == 0)
        #expect(CivilDay("2015-02-29") == nil && CivilDay("2015-13-01") == nil && CivilDay("2015-1-01") == nil)
        #expect(CivilDay("2015-06-00") == nil && CivilDay("2015-00-10") == nil)
    }

    @Test func `adding a calendar period to a date beyond the calendar's range doesn't change the date`() throws {
        let period = try #require(CalendarPeriod(iso8601: "P1Y"))
        let far = Date(timeIntervalSince1970: 1e300)
        #expect(period.end(from: far) == far)
    }

    // RFC 3339 has no later year, so clients couldn't read the date.
    @Test func `no day or calendar period ends after the year 9999`() throws {
        let day = try #require(CivilDay("9999-12-31"))
        #expect(day.lastEnd.rfc3339 == "9999-12-31T23:59:59Z")
        #expect(try #require(CivilDay("9999-12-30")).lastEnd.rfc3339 == "9999-12-31T12:00:00Z")
        for text in ["P9000Y", "P99999Y11M99999D"] {
            let end = try #require(CalendarPeriod(iso8601: text)).end(from: date("2015-06-10"))
            #expect(end.rfc3339 == "9999-12-31T23:59:59Z")
        }
    }
}
