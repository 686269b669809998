import Foundation
import Testing

@testable import TenureCore

@Suite struct ReleaseMomentTests {
    private func moment(_ text: String) -> Release.Moment {
        if text.isEmpty { return .undated }
        return text.count == 10 ? CivilDay(text).map { .day($0) } ?? .undated : .instant(date(text))
    }

    /// A day lasts from 14 hours before its midnight in UTC until 12 hours after its end.
    @Test(arguments: [
        ("2015-06-10", "2015-06-11T12:00:00Z", true), ("2015-06-10", "2015-06-11T11:59:59Z", false),
        ("2015-06-09T09:59:59Z", "2015-06-10", true), ("2015-06-09T10:00:00Z", "2015-06-10", false),
        ("2015-06-09", "2015-06-10", true), ("2015-06-10", "2015-06-10", false),
        ("2015-06-10T10:00:00Z", "2015-06-10T10:00:01Z", true), ("2015-06-10T10:00:00Z", "2015-06-10T10:00:00Z", false),
        ("", "2015-06-10", false), ("2015-06-10", "", false),
    ])
    func `a release is certainly earlier only if its day has ended in every time zone`(
        first: String, second: String, isEarlier: Bool
    ) {
        #expect(moment(first).isCertainlyEarlier(than: moment(second)) == isEarlier)
        if isEarlier { #expect(!moment(second).isCertainlyEarlier(than: moment(first))) }
    }
}
