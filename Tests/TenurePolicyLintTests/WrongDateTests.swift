import Foundation
import TenureCore
import TenurePolicyFile
import Testing

@testable import TenurePolicyLint

/// Boundaries with an `at` that the release list contradicts, and correct ones that look similar.
@Suite struct WrongDateTests {
    /// - Parameters:
    ///   - own: whether the list is the policy's own list.
    ///   - honored: the eras that `premium` honors.
    private func findings(
        _ eras: String, _ list: String, own: Bool = false, honored: String = "paid", numbers: String = "increasing"
    ) throws -> [LintFinding] {
        let text = """
            app: { bundleID: com.example.calculator, appleID: 828838134 }
            eras:
            \(eras)
            buildNumbers: \(numbers)
            \(own ? "releases: list.csv" : "")
            entitlements: { premium: { products: [p], honors: [\(honored)] } }

            """
        let bytes = Array(("platform,version,build,releasedAt,model\n" + list).utf8)
        return Linter.findings(
            in: PolicyFile.draft(Array(text.utf8), named: "policy.yaml") { _ in bytes },
            releases: own ? nil : try ReleaseListFile.listed(bytes, named: "list.csv"),
            at: Date(timeIntervalSince1970: 1.8e9))
    }

    private func freemium(_ beginning: String, _ window: String = "{ from: -24h, until: +48h }") -> String {
        """
          - { name: paid, model: paid }
          - { name: freemium, model: free, begins: { iOS: \(beginning) }, changeover: \(window) }
        """
    }

    private static let list = "iOS,1.0,6,2014-03-01,paid\niOS,1.1,9,2015-03-08,paid\n"
    private static let free = "iOS,2.0,12,2016-03-13T19:00:00Z,free\n"

    // MARK: A wrong year

