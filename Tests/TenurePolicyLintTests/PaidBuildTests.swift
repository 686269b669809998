import Foundation
import TenureCore
import TenurePolicyFile
import Testing

@testable import TenurePolicyLint

/// The most expensive mistake: paid builds are assigned to an era in which customers get nothing.
@Suite struct PaidBuildTests {
    /// Paid from 12 to 119, free from 120 on.
    private static let list = """
        platform,version,build,releasedAt,model
        iOS,1.0,12,2012-03-01,paid
        iOS,1.5,104,2014-06-10,paid
        iOS,1.6,119,2015-02-16,paid
        iOS,2.0,120,2015-06-10T18:00:00Z,free
        iOS,2.1,130,2015-06-29,free

        """

    private func policy(_ beginning: String, _ rest: String = "buildNumbers: increasing", honors: String = "[paid]")
        -> String
    {
        """
        app: { bundleID: com.example.calculator, appleID: 828838134 }
        eras:
          - { name: paid, model: paid }
          - name: freemium
            model: free
            begins: { iOS: \(beginning) }
            changeover: { from: -24h, until: +48h }
        \(rest)
        entitlements:
          premium:
            products: [com.example.calculator.premium]
            honors: \(honors)

        """
    }

    /// - Parameter own: whether the release list is the one that the policy names, not one from an option.
    private func findings(_ text: String, list: String = list, own: Bool = false) throws -> [LintFinding] {
        let bytes = Array(list.utf8)
        return Linter.findings(
            in: PolicyFile.draft(Array(text.utf8), named: "policy.yaml") { _ in bytes },
            releases: own ? nil : try ReleaseListFile.listed(bytes, named: "releases.csv"))
    }

