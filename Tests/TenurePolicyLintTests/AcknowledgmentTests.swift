import Foundation
import TenureCore
import TenureJSON
import TenurePolicyFile
import Testing

@testable import TenurePolicyLint

/// Which findings `acknowledge` covers, and which it can't cover.
@Suite struct AcknowledgmentTests {
    /// A policy with a changeover window that is too long.
    private static let policy = samplePolicy.replacingOccurrences(of: "+48h", with: "+720h")

    private func acknowledging(_ code: String, _ at: String, in text: String = policy) -> String {
        text + "acknowledge: [{ code: \(code), at: \"\(at)\", reason: it is meant }]\n"
    }

    private func findings(
        _ text: String, list: String? = nil, against old: String? = nil, at now: Date = .distantFuture
    ) throws -> [LintFinding] {
        Linter.findings(
            in: PolicyFile.draft(Array(text.utf8), named: "policy.yaml"),
            releases: try list.map {
                try ReleaseListFile.listed(Array(("platform,build,releasedAt,model\n" + $0).utf8), named: "list.csv")
            },
            against: try old.map { try PolicyFile.read($0, named: "old.yaml") }, at: now)
    }

    @Test func `an acknowledged finding stays visible with its reason and its severity`() throws {
        let found = try findings(acknowledging("changeover-wide", "eras/freemium/changeover"))
        #expect(found.map(\.code) == ["changeover-wide"])
        #expect(found.first?.acknowledgment == "it is meant")
        #expect(found.first?.severity == .warning)
        #expect(found.unacknowledged(.warning) == [])
        #expect(try findings(Self.policy).unacknowledged(.warning).map(\.code) == ["changeover-wide"])
    }

    @Test func `a repeated acknowledgment is one mistake, and still covers its finding`() throws {
        let entry = "{ code: changeover-wide, at: eras/freemium/changeover, reason: it is meant }"
        let found = try findings(Self.policy + "acknowledge: [\(entry), \(entry)]\n")
        #expect(found.filter { $0.code == "changeover-wide" }.map(\.isAcknowledged) == [true])
        #expect(found.filter(\.isMistake).count == 1, "\(found)")
    }

    @Test func `in a policy with mistakes, acknowledgments of unchecked rules aren't reported as unused`() throws {
        let text = acknowledging("changeover-wide", "eras/freemium/changeover", in: samplePolicy)
        #expect(try findings(text).contains { $0.message.contains("remove this acknowledgment") })
        let broken = try findings(text + "nonsense: 1\n")
        #expect(broken.filter(\.isMistake).count == 1, "\(broken)")
        #expect(!broken.contains { $0.message.contains("remove this acknowledgment") })
    }

