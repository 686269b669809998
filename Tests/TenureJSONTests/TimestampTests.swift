import Foundation
import TenureJSON
import Testing

@Suite struct TimestampTests {
    @Test(arguments: [
        ("2015-06-10T18:00:00-03:30", "2015-06-10T21:30:00Z"), ("2015-06-10T18:00:00+05:45", "2015-06-10T12:15:00Z"),
        ("2015-06-10T18:00:00-0930", "2015-06-11T03:30:00Z"), ("2015-06-10T00:15:00+00:30", "2015-06-09T23:45:00Z"),
        ("2015-06-10T23:45:00-00:30", "2015-06-11T00:15:00Z"), ("2015-06-10T18:00+02:00", "2015-06-10T16:00:00Z"),
        ("2015-06-30T23:59:60Z", "2015-07-01T00:00:00Z"),
    ])
    func `a timestamp's offset from UTC counts with its hours and minutes`(text: String, inUTC: String) throws {
        #expect(try #require(Date(rfc3339: text)).rfc3339 == inUTC)
    }

    @Test(arguments: [
        "2015-02-29T00:00:00Z", "2015-06-31T00:00:00Z", "2015-13-01T00:00:00Z", "2015-00-10T00:00:00Z",
        "2015-06-00T00:00:00Z", "2015-06-10T24:00:00Z", "2015-06-10T18:60:00Z", "2015-06-10T18:00:61Z",
        "2015-06-10T18:00:00", "2015-06-10T18:00:00+24:00", "2015-06-10T18:00:00+02:60", "2015-06-10T18:00:00ZZ",
        "2015-06-10T18:00:00.Z", "0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01",
    ])
    func `a timestamp that no calendar or clock has is refused`(text: String) {
        #expect(Date(rfc3339: text) == nil)
    }

    @Test(arguments: [
        ("5", "500"), ("123", "123"), ("029", "029"), ("1239999999999999999999999999999999999999", "123"),
        ("0000000000000000000000000000000000000001", "000"),
    ])
    func `a timestamp's fraction may have any number of digits, of which milliseconds count`(
        digits: String, milliseconds: String
    ) throws {
        let date = try #require(Date(rfc3339: "2015-06-10T18:00:00.\(digits)Z"))
        #expect(date.rfc3339 == "2015-06-10T18:00:00" + (milliseconds == "000" ? "Z" : ".\(milliseconds)Z"))
    }

    @Test func `the last nanosecond of the year 9999 stays in that year`() throws {
        let bytes = Array("9999-12-31T23:59:59.999999999Z".utf8)
        let date = try #require(Date(rfc3339: bytes, in: bytes.indices, .exact))
        #expect(date.rfc3339 == "9999-12-31T23:59:59.999Z")
    }

    @Test(
        arguments: [
            (253_402_300_799.0, "9999-12-31T23:59:59Z"), (253_402_300_800, "+010000-01-01T00:00:00Z"),
            (-62_167_219_200, "0000-01-01T00:00:00Z"), (-62_167_219_201, "-000001-12-31T23:59:59Z"),
            (.nan, "1970-01-01T00:00:00Z"), (-0.001, "1969-12-31T23:59:59.999Z"),
            (1.0294, "1970-01-01T00:00:01.029Z"), (0.9996, "1970-01-01T00:00:01Z"),
        ] as [(Double, String)])
    func `a written timestamp has a sign and six digits if the year hasn't four, and rounded milliseconds`(
        seconds: Double, text: String
    ) {
        #expect(Date(timeIntervalSince1970: seconds).rfc3339 == text)
    }

    @Test(arguments: [
        ("2015-06-10T18:00:00Z", true, true), ("2015-06-10t18:00:00z", true, true),
        ("2015-06-10 18:00:00Z", true, false), ("2015-06-10T18:00Z", true, false),
        ("2015-06-10_18:00:00Z", false, false), ("2015-06-10T18:00:00", false, false),
    ])
    func `only a timestamp that a program wrote needs a T and seconds`(text: String, lenient: Bool, exact: Bool) {
        // The range decides what is read.
        let bytes = Array("1\(text)Z".utf8)
        let date = Date(timeIntervalSince1970: 1_433_959_200)
        let range = 1..<bytes.count - 1
        #expect(Date(rfc3339: bytes, in: range, .lenient) == (lenient ? date : nil))
        #expect(Date(rfc3339: bytes, in: range, .exact) == (exact ? date : nil))
        #expect(Date(rfc3339: bytes, in: bytes.indices, .lenient) == nil)
    }
}