    @Test(arguments: [
        // The boundary has no date and isn't listed, so only its number is used. The list's models show that it is
        // wrong.
        "{ build: \"100\" }",
        // The boundary has no date, and the list has its build.
        "{ build: \"104\" }",
        // The boundary has a date.
        "{ build: \"100\", at: 2015-06-10T18:00:00Z }",
        "{ build: \"104\", at: 2014-06-10T00:00:00Z }",
    ])
    func `the error about paid builds above the boundary names the builds and the lost entitlement`(_ beginning: String)
        throws
    {
        let found = try #require(
            try findings(policy(beginning)).first { $0.code == "paid-build-unhonored" }, "\(beginning)")
        #expect(found.severity == .error)
        #expect(found.message.hasPrefix("customers who bought builds 104 and 119 on iOS lose `premium`"))
        #expect(found.place == "eras/freemium/begins/iOS/builds 104 and 119")
        #expect(found.position.line == 6)
    }

    @Test
    func `the finding about paid builds mentions unknown purchase dates only if buyers with a date keep everything`()
        throws
    {
        func message(_ list: String) throws -> String? {
            try findings(policy("{ build: \"100\", at: 2015-06-10T18:00:00Z }"), list: list)
                .first { $0.code == "paid-build-unhonored" }?.message
        }
        let dated = try #require(try message(Self.list))
        #expect(dated.contains("builds 104 and 119"))
        #expect(dated.contains("wherever the purchase date isn't known"))
        // By this date, too, the build counts as `freemium`.
        let late = try #require(
            try message(Self.list.replacingOccurrences(of: "119,2015-02-16", with: "119,2015-06-20")))
        #expect(late.contains("builds 104 and 119"))
        #expect(!late.contains("wherever the purchase date isn't known"))
    }

    @Test func `a boundary with only a wrong date is reported, with and without a release list`() throws {
        let early = "{ at: 2014-01-01T18:00:00Z }"
        let restarted = policy(early, "buildNumbers: restarted")
        let listed = policy(early, "releases: releases.csv")
        // By its build, the era begins with the second paid release. Only the policy's list has the date of that
        // release.
        let undated = policy("{ build: \"104\" }", "releases: releases.csv")
        for (text, own) in [(restarted, false), (listed, false), (listed, true), (undated, true)] {
            let found = try findings(text, own: own).filter { $0.code == "paid-build-unhonored" }
            #expect(found.map(\.place) == ["eras/freemium/begins/iOS/builds 104 and 119"], "\(text)")
        }
    }

    @Test func `a correct boundary gets no finding, with or without a date`() throws {
        for beginning in ["{ build: \"120\", at: 2015-06-10T18:00:00Z }", "{ build: \"120\" }", "{ build: \"119.1\" }"]
        {
            let codes = try findings(policy(beginning)).map(\.code)
            #expect(!codes.contains("paid-build-unhonored") && !codes.contains("model-contradicted"), "\(codes)")
        }
    }

    @Test func `paid builds above the boundary are reported even if owners keep everything in the next era`() throws {
        let codes = try findings(policy("{ build: \"100\" }", honors: "[paid, freemium]")).map(\.code)
        #expect(!codes.contains("paid-build-unhonored"))
        #expect(codes.contains("model-contradicted"))
    }

    @Test func `free builds below the boundary are reported as given away, even if the boundary has no date`() throws {
        let found = try #require(
            try findings(policy("{ build: \"125\" }")).first { $0.code == "model-contradicted" })
        #expect(found.severity == .error)
        #expect(
            found.message
                == "the release list says that build 120 on iOS (2015-06-10T18:00:00Z) was free, but by build it counts as `paid`, which has `model: paid`: customers who got the app then get `premium` for nothing"
        )
    }

    @Test func `a build that was first sold and then given away gets no finding`() throws {
        let list = Self.list + "iOS,1.6,119,2015-06-09,free\n"
        let codes = try findings(policy("{ build: \"120\", at: 2015-06-10T18:00:00Z }"), list: list).map(\.code)
        #expect(!codes.contains("model-contradicted"))
    }

    /// The Apple TV app has separate build numbers.
    @Test func `paid builds of a platform that inherits the boundary of iOS are reported with their platform`() throws {
        let list = Self.list + "tvOS,1.6,2000,2016-02-16,paid\ntvOS,2.0,2100,2017-06-10T18:00:00Z,free\n"
        let text = policy("{ build: \"120\", at: 2017-06-10T18:00:00Z }")
        let found = try findings(text, list: list).filter { $0.code == "paid-build-unhonored" }
        #expect(found.map(\.place) == ["eras/freemium/begins/iOS/tvOS/build 2000"])
    }

    /// The policy's own list doesn't have the build of the boundary, which has no date.
    @Test func `an undated boundary that isn't in the policy's own release list is compared by its build number`()
        throws
    {
        let found = try findings(policy("{ build: \"100\" }", "releases: releases.csv"), own: true)
        #expect(found.contains { $0.place == "eras/freemium/begins/iOS/builds 104 and 119" && $0.severity == .error })
        let restarted = try findings(
            policy("{ build: \"100\" }", "buildNumbers: restarted\nreleases: releases.csv"), own: true)
        #expect(!restarted.contains { $0.code == "paid-build-unhonored" })
    }

    @Test func `the suggestion for a paid era that begins too late is the first paid build`() throws {
        let text = """
            app: { bundleID: com.example.calculator, appleID: 828838134 }
            eras:
              - { name: launch, model: free }
              - { name: paid, model: paid, begins: { iOS: { build: "35" } } }
            buildNumbers: increasing
            entitlements:
              premium:
                products: [com.example.calculator.premium]
                honors: [paid]
            """
        let list = """
            platform,version,build,releasedAt,model
            iOS,1.0,10,2012-02-16,free
            iOS,2.0,30,2014-01-10T18:00:00Z,paid
            iOS,2.1,35,2014-05-10,paid
            """
        let found = try #require(try findings(text, list: list).first { $0.code == "paid-build-unhonored" })
        #expect(found.place == "eras/paid/begins/iOS/build 30")
        #expect(found.fix == "write `build: \"30\"`")
    }

    @Test func `paid builds under a policy without a paid era are reported with the missing era`() throws {
        let text = """
            app: { bundleID: com.example.calculator, appleID: 828838134 }
            eras: [{ name: free, model: free }]
            entitlements: { premium: { products: [com.example.calculator.premium] } }
            """
        let found = try #require(try findings(text).first { $0.code == "paid-build-unhonored" })
        #expect(found.message.hasPrefix("customers who bought builds 12, 104 and 119 on iOS lose `premium`"))
        #expect(
            found.fix == "add an era in which the app was sold, or correct the release list if the app was free then")
    }

    @Test func `the suggestion for paid builds in a free era moves the era's beginning above these builds`() throws {
        let found = try #require(try findings(policy("{ build: \"100\" }")).first { $0.code == "paid-build-unhonored" })
        #expect(found.fix == "write `build: \"120\"`")
        #expect(!found.edits.isEmpty)
    }
}
