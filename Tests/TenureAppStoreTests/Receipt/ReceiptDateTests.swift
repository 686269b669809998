import Foundation
import TenureAppStore
import Testing

struct ReceiptDateTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0.0),
        ("2024-02-23T17:27:16Z", 1_708_709_236),
        ("2020-07-22T18:33:15+0100", 1_595_439_195),
        ("2020-07-22T18:33:15+01:00", 1_595_439_195),
        ("2020-07-22T10:33:15-0700", 1_595_439_195),
        ("2020-07-22T17:33:15.250Z", 1_595_439_195.25),
        ("2020-07-22T17:33:15.1234567890123Z", 1_595_439_195.123456789),
        ("2000-02-29T00:00:00Z", 951_782_400),
        ("1969-12-31T23:59:59Z", -1),
        ("0001-01-01T00:00:00Z", -62_135_596_800),
        ("4001-01-01T00:00:00+0000", 64_092_211_200),
        ("2016-12-31T23:59:60Z", 1_483_228_800),
    ])
    func `dates in receipts are read as RFC 3339 and as Xcode writes them`(_ text: String, _ seconds: Double) {
        #expect(ReceiptDate.date(fromAnyText: text) == Date(timeIntervalSince1970: seconds))
    }

    @Test(arguments: [
        "", "yesterday", "2024-02-30T00:00:00Z", "2023-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2024-13-01T00:00:00Z",
        "2024-00-01T00:00:00Z", "2024-01-00T00:00:00Z", "2024-01-01T24:00:00Z", "2024-01-01T00:60:00Z",
        "2024-01-01T00:00:61Z", "2024-01-01T00:00:00", "2024-01-01", "2024-01-01T00:00:00Z ", " 2024-01-01T00:00:00Z",
        "2024-01-01 00:00:00Z", "2024-01-01T00:00:00.Z", "2024-01-01T00:00:00+1", "2024-01-01T00:00:00+24:00",
        "2024-1-1T00:00:00Z", "２０２４-01-01T00:00:00Z", "2024-01-01T00:00:00ZZ", "+2024-01-01T00:00:00Z",
        // Pacific time, which `verifyReceipt` writes in other fields.
        "2020-07-22 10:39:08 America/Los_Angeles",
    ])
    func `a receipt's date that is neither RFC 3339 nor as Xcode writes it is refused`(_ text: String) {
        #expect(ReceiptDate.date(fromAnyText: text) == nil)
    }

    @Test func `receipt dates that are written and read again stay the same`() {
        for seconds in stride(from: -62_135_596_800.0, through: 253_402_300_799, by: 86_400 * 97 + 12_345) {
            let date = Date(timeIntervalSince1970: seconds)
            #expect(ReceiptDate.date(fromAnyText: ReceiptDate.text(date)) == date)
        }
    }

    @Test(
        arguments: [
            ("2014-09-06 10:00:00 Etc/GMT", 1_409_997_600), ("1409997600000", 1_409_997_600),
            ("1409997600250", 1_409_997_600.25), ("-1000", -1), ("999999999999999", 999_999_999_999.999),
            ("1000000000000000", nil), ("inf", nil), ("2014-09-06 10:00:00 Etc/GMT ", nil),
            ("2014-09-06 10:00:00 GMT", nil),
            // Receipts have seconds, unlike the dates that people write.
            ("2014-09-06T10:00Z", nil),
        ] as [(String, Double?)])
    func `a date of verifyReceipt is read from its text in UTC, or from its milliseconds`(
        text: String, seconds: Double?
    ) {
        #expect(ReceiptDate.date(fromAnyText: text) == seconds.map { Date(timeIntervalSince1970: $0) })
    }
}
