import Foundation
import TenureCore
import Testing

@testable import TenureRehearsal

/// The axes, the rows and the numbers of the charts on a rehearsal page.
struct ScaleTests {
    private func month(_ text: String) -> Month { Month(of: Population.date(text + "-01")) }

    private func scale(_ months: [String], changes: [String] = []) -> TimeScale? {
        TimeScale(months: months.map(month), changes: changes.map(Population.date), left: 40, width: 120)
    }

    @Test(
        arguments: [
            (0, [0, 1]), (4, [0, 1, 2, 3, 4]), (5, [0, 1, 2, 3, 4, 5]), (6, [0, 2, 4, 6]), (8, [0, 2, 4, 6, 8]),
            (9, [0, 5, 10]), (20, [0, 5, 10, 15, 20]), (21, [0, 10, 20, 30]), (50, [0, 10, 20, 30, 40, 50]),
            (51, [0, 20, 40, 60]),
        ] as [(Int, [Int])])
    func `the vertical axis of a rehearsal chart has few round numbers, up to at least the highest bar`(
        highest: Int, ticks: [Int]
    ) {
        let scale = CountScale(upTo: highest)
        #expect(scale.ticks == ticks && scale.top == ticks.last)
    }

    @Test func `a rehearsal chart of a single month shows a year around it`() throws {
        let scale = try #require(self.scale(["2014-05"]))
        #expect(scale.count == 12 && scale.unit == 1 && scale.unitName == "month")
        #expect(scale.title(ofBar: 0) == "Dec 2013" && scale.title(ofBar: 11) == "Nov 2014")
        let bars = ["2013-11", "2013-12", "2014-05", "2014-11", "2014-12"].map { scale.bar(of: month($0)) }
        #expect(bars == [nil, 0, 5, 11, nil])
        #expect(scale.bar(of: .unknown) == nil)
        #expect(scale.step == 10 && scale.x(ofBar: 5) == 90)
        #expect(scale.position(of: Population.date("2014-01-01")) == 50)
        #expect(scale.position(of: Population.date("2014-01-16T12:00:00Z")) == 55)
        // Dates that aren't in a single month are outside of the chart.
        #expect(scale.position(of: Population.date("2001-01-01")) == 39)
        #expect(scale.position(of: Population.date("2150-01-01")) == 161)
        #expect(scale.axis(at: 0).contains("<text class=\"tick\" x=\"52\" y=\"13\">2014</text>"))
    }

    @Test(
        arguments: [
            (["2010-01", "2014-06"], 1, 54, "Jan 2010", "Jun 2014"),
            (["2010-01", "2014-07"], 3, 19, "Q1 2010", "Q3 2014"),
            (["2010-02", "2023-09"], 3, 55, "Q1 2010", "Q3 2023"),
            (["2010-02", "2023-10"], 12, 14, "2010", "2023"),
            // Only the last 360 months fit into a chart.
            (["2008-07", "2040-01"], 12, 31, "2010", "2040"),
        ] as [([String], Int, Int, String, String)])
    func `the bars of a rehearsal chart are months, quarters or years, depending on its length`(
        months: [String], unit: Int, count: Int, first: String, last: String
    ) throws {
        let scale = try #require(self.scale(months))
        #expect(scale.unit == unit && scale.count == count)
        #expect(scale.title(ofBar: 0) == first && scale.title(ofBar: count - 1) == last)
        #expect(scale.unitName == [1: "month", 3: "quarter", 12: "year"][unit])
        #expect(scale.bar(of: month(months[1])) == count - 1)
    }

    @Test(
        arguments: [
            ("2015-05-31", "May 2014", 13), ("2015-06-01", "Dec 2013", 12), ("2013-05-01", "May 2013", 13),
            ("2013-04-30", "Dec 2013", 12),
        ])
    func `a rehearsal chart includes the beginning of an era up to twelve months from its customers`(
        change: String, first: String, count: Int
    ) throws {
        let scale = try #require(self.scale(["2014-05"], changes: [change]))
        #expect(scale.title(ofBar: 0) == first && scale.count == count)
    }

    @Test func `customers without a purchase date in a known month have no chart`() {
        let months = [Month.unknown, .earlier, .later]
        #expect(TimeScale(months: months, changes: [Population.now], left: 0, width: 1) == nil)
    }

    @Test(
        arguments: [
            (nil, "unknown", false), ("2008-06-30T23:59:59Z", "before 2008-07", false),
            ("2008-07-01", "2008-07", true), ("2014-10-31T23:59:59Z", "2014-10", true),
            ("2099-12-31T23:59:59Z", "2099-12", true), ("2100-01-01", "after 2099", false),
        ] as [(String?, String, Bool)])
    func `rehearsals group customers by the calendar month in UTC from July 2008 to December 2099`(
        date: String?, text: String, isCertain: Bool
    ) {
        let month = Month(of: date.map(Population.date))
        #expect(month.description == text && month.isCertain == isCertain)
    }

