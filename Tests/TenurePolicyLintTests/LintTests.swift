import Foundation
import RepositoryFiles
import TenureCore
import TenurePolicyFile
import Testing

@testable import TenurePolicyLint

/// The parts of the linter that don't belong to one rule.
@Suite struct LintTests {
    private func codes(
        _ text: String, against old: String? = nil, at now: Date = .distantFuture
    ) throws -> [String] {
        Linter.findings(
            in: PolicyFile.draft(Array(text.utf8), named: "policy.yaml"),
            against: try old.map { try PolicyFile.read($0, named: "old.yaml") }, at: now
        ).map(\.code)
    }

    private func codes(ofFile path: String) throws -> [String] {
        let folder = (path as NSString).deletingLastPathComponent
        let draft = PolicyFile.draft(try RepositoryFile.bytes(path), named: path) {
            try RepositoryFile.bytes("\(folder)/\($0)")
        }
        return Linter.findings(in: draft).map(\.code)
    }

    @Test func `the example policy has no finding`() throws {
        #expect(try codes(ofFile: "Examples/calculator/policy.yaml") == [])
    }

    /// The calculator's entitlement `cloud` is new, and the policy doesn't give it to owners.
    @Test(arguments: [
        ("calculator", ["paid-era-unhonored"]),
        ("free-paid-free", []),
        ("reused-builds", []),
        ("string-compared-majors", []),
        ("universal-purchase", []),
    ])
    func `each scenario's policy in Examples has exactly the expected findings`(
        _ name: String, _ expected: [String]
    ) throws {
        #expect(try codes(ofFile: "Examples/scenarios/\(name).policy.yaml") == expected)
    }

    @Test func `a file with mistakes also gets the findings of its valid parts`() throws {
        let text = samplePolicy.replacingOccurrences(of: "    changeover: { from: -24h, until: +48h }\n", with: "")
            .replacingOccurrences(of: "buildNumbers: increasing\n", with: "inDoubt: never\n")
        #expect(try codes(text) == ["build-numbers-unsaid", "no-changeover", "mistake"])
    }

    @Test func `a change into an honored era that doesn't state its changeover is a warning`() throws {
        let text = samplePolicy.replacingOccurrences(of: "    changeover: { from: -24h, until: +48h }\n", with: "")
            .replacingOccurrences(of: "honors: [paid]", with: "honors: [freemium]")
        #expect(try codes(text).contains("no-changeover"))
        let stated = samplePolicy.replacingOccurrences(of: "{ from: -24h, until: +48h }", with: "none")
            .replacingOccurrences(of: "honors: [paid]", with: "honors: [freemium]")
        #expect(try !codes(stated).contains("no-changeover"))
    }

    @Test func `an element of a policy that can't be read isn't also reported as missing`() throws {
        let undated = samplePolicy.replacingOccurrences(of: "2015-06-10T18:00:00Z", with: "2015-06-10")
        #expect(try codes(undated) == ["mistake"])
        let unlimited = samplePolicy.replacingOccurrences(of: "-24h", with: "a day")
        #expect(try codes(unlimited) == ["mistake"])
        let nameless = samplePolicy.replacingOccurrences(of: "name: paid, ", with: "")
        #expect(try codes(nameless) == ["mistake"])
    }

    @Test(arguments: ["", "app", "[1", "{}", "eras: []", "eras: [{ name: paid, model: paid }]", "\u{0}"])
    func `a file that isn't a policy gets a mistake and no findings`(_ text: String) throws {
        let codes = try codes(text)
        #expect(!codes.isEmpty)
        #expect(Set(codes) == ["mistake"])
    }

    private func messages(
        _ edits: [(String, String)], list: String? = nil, at now: Date = .distantFuture
    ) throws -> [String] {
        try findingsInSamplePolicy(edits, list: list, at: now).map(\.description)
    }

