import TenureMint
import Testing

@testable import TenureCore

@Suite struct AppVersionTests {
    @Test(arguments: [
        ("1", "1.0"), ("1.0", "1.0.0.0"), ("1.02.3", "1.2.3"), ("0120", "120"), ("120.0", "120"), ("0", "0.0"),
        (" 1.2\t", "1.2"), ("000", "0"),
    ])
    func `versions that differ only in meaningless zeros and blanks are equal`(left: String, right: String) throws {
        let left = try #require(AppVersion(left))
        let right = try #require(AppVersion(right))
        #expect(left == right)
        #expect(left.hashValue == right.hashValue)
        #expect(!(left < right) && !(right < left))
    }

    @Test(arguments: [
        ("2", "13"), ("1.9", "1.10"), ("434", "15741"), ("5.0", "2023.2.2"), ("202402231727", "202402231728"),
        ("99999999999999999999", "100000000000000000000"), ("9", "120"), ("119.9.9.9", "120"), ("1", "1.0.1"),
        ("0", "0.0.1"), ("1.2.3.4", "1.2.3.9"), ("2", "2.0.0.1"),
    ])
    func `components of a version compare as numbers of any length`(earlier: String, later: String) throws {
        let earlier = try #require(AppVersion(earlier))
        let later = try #require(AppVersion(later))
        #expect(earlier < later)
        #expect(!(later < earlier))
        #expect(earlier != later)
    }

    @Test(arguments: ["", " ", "1.x", "1..2", "-1", "１", "1.", ".1", ".", "1 2", "2.0b", "1\u{A0}", "+1", "1\u{0}"])
    func `strings other than digits and periods aren't versions`(text: String) {
        #expect(AppVersion(text) == nil)
    }

    @Test func `the versions 1.0.0.1 and 1.1 have different hashes`() throws {
        #expect(Set(["1.0.0.1", "1.1", "1.0.1"].compactMap { AppVersion($0) }).count == 3)
    }

    @Test func `of two random versions, exactly one relation holds: lower, equal or higher`() throws {
        var random = SeededRandom(seed: 7)
        let versions = (0..<60).compactMap { _ in
            AppVersion(
                (0..<Int.random(in: 1...4, using: &random)).map { _ in
                    String(repeating: "0", count: Int.random(in: 0...1, using: &random))
                        + String(Int.random(in: 0...12, using: &random))
                }.joined(separator: "."))
        }
        for first in versions {
            for second in versions {
                #expect([first < second, first == second, second < first].filter { $0 }.count == 1)
                for third in versions where first < second && second < third { #expect(first < third) }
            }
        }
    }
}