    @Test(arguments: [true, false])
    func `a boundary a year before its release is an error with the listed instant as the fix`(_ own: Bool) throws {
        let eras = freemium("{ build: \"12\", at: 2015-03-13T19:00:00Z }")
        let found = try findings(eras, Self.list + Self.free, own: own)
        let date = try #require(found.first { $0.code == "boundary-out-of-order" })
        #expect(date.severity == .error)
        #expect(date.place == "eras/freemium/begins/iOS/at")
        #expect(
            date.message
                == "`freemium` begins on iOS with build 12 at 2015-03-13T19:00:00Z, but the release list has build 12 on 2016-03-13T19:00:00Z, in another year: customers may be assigned to the wrong era"
        )
        #expect(date.fix == "write `at: 2016-03-13T19:00:00Z`, or correct the release list")
        #expect(!date.edits.isEmpty)
        #expect(
            try findings(freemium("{ build: \"12\", at: 2016-03-13T19:00:00Z }"), Self.list + Self.free, own: own) == []
        )
    }

    /// The price changed with the old build still on sale, and the first free build came out later.
    @Test(arguments: [("2016-01-20", []), ("2015-10-20", ["boundary-out-of-order"])])
    func `a boundary some weeks before its release gets no finding, and months before it a warning`(
        _ day: String, _ codes: [String]
    ) throws {
        let found = try findings(
            freemium("{ build: \"12\", at: \(day)T19:00:00Z }"), Self.list + Self.free, own: true)
        #expect(found.map(\.code) == codes)
        #expect(found.allSatisfy { $0.severity == .warning })
        // Without a build, the price may change at any time.
        #expect(
            try !self.findings(freemium("{ at: \(day)T19:00:00Z }"), Self.list + Self.free, own: true)
                .contains { $0.code == "boundary-out-of-order" })
    }

    /// The list has build 12 on March 13, 2016.
    @Test(
        arguments: [
            ("2015-12-14T19:00:00Z", nil), ("2015-12-14T18:59:59Z", .warning),
            // A year and two days before the release, and a second more.
            ("2015-03-12T13:00:00Z", .error), ("2015-03-12T12:59:59Z", .warning),
        ] as [(String, LintFinding.Severity?)])
    func `a boundary is a warning more than 90 days before its release, and an error within two days of whole years`(
        _ date: String, _ severity: LintFinding.Severity?
    ) throws {
        let found = try findings(freemium("{ build: \"12\", at: \(date) }"), Self.list + Self.free, own: true)
        #expect(found.first { $0.code == "boundary-out-of-order" }?.severity == severity)
    }

    private static let launch = """
          - { name: launch, model: free }
          - { name: paid, model: paid, begins: { macOS: { version: "2.0", at: AT } }, changeover: none }
        """
    private static let launchList =
        "macOS,1.0,910,2014-03-01,free\nmacOS,2.0,911,2015-12-30T17:00:00Z,paid\nmacOS,2.1,914,2016-06-03,paid\n"

    private func launch(_ at: String) -> String { Self.launch.replacingOccurrences(of: "AT", with: at) }

    @Test(arguments: [true, false])
    func `paid releases before the date of their paid era are an error`(_ own: Bool) throws {
        let found = try findings(launch("2016-12-30T17:00:00Z"), Self.launchList, own: own)
        let paid = try #require(found.first { $0.code == "paid-build-unhonored" })
        #expect(paid.place == "eras/paid/begins/macOS/versions 2.0 and 2.1")
        #expect(paid.message.contains("by date they count as `launch`"))
        #expect(paid.fix == "write `at: 2015-12-30T17:00:00Z`, or correct the release list")
        #expect(try findings(launch("2015-12-30T17:00:00Z"), Self.launchList, own: own) == [])
        // The price may change some days after the binary came out.
        #expect(try findings(launch("2016-01-03T17:00:00Z"), Self.launchList, own: own) == [])
        #expect(try findings(launch("2016-01-06T17:00:00Z"), Self.launchList, own: own) == [])
        let late = try findings(launch("2016-01-06T17:00:05Z"), Self.launchList, own: own)
        #expect(late.map(\.code) == ["paid-build-unhonored"])
    }

    /// The list has no models.
    @Test func `a paid era a year after its release is an error without the column model too`() throws {
        let list = Self.launchList.replacingOccurrences(of: ",free", with: ",")
            .replacingOccurrences(of: ",paid", with: ",")
        let found = try findings(launch("2016-12-30T17:00:00Z"), list)
        #expect(found.map(\.code).contains("boundary-out-of-order"))
        #expect(try findings(launch("2015-12-30T17:00:00Z"), list) == [])
    }

    @Test func `the fix for a paid release after a wrong date corrects the date, not the build`() throws {
        let list = """
            iOS,1.0,10,2013-03-01,paid
            iOS,1.5,90,2014-02-10,paid
            iOS,1.6,110,2015-02-16,paid
            iOS,2.0,120,2015-06-10T18:00:00Z,free

            """
        let eras = freemium("{ build: \"120\", at: 2014-06-10T18:00:00Z }")
        let found = try findings(eras, list, own: true)
        let paid = try #require(found.first { $0.code == "paid-build-unhonored" })
        #expect(paid.message.contains("by date it counts as `freemium`"))
        #expect(paid.fix == "write `at: 2015-06-10T18:00:00Z`, or correct the release list")
        #expect(!found.contains { $0.fix?.contains("above") ?? false })
        let separate = try findings(eras, list)
        #expect(separate.first { $0.code == "sold-across-change" }?.fix == "correct `at` of `freemium`")
    }

    @Test func `the advice for a wrong date is to correct the date if the list has no release at the change`() throws {
        let list = """
            iOS,1.0,10,2013-03-01,paid
            iOS,1.5,90,2014-02-10,paid
            iOS,1.6,110,2015-02-16,paid

            """
        let found = try findings(freemium("{ build: \"120\", at: 2014-06-10T18:00:00Z }"), list, own: true)
        let paid = try #require(found.first { $0.code == "paid-build-unhonored" })
        #expect(paid.message.contains("by date it counts as `freemium`"))
        #expect(paid.fix == "correct `at` of `freemium`, or correct the release list if the app was free then")
    }

    // MARK: An undated boundary

    @Test func `an undated boundary that the list dates before the previous era is out of order`() throws {
        func eras(_ promo: String) -> String {
            [
                "  - { name: paid, model: paid }",
                "  - { name: promo, model: free, begins: { iOS: { at: \(promo) } }, changeover: none }",
                "  - { name: paidAgain, model: paid, begins: { iOS: { build: \"85\" } }, changeover: none }",
                "  - { name: freemium, model: free, begins: { iOS: { build: \"120\", at: 2024-09-10T10:00:00Z } }, changeover: none }",
            ].joined(separator: "\n")
        }
        let list = """
            iOS,1.0,10,2012-05-27,paid
            iOS,1.5,85,2014-01-26,paid
            iOS,1.6,90,2018-01-26,paid
            iOS,2.0,120,2024-09-10T10:00:00Z,free

            """
        let found = try findings(eras("2016-12-08T01:00:00Z"), list, own: true, honored: "paid, paidAgain")
        let order = try #require(found.first { $0.code == "boundary-out-of-order" })
        #expect(order.place == "eras/paidAgain/begins/iOS")
        #expect(order.message.contains("on iOS: `paidAgain` on 2014-01-26, `promo` on 2016-12-08T01:00:00Z"))
        #expect(
            try !findings(eras("2013-12-08T01:00:00Z"), list, own: true, honored: "paid, paidAgain")
                .contains { $0.code == "boundary-out-of-order" })
    }

    // MARK: A free era between two paid eras

    private static let promoList = """
        macOS,1.0,11,2014-03-01,paid
        macOS,2.0,62,2015-11-02T03:00:00Z,free
        macOS,2.1,72,2016-07-10,free
        macOS,3.0,76,2017-11-24T13:00:00Z,paid

        """

    private func promo(_ first: String, again: String = "3.0") -> String {
        """
          - { name: paid, model: paid }
          - { name: promo, model: free, begins: { macOS: { version: "\(first)", at: 2015-11-02T03:00:00Z } }, changeover: none }
          - { name: paidAgain, model: paid, begins: { macOS: { version: "\(again)", at: 2017-11-24T13:00:00Z } }, changeover: none }
        """
    }

    @Test func `a free release below its free era is reported although a later era is paid again`() throws {
        let found = try findings(promo("2.1"), Self.promoList, honored: "paid, paidAgain")
        let free = try #require(found.first { $0.code == "model-contradicted" })
        #expect(free.message.contains("version 2.0 on macOS (2015-11-02T03:00:00Z) was free"))
        #expect(
            free.fix
                == "add an era that begins with this release, correct where `promo` begins, or correct the release's row in the release list"
        )
        #expect(try findings(promo("2.0"), Self.promoList, honored: "paid, paidAgain") == [])
    }

    // MARK: Fixes of several findings

    @Test func `exact fixes move only the wrong boundary, and all of them together leave no finding`() throws {
        let later = "macOS,4.0,400,2019-12-22T03:00:00Z,free\n"
        let last =
            "\n  - { name: freemium, model: free, begins: { macOS: { version: \"4.0\", at: 2019-12-22T03:00:00Z } }, changeover: none }"
        let eras = promo("2.0", again: "76") + last
        let found = try findings(eras, Self.promoList + later, honored: "paid, paidAgain")
        let exact = found.filter { !$0.edits.isEmpty }
        #expect(!exact.isEmpty)
        #expect(exact.allSatisfy { $0.fix == "write `version: \"3.0\"`" }, "\(exact.map(\.fix))")
        #expect(exact.allSatisfy { $0.place.contains("paidAgain") }, "\(exact.map(\.place))")
    }
}