    @Test func `a marketing version under build is found by its shape, and a build under version by the release list`()
        throws
    {
        let byShape = try messages([("\"120\"", "\"2.0\"")])
        #expect(
            byShape.contains { $0.hasPrefix("policy.yaml:7:21: warning: `2.0` looks like a marketing version") })
        let mac = ("      iOS: { build: \"120\"", "      macOS: { version: \"60\"")
        let byList = try messages([mac], list: "macOS,1.9,44,2014-02-01,paid\nmacOS,2.0,60,2015-06-10T18:00:00Z,free\n")
        #expect(
            byList.contains {
                $0.hasPrefix("policy.yaml:7:25: error: `60` is a build: the release list has it with version 2.0")
            })
    }

    @Test func `if every release has build 1, each rule about build numbers reports this only once`() throws {
        let list =
            "iOS,1.0,1,2014-01-01,paid\niOS,1.1,1,2014-05-01,paid\niOS,2.0,1,2015-06-10,free\niOS,2.1,1,2016-06-10,free\n"
        let found = try messages([("\"120\"", "\"1\"")], list: list)
        #expect(found.count { $0.hasSuffix("[build-reused]") } == 1)
        #expect(found.count { $0.hasSuffix("[increasing-contradicted]") } == 1)
        #expect(found.contains { $0.hasSuffix("[boundary-at-first-build]") })
        // Without a build, a purchase on the day of the change can be in either era. A year later only one era is
        // possible.
        let byDate = try messages([("build: \"120\", ", ""), ("increasing", "restarted")], list: list)
        #expect(byDate.map { $0.contains(": warning: ") && $0.hasSuffix("[build-reused]") } == [true])
    }

    @Test func `a planned boundary at a version that isn't released yet gets a note`() throws {
        let planned = [("2015-06-10T18", "2030-06-10T18")]
        let list = "iOS,1.6,110,2015-02-16,paid\n"
        let before = try #require(CivilDay("2029-01-01")?.midnight)
        let after = try #require(CivilDay("2031-01-01")?.midnight)
        #expect(
            try messages(planned, list: list, at: before).contains {
                $0.hasPrefix("policy.yaml:7:21: note: `freemium` begins")
            })
        #expect(
            try messages(planned, list: list, at: after).contains {
                $0.hasPrefix("policy.yaml:7:21: warning: `freemium` begins")
            })
    }

    @Test func `the newest release on sale across a change is a warning, unless the change is planned`() throws {
        let planned = [("2015-06-10T18", "2030-06-10T18")]
        let list = "iOS,1.6,110,2015-02-16,paid\n"
        let before = try #require(CivilDay("2029-01-01")?.midnight)
        let after = try #require(CivilDay("2031-01-01")?.midnight)
        #expect(try !messages(planned, list: list, at: before).contains { $0.hasSuffix("[sold-across-change]") })
        #expect(
            try messages(planned, list: list, at: after).contains {
                $0.hasPrefix("list.csv:2:9: warning: ") && $0.hasSuffix("[sold-across-change]")
            })
    }

    @Test func `findings about releases listed in the policy file have places in that file`() throws {
        let list = "releases:\n  - { platform: iOS, build: \"110\", releasedAt: 2015-02-16, model: free }\nbuildNumbers"
        #expect(
            try messages([("buildNumbers", list)]).contains {
                $0.hasPrefix("policy.yaml:10:5: error: the release list says that build 110")
            })
    }

    @Test func `a policy without a source file can be linted`() throws {
        let policy = try PolicyFile.read(samplePolicy, named: "policy.yaml")
        #expect(Linter.findings(in: policy).map(\.code) == [])
    }

    @Test func `findings follow the order of the policy file, and then of the release list`() throws {
        for code in LintRule.all.map(\.code) {
            let positions = try LintFiles(of: code, .triggers).findings.map(\.position)
            let places = positions.map { ($0.file == "policy.yaml" ? 0 : 1, $0.line, $0.column) }
            #expect(zip(places, places.dropFirst()).allSatisfy { $0 <= $1 }, "\(code)")
        }
    }

    @Test func `a policy that differs from the old one only in a comment loses no rights`() throws {
        #expect(try codes("# the same\n" + samplePolicy, against: samplePolicy) == [])
    }
}