    @Test func `unacknowledgedErrors contains neither acknowledged errors nor warnings`() throws {
        let list = "iOS,110,2015-02-16,paid\niOS,120,2015-06-10T18:00:00Z,free\niOS,90,2015-08-01,free\n"
        #expect(
            try findings(Self.policy, list: list).unacknowledgedErrors.map(\.code) == [
                "build-not-above-paid", "increasing-contradicted",
            ])
        // `unacknowledged(.warning)` has warnings and errors, as `--strict` counts them.
        let severities = try findings(Self.policy, list: list).unacknowledged(.warning).map(\.severity)
        #expect(severities == [.warning, .error, .error])
        let one = acknowledging("build-not-above-paid", "releases/iOS/90")
        #expect(try findings(one, list: list).unacknowledgedErrors.map(\.code) == ["increasing-contradicted"])
    }

    /// Two eras with a window each. The acknowledgment has the place of one of the two eras.
    @Test func `an acknowledgment covers one finding at one place`() throws {
        let text = Self.policy.replacingOccurrences(
            of: "buildNumbers: increasing",
            with: """
                  - name: paidAgain
                    model: paid
                    begins: { iOS: { build: "200", at: 2019-06-10T18:00:00Z } }
                    changeover: { from: -24h, until: +720h }
                buildNumbers: increasing
                """
        ).replacingOccurrences(of: "[paid]", with: "[paid, paidAgain]")
        #expect(
            try findings(text).map(\.place) == [
                "eras/freemium/changeover", "eras/paidAgain/changeover",
            ])
        let covered = try findings(acknowledging("changeover-wide", "eras/paidAgain/changeover", in: text))
        #expect(covered.map(\.isAcknowledged) == [false, true])
    }

    @Test func `findings about two honors of one era have different places, and each needs its own acknowledgment`()
        throws
    {
        func text(_ honors: String) -> String { samplePolicy.replacingOccurrences(of: "[paid]", with: "[\(honors)]") }
        func places(_ code: String, _ honors: String) throws -> [String] {
            try findings(text(honors)).filter { $0.code == code }.map(\.place)
        }
        let early = "{ era: freemium, boughtBefore: 2016-01-01 }"
        let late = "{ era: freemium, boughtSince: 2018-01-01 }"
        let honors = "entitlements/premium/honors"
        // The number is the position among all honors. An era with only one honor needs no number.
        #expect(try places("honored-era-free", "\(early), paid") == ["\(honors)/freemium"])
        let both = ["\(honors)/freemium 1", "\(honors)/freemium 3"]
        #expect(try places("honored-era-free", "\(early), paid, \(late)") == both)
        for (index, place) in both.enumerated() {
            let covered = try findings(acknowledging("honored-era-free", place, in: text("\(early), paid, \(late)")))
            #expect(covered.filter { $0.code == "honored-era-free" }.map(\.isAcknowledged) == [index == 0, index == 1])
            #expect(covered.filter(\.isMistake) == [])
        }
        // No finding has the place without a number.
        let unnumbered = acknowledging("honored-era-free", "\(honors)/freemium", in: text("\(early), paid, \(late)"))
        #expect(try findings(unnumbered).last?.code == "acknowledgment-without-finding")
        let beforeEra = ["2013", "2014"].map { "{ era: freemium, boughtBefore: \($0)-01-01 }" }
        #expect(
            try places("honor-window-outside-era", "paid, \(beforeEra[0]), \(beforeEra[1])") == [
                "\(honors)/freemium 2/boughtBefore", "\(honors)/freemium 3/boughtBefore",
            ])
    }

    @Test func `an acknowledgment of a lost right covers only the builds at its place`() throws {
        let old = Self.policy.replacingOccurrences(of: "720h", with: "48h")
        let moved = old.replacingOccurrences(of: "\"120\"", with: "\"100\"")
        let losses = try findings(moved, against: old)
        #expect(losses.map(\.code) == ["right-lost"])
        let place = try #require(losses.first?.place)
        #expect(place.hasPrefix("entitlements/premium/iOS/a build from 100 to below 120"))
        let covered = acknowledging("right-lost", place, in: moved)
        #expect(try findings(covered, against: old).unacknowledgedErrors == [])
        // A boundary that moves further takes away more rights than were acknowledged.
        let further = covered.replacingOccurrences(of: "build: \"100\"", with: "build: \"90\"")
        #expect(
            Set(try findings(further, against: old).unacknowledgedErrors.map(\.code)) == [
                "right-lost", "acknowledgment-without-finding",
            ])
    }

    @Test func `an acknowledgment without a finding is a mistake at its place`() throws {
        let text = acknowledging("changeover-wide", "eras/freemium", in: Self.policy)
        let found = try findings(text)
        #expect(found.map(\.code) == ["changeover-wide", "acknowledgment-without-finding"])
        #expect(found.last?.isMistake == true)
        #expect(
            found.last?.description
                == "policy.yaml:14:44: error: there is no finding `changeover-wide` at `eras/freemium`; it is reported at `eras/freemium/changeover`; remove this acknowledgment or correct `at` [acknowledgment-without-finding]"
        )
        let misspelled = try findings(acknowledging("changeover-wild", "eras/freemium/changeover"))
        #expect(
            misspelled.last?.message == "there is no rule `changeover-wild`; did you mean `changeover-wide`?")
    }

    @Test(arguments: ["mistake", "malformed-version", "build-numbers-unsaid", "acknowledgment-without-finding"])
    func `mistakes of a policy can't be acknowledged`(_ code: String) throws {
        let found = try findings(acknowledging(code, "eras/freemium/changeover"))
        #expect(found.last?.code == "acknowledgment-without-finding")
        #expect(found.last?.message.contains("can't be acknowledged") == true)
        // The position is that of `code`, because no other `at` would help.
        #expect(found.last?.description.hasPrefix("policy.yaml:14:23: ") == true)
        // A mistake has no place that an acknowledgment could name.
        let broken = acknowledging("mistake", "", in: Self.policy.replacingOccurrences(of: "+720h", with: "a month"))
        #expect(try findings(broken).contains { $0.code == "mistake" && !$0.isAcknowledged })
    }

    @Test func `an acknowledgment isn't reported as unused if its rule needs a file that isn't given`() throws {
        #expect(
            try findings(acknowledging("right-lost", "entitlements/premium/iOS")).map(\.code) == ["changeover-wide"])
        let list = "iOS,110,2015-02-16,paid\niOS,120,2015-06-10T18:00:00Z,free\n"
        let text = acknowledging("build-not-above-paid", "releases/iOS/90")
        #expect(try findings(text).map(\.code) == ["changeover-wide"])
        #expect(
            try findings(text, list: list).map(\.code).contains("acknowledgment-without-finding"))
    }

    @Test func `two acknowledgments of one finding are a mistake`() throws {
        let twice =
            Self.policy + """
                acknowledge:
                  - { code: changeover-wide, at: eras/freemium/changeover, reason: a }
                  - { code: changeover-wide, at: eras/freemium/changeover, reason: b }

                """
        #expect(
            try findings(twice).map(\.description).contains {
                $0.hasPrefix(
                    "policy.yaml:16:5: error: `changeover-wide` at `eras/freemium/changeover` is acknowledged twice")
            })
    }

    @Test func `a compiled policy contains its acknowledgments`() throws {
        let text = acknowledging("changeover-wide", "eras/freemium/changeover")
        let policy = try PolicyFile.read(text, named: "policy.yaml")
        #expect(policy.acknowledgments.map(\.code) == ["changeover-wide"])
        #expect(try PolicyFile.read(PolicyFile.compile(policy), named: "policy.json") == policy)
        #expect(Linter.findings(in: policy).unacknowledged(.note) == [])
        #expect(policy != (try PolicyFile.read(Self.policy, named: "policy.yaml")))
    }

    /// Every finding of every rule can be acknowledged by its code and place.
    @Test(arguments: LintRule.all.filter { $0.check != nil }.map(\.code))
    func `each finding of a policy check can be acknowledged by its code and place`(_ code: String) throws {
        let files = LintFiles(of: code, .triggers)
        let found = try files.findings.filter { !$0.isMistake }
        let places = found.map { "\($0.code) \($0.place)" }
        #expect(Set(places).count == places.count, "\(places)")
        let entries = found.map {
            JSONValue.object([
                "code": .string($0.code), "at": .string($0.place), "reason": .string("it is meant"),
            ])
        }
        let draft = try files.draft.edited(by: [.write(.array(entries), at: ["acknowledge"])])
        let after = Linter.findings(in: draft, releases: try files.releases, against: try files.old)
        #expect(after.count == (try files.findings.count))
        #expect(after.allSatisfy { $0.isAcknowledged || $0.isMistake })
    }
}
