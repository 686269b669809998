import Foundation
import TenureCore
import TenureMint
import TenurePolicyFile
import Testing

@testable import TenurePolicyLint

/// What existing customers would lose from one policy to the next.
@Suite struct RightsTests {
    private static let base = """
        app: { bundleID: com.example.calculator, appleID: 828838134 }
        eras:
          - { name: paid, model: paid }
          - name: freemium
            model: free
            begins:
              iOS: { build: "120", at: 2015-06-10T18:00:00Z }
              macOS: { version: "2.0", at: 2015-06-12T18:00:00Z }
            changeover: { from: -24h, until: +48h }
        buildNumbers: increasing
        entitlements:
          premium:
            products: [com.example.calculator.premium]
            honors: [paid]
          cloud:
            products: [com.example.calculator.yearly, { id: com.example.calculator.season, for: P3M }]
            honors: [{ era: paid, boughtSince: 2014-06-10, for: P1Y }]
        """

    private static let list = """
        releases:
          - { platform: iOS, build: "37", releasedAt: 2013-06-05 }
          - { platform: iOS, build: "110", releasedAt: 2015-02-16 }
          - { platform: iOS, build: "120", releasedAt: 2015-06-10T18:00:00Z }
          - { platform: iOS, build: "37", releasedAt: 2016-01-01 }

        """

    /// Edits of the base policy: each is a text and its replacement.
    private static let edits: [[(String, String)]] = [
        [("\"120\"", "\"100\"")],
        [("\"120\"", "\"130\"")],
        [("at: 2015-06-10T18:00:00Z", "at: 2015-05-10T18:00:00Z")],
        [(", at: 2015-06-12T18:00:00Z", "")],
        [("build: \"120\", ", "")],
        [("increasing", "restarted")],
        [("changeover: { from: -24h, until: +48h }", "changeover: none")],
        [("until: +48h", "until: +24h")],
        [("    - name: freemium", "    - name: freemium")],
        [("  macOS: { version: \"2.0\", at: 2015-06-12T18:00:00Z }", "  macOS: new")],
        [("honors: [paid]", "honors: []")],
        [("honors: [paid]", "honors: [{ era: paid, until: 2020-01-01 }]")],
        [("honors: [paid]", "honors: [{ era: paid, boughtBefore: 2015-01-01 }]")],
        [("P1Y", "P6M")],
        [("2014-06-10", "2014-06-11")],
        [("  premium:", "  pro:")],
        [("buildNumbers", list + "buildNumbers")],
        [("buildNumbers", list + "inDoubt: undetermined\nbuildNumbers"), ("2015-06-10T18", "2015-06-10T12")],
        [
            (
                "buildNumbers",
                "  - { name: late, model: paid, begins: { iOS: { build: \"200\", at: 2017-01-01T00:00:00Z } }, changeover: none }\nbuildNumbers"
            )
        ],
    ]

    private static func policy(_ edits: [(String, String)]) throws -> Policy {
        let text = edits.reduce(base) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
        return try PolicyFile.read(text, named: "policy.yaml")
    }

    /// Random customers near the differences of the policies: each one who loses a right must be in a reported class.
    @Test(arguments: edits.indices)
    func `every loss of a right between two policies is reported, in either direction`(_ index: Int) throws {
        let base = try Self.policy([])
        let edited = try Self.policy(Self.edits[index])
        var random = SeededRandom(seed: UInt64(index) + 1)
        for (old, new) in [(base, edited), (edited, base)] {
            let comparison = RightsComparison(from: old, to: new, at: .distantFuture)
            let reported = Set(comparison.losses.map { Loss($0.entitlement, $0.platform) })
            var actual: Set<Loss> = []
            for _ in 0..<1500 {
                let platform = [Platform.iOS, .macOS, nil].randomElement(using: &random) ?? nil
                for name in lost(by: customer(on: platform, &random), from: old, to: new) {
                    actual.insert(Loss(name, platform))
                }
            }
            #expect(actual.subtracting(reported).isEmpty)
        }
    }

    /// An entitlement that customers of a platform lose.
    private struct Loss: Hashable {
        let entitlement: String
        let platform: Platform?

        init(_ entitlement: String, _ platform: Platform?) {
            self.entitlement = entitlement
            self.platform = platform
        }
    }

    private func customer(on platform: Platform?, _ random: inout SeededRandom) -> Evidence {
        let versions = [
            nil, "0.5", "1.9", "2.0", "2.0.1", "10", "37", "99", "100", "105", "110", "119", "120", "121", "129", "130",
            "200",
            "201",
        ]
        let days = [
            nil, "2013-01-01", "2014-06-09", "2014-06-10", "2014-06-12", "2015-05-09", "2015-05-20", "2015-06-09",
            "2015-06-10",
            "2015-06-11", "2015-06-12", "2015-06-13", "2015-06-14", "2015-06-20", "2016-06-01", "2017-02-01",
        ]
        let day = (days.randomElement(using: &random) ?? nil).flatMap { CivilDay($0)?.midnight }
        let date = day?.addingTimeInterval(Double.random(in: 0..<86_400, using: &random))
        let proof = AppProof(
            kind: .appTransaction, signedDate: date, originalPlatform: platform,
            originalAppVersion: versions.randomElement(using: &random) ?? nil, originalPurchaseDate: date)
        return Evidence(environment: .production, app: [proof], purchasesAreComplete: true)
    }

    private func lost(by evidence: Evidence, from old: Policy, to new: Policy) -> [String] {
        let after = decide(evidence, under: new, at: .distantPast)
        return decide(evidence, under: old, at: .distantPast).filter { $0.outcome == .granted }.filter { right in
            guard let decision = after.first(where: { $0.entitlement == right.entitlement }),
                decision.outcome == .granted
            else { return true }
            guard let end = decision.until else { return false }
            return right.until.map { end < $0 } ?? true
        }.map(\.entitlement)
    }