    @Test
    func `a rehearsal chart divides many versions into rows of about equal size, with a new row at each boundary`()
        throws
    {
        let boundary = try #require(AppVersion("11"))
        func titles(_ count: Int, also others: [Place.Version] = []) -> [String] {
            let versions = (1...count).map { Place.Version.version("\($0)") }
            return VersionRows((versions + others).reversed(), boundaries: [boundary], maximum: 7).rows.map(\.title)
        }
        #expect(titles(7) == ["1", "2", "3", "4", "5", "6", "7"])
        #expect(titles(8) == ["1", "2", "3", "4", "5", "6", "7–8"])
        #expect(
            titles(20, also: [.other, .none, .malformed])
                == ["1–3", "4–6", "7–10", "11–13", "14–16", "17–20", "malformed", "none", "other"])
        // Each era has at least one row.
        #expect(titles(11).last == "11")
        let rows = VersionRows([Place.Version.version("12"), .other], boundaries: [boundary], maximum: 7).rows
        #expect(rows.map(\.lowest) == [AppVersion("12"), nil])
    }

    @Test(
        arguments: [
            (12, "12"), (-0.5, "-0.5"), (3.25, "3.25"), (3.05, "3.05"), (-0.001, "0"), (1e10, "0"),
            (9_999_999_999.99, "9999999999.99"), (.nan, "0"), (.infinity, "0"),
        ] as [(Double, String)])
    func `a coordinate in a rehearsal chart has at most two decimals`(value: Double, text: String) {
        #expect(value.svg == text)
    }

    @Test(
        arguments: [
            (0, "0"), (940, "940"), (1000, "1k"), (2500, "2.5k"), (20_000, "20k"), (500_000, "500k"),
            (1_000_000, "1M"), (2_500_000, "2.5M"), (999, "999"), (1_049, "1k"), (9_949, "9.9k"), (9_960, "10k"),
            (12_345, "12k"), (12_600, "13k"), (999_400, "999k"), (999_500, "1M"), (25_000_000, "25M"),
        ] as [(Int, String)])
    func `the axis of a rehearsal chart has short numbers`(number: Int, text: String) {
        #expect(number.brief == text)
    }

    @Test(
        arguments: [
            ("2015-06-10", "June 10, 2015"), ("2015-06-10T00:00:59Z", "June 10, 2015"),
            ("2015-06-10T00:01:00Z", "June 10, 2015, 00:01 UTC"), ("2015-06-10T18:00:00Z", "June 10, 2015, 18:00 UTC"),
            ("2015-06-10T23:59:59Z", "June 10, 2015, 23:59 UTC"),
        ])
    func `a date in a rehearsal report has its time unless it is midnight`(date: String, text: String) {
        #expect(Population.date(date).readable == text)
    }

    @Test func `the note under a rehearsal chart names the eras without a date`() throws {
        let policy = try Population.policy(freeFrom: "120")
        #expect(
            EraSpans(of: policy, on: .iOS)?.caption == "The policy has no date for the beginning of free.")
        #expect(EraSpans(of: policy, on: nil) == nil)
    }

    @Test func `an era without a date may be among those before the first dated era, and never among those after it`()
        throws
    {
        func caption(_ begins: [Platform: Beginning]...) throws -> String? {
            let later = begins.enumerated().map { number, begins in
                Era(name: "era\(number)", model: .free, begins: begins, changeover: .noWindow)
            }
            let policy = try Policy(
                app: .init(bundleID: "com.example.calculator", appleID: 828_838_134),
                eras: [Era(name: "paid", model: .paid)] + later, buildNumbers: .increasing,
                entitlements: [Entitlement(name: "everything", honors: [Honor(era: "paid")])])
            return EraSpans(of: policy, on: .iOS)?.caption
        }
        let build = [Platform.iOS: Beginning.at(version: AppVersion("50"), date: nil)]
        let day = [Platform.iOS: Beginning.at(version: AppVersion("60"), date: Population.date("2015-06-10"))]
        let later = [Platform.iOS: Beginning.at(version: AppVersion("70"), date: nil)]
        let note = "The policy has no date for the beginning of"
        #expect(
            try caption(build, day) == "Eras: paid / era0 until June 10, 2015; era1 since then. \(note) era0.")
        #expect(
            try caption(day, later) == "Eras: paid until June 10, 2015; era0 since then. \(note) era1.")
        #expect(
            try caption(build, day, later)
                == "Eras: paid / era0 until June 10, 2015; era1 since then. \(note) era0 and era2.")
    }
}