    private func findings(_ edits: [(String, String)], at now: Date = .distantFuture) throws -> [String] {
        Linter.findings(in: try Self.policy(edits), against: try Self.policy([]), at: now)
            .filter { $0.code.hasPrefix("right") }.map(\.message)
    }

    @Test func `a policy change that drops a product or shortens its time is reported`() throws {
        #expect(
            try findings([("products: [com.example.calculator.premium]", "products: [com.example.calculator.plus]")])
                == [
                    "customers who have `premium` only because they bought `com.example.calculator.premium` would lose `premium`"
                ])
        #expect(
            try findings([("P3M", "P1M")]) == [
                "customers who have `cloud` only because they bought `com.example.calculator.season` would have `cloud` until 1970-02-01T00:00:00Z instead of until 1970-04-01T00:00:00Z"
            ])
        #expect(try findings([("P3M", "P4M")]) == [])
        let lengthless = [("{ id: com.example.calculator.season, for: P3M }", "com.example.calculator.season")]
        #expect(
            try findings(lengthless) == [
                "customers who have `cloud` only because they bought `com.example.calculator.season` would become undetermined for `cloud`"
            ])
    }

    @Test func `a platform that the policy leaves out is reported, since its customers become undetermined`() throws {
        let messages = try findings([("      macOS: { version: \"2.0\", at: 2015-06-12T18:00:00Z }\n", "")])
        #expect(
            messages.contains {
                $0.hasPrefix("customers who got the app on macOS")
                    && $0.hasSuffix("would become undetermined for `premium`")
            })
        #expect(!messages.contains { $0.hasPrefix("customers who got the app on iOS") })
    }

    @Test func `a deleted entitlement is reported as lost by everybody who had it`() throws {
        let messages = try findings([("  premium:", "  pro:")])
        #expect(
            messages.contains(
                "customers who have `premium` only because they bought `com.example.calculator.premium` would lose `premium`"
            ))
        #expect(
            messages.contains {
                $0.hasPrefix("customers who got the app on iOS") && $0.hasSuffix("would lose `premium`")
            })
    }

    @Test func `lost entitlements are reported in the order of the previous policy`() throws {
        let names = ["zoom", "alarm", "print", "export", "themes", "cloud", "backup", "widgets"]
        let head = try #require(Self.base.components(separatedBy: "  premium:").first)
        let old = try PolicyFile.read(
            head + names.map { "  \($0): { honors: [paid] }\n" }.joined(), named: "old.yaml")
        let new = try PolicyFile.read(head + "  other: { honors: [paid] }\n", named: "policy.yaml")
        let losses = RightsComparison(from: old, to: new, at: .distantFuture).losses
        #expect(losses.filter { $0.platform == .iOS }.map(\.entitlement) == names.flatMap { [$0, $0] })
    }

    @Test func `customers of a release that was removed from the release list are still checked for lost rights`()
        throws
    {
        let dropped = "  - { platform: iOS, build: \"110\", releasedAt: 2015-02-16 }\n"
        let old = Self.base + "\n" + Self.list
        let new =
            Self.base.replacingOccurrences(of: "\"120\"", with: "\"100\"") + "\n"
            + Self.list.replacingOccurrences(of: dropped, with: "")
        let found = Linter.findings(
            in: PolicyFile.draft(Array(new.utf8), named: "policy.yaml"),
            against: try PolicyFile.read(old, named: "old.yaml"))
        #expect(found.contains { $0.code == "right-lost" && $0.place.contains("entitlements/premium/iOS") })
    }

    @Test func `a right that had ended, or that only future customers would get, isn't reported as lost`() throws {
        let shorter = [("P1Y", "P6M")]
        let ended = try #require(CivilDay("2017-01-01")?.midnight)
        #expect(try findings(shorter, at: ended) == [])
        let running = try #require(CivilDay("2015-07-01")?.midnight)
        #expect(try !findings(shorter, at: running).isEmpty)

        let earlier = [("2015-06-10T18:00:00Z", "2015-06-01T18:00:00Z"), ("\"120\"", "\"119\"")]
        let before = try #require(CivilDay("2015-05-01")?.midnight)
        #expect(try findings(earlier, at: before).allSatisfy { !$0.contains("since 2015-06") })
    }

    @Test func `a right with a new end that has passed is reported as lost, not as shortened`() throws {
        let limited = [("honors: [paid]", "honors: [{ era: paid, until: 2016-01-01 }]")]
        let running = try #require(CivilDay("2015-07-01")?.midnight)
        let before = try findings(limited, at: running)
        #expect(!before.isEmpty)
        #expect(before.allSatisfy { $0.hasSuffix("until 2016-01-02T12:00:00Z instead of permanently") }, "\(before)")
        let over = try findings(limited, at: try #require(CivilDay("2017-01-01")?.midnight))
        #expect(!over.isEmpty)
        #expect(over.allSatisfy { $0.hasSuffix("would lose `premium`") }, "\(over)")
    }

    @Test(arguments: ["iOS,1.0,90,2014-01-05,paid\niOS,2.0,120,2015-06-10T18:00:00Z,free\n", nil])
    func `a right that becomes uncertain only for customers with an unknown build is reported for them`(list: String?)
        throws
    {
        let findings = try findingsInSamplePolicy(
            [(", at: 2015-06-10T18:00:00Z", "")], list: list, against: [], at: Date(timeIntervalSince1970: 1.8e9))
        #expect(
            findings.first { $0.code == "right-uncertain" }?.message
                == "customers who got the app on iOS, with an unknown build, before 2015-06-12T18:00:02Z, would become undetermined for `premium`"
        )
    }
}
