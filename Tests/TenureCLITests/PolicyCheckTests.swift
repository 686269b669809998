import CommandRunner
import Foundation
import Testing

/// The options, formats and exit codes of `tenure policy check`. `TenurePolicyLintTests` tests the rules.
@Suite struct PolicyCheckTests {
    private let folder: Folder
    private let policy: String
    private let releases = """
        platform,version,build,releasedAt,model
        iOS,1.6,110,2015-02-16,paid
        iOS,2.0,120,2015-06-10T18:00:00Z,free
        macOS,1.9,44,2014-02-01,paid
        macOS,2.0,60,2015-06-12T18:00:00Z,free
        iOS,2.2,90,2015-08-01,free

        """

    init() throws {
        folder = try Folder()
        policy = try folder.write(TestBed.policy, to: "policy.yaml")
    }

    @Test func `tenure policy check prints a finding's position, line, consequence and fix`() async throws {
        let list = try folder.write(releases, to: "shipped.csv")
        let result = try await Command.run("policy", "check", policy, "--releases", list)
        #expect(result.status == 2)
        #expect(result.errors == "")
        #expect(
            result.output == """
                \(list):6:9: error: anyone who installs build 90 today gets `everything` for nothing: build 90 of `freemium` on iOS (2015-08-01) is below build 110 of `paid` (2015-02-16) [build-not-above-paid]
                  6 | iOS,2.2,90,2015-08-01,free
                    |         ^
                  fix: ship a build above 110, and add the release list to the policy (key `releases`), so that the release date of build 90 is used
                  at: releases/iOS/90
                \(list):6:9: error: `buildNumbers: increasing` is wrong: on iOS build 90 (2015-08-01) came after build 120 (2015-06-10T18:00:00Z); builds between them prove the wrong era [increasing-contradicted]
                  6 | iOS,2.2,90,2015-08-01,free
                    |         ^
                  fix: write `buildNumbers: restarted` and `releases: shipped.csv`
                  at: releases/iOS/90
                \(policy): 2 errors

                """)
    }

    @Test func `tenure policy check --map reads a release list with other column names, values and prices`()
        async throws
    {
        let export = """
            Store,Marketing Version,Build Number,Day,Price,Notes
            IOS,1.6,110,2015-02-16,2.99,"first, and best"
            IOS,2.0,120,2015-06-10T18:00:00Z,0.00,
            MAC_OS,1.9,44,2014-02-01,4.99,
            MAC_OS,2.0,60,2015-06-12T18:00:00Z,0,
            IOS,2.2,90,2015-08-01,0,

            """
        let ours = try folder.write(releases, to: "ours.csv")
        let theirs = try folder.write(export, to: "theirs.csv")
        let mapping = ["Store=platform", "Build Number=build", "Day=released at", "price=price model"]
        let mapped = try await Command.run(
            ["policy", "check", policy, "--json", "--releases", theirs] + mapping.flatMap { ["--map", $0] })
        func messages(_ result: Command.Result) throws -> [String?] {
            try #require(try result.json()["findings"] as? [[String: Any]]).map { $0["message"] as? String }
        }
        let direct = try await Command.run("policy", "check", policy, "--json", "--releases", ours)
        #expect(try messages(mapped) == (try messages(direct)))
        #expect(try messages(mapped).count == 2)

        let unmapped = try await Command.run("policy", "check", policy, "--releases", theirs)
        #expect(unmapped.status == 2)
        #expect(unmapped.output.contains("theirs.csv:1:1: error: the column `Store` is unknown"))
        let missing = try await Command.run("policy", "check", policy, "--releases", theirs, "--map", "Kind=model")
        #expect(missing.output.contains("the first row has no column `kind` for `model`"))
    }

    @Test(arguments: [
        ["--map", "Day=date"], ["--releases", "x.csv", "--map", "Day"], ["--releases", "x.csv", "--map", "Day=color"],
        ["--json", "--format", "sarif"], ["--format", "xml"], ["--at", "soon"],
    ])
    func `contradicting or invalid options of tenure policy check are wrong usage`(_ arguments: [String]) async throws {
        #expect(try await Command.run(["policy", "check", policy] + arguments).status == 64)
    }

    @Test func `tenure policy check exits with 1 if a file can't be read`() async throws {
        let nowhere = folder.url("nowhere").path
        #expect(try await Command.run("policy", "check", nowhere).status == 1)
        #expect(try await Command.run("policy", "check", policy, "--releases", nowhere).status == 1)
        #expect(try await Command.run("policy", "check", policy, "--against", nowhere).status == 1)
        let broken = try folder.write("app: 1", to: "broken.yaml")
        let result = try await Command.run("policy", "check", policy, "--against", broken)
        #expect(result.status == 1)
        #expect(
            result.errors.hasPrefix("error: the policy of --against has mistakes; correct them first:\n\(broken):1:"))
    }

    @Test func `tenure policy check fails for warnings only with --strict, and never for notes`() async throws {
        let wide = try folder.write(
            TestBed.policy.replacingOccurrences(of: "until: +48h", with: "until: +480h"),
            to: "wide.yaml")
        let lenient = try await Command.run("policy", "check", wide)
        #expect(lenient.status == 0)
        #expect(lenient.output.hasSuffix("\(wide): no mistakes, 1 warning\n"))
        #expect(try await Command.run("policy", "check", "--strict", wide).status == 2)
        #expect(try await Command.run("policy", "check", "--strict", policy).status == 0)
    }

    @Test func `tenure policy check --against reports lost rights as errors`() async throws {
        let earlier = try folder.write(
            TestBed.policy.replacingOccurrences(of: "honors: [paid]", with: "honors: []"), to: "earlier.yaml")
        let result = try await Command.run("policy", "check", earlier, "--against", policy, "--json")
        #expect(result.status == 2)
        let json = try result.json()
        #expect(json["valid"] as? Bool == true)
        #expect(json["passed"] as? Bool == false)
        #expect((json["mistakes"] as? [Any])?.isEmpty == true)
        let findings = try #require(json["findings"] as? [[String: Any]])
        #expect(findings.contains { $0["code"] as? String == "right-lost" && $0["severity"] as? String == "error" })
        #expect(try await Command.run("policy", "check", policy, "--against", earlier).status == 0)

        let broken = try folder.write(TestBed.policy + "\ncolor: red\n", to: "broken.yaml")
        let uncompared = try await Command.run("policy", "check", broken, "--against", policy)
        #expect(uncompared.output.contains("not compared with the earlier policy: correct the mistakes first"))
    }

    @Test func `the SARIF of tenure policy check describes each rule once, and has the policy file's URI`() async throws
    {
        try FileManager.default.createDirectory(atPath: folder.url("a b").path, withIntermediateDirectories: false)
        let spaced = try folder.write(
            TestBed.policy.replacingOccurrences(of: "until: +48h", with: "until: +480h"),
            to: "a b/policy.yaml")
        let result = try await Command.run("policy", "check", spaced, "--format", "sarif")
        #expect(result.status == 0)
        let log = try result.json()
        #expect(log["version"] as? String == "2.1.0")
        let run = try #require((log["runs"] as? [[String: Any]])?.first)
        #expect(run["columnKind"] as? String == "unicodeCodePoints")
        let driver = try #require((run["tool"] as? [String: Any])?["driver"] as? [String: Any])
        let rules = try #require(driver["rules"] as? [[String: Any]])
        let ids = rules.compactMap { $0["id"] as? String }
        #expect(ids.count == rules.count && Set(ids).count == ids.count)
        for rule in rules {
            for key in ["shortDescription", "fullDescription", "help"] {
                #expect((rule[key] as? [String: Any])?["text"] as? String != "")
            }
        }
        let results = try #require(run["results"] as? [[String: Any]])
        #expect(results.compactMap { $0["ruleId"] as? String } == ["changeover-wide"])
        for result in results {
            let index = try #require(result["ruleIndex"] as? Int)
            #expect(ids[index] == result["ruleId"] as? String)
            #expect(["error", "warning", "note"].contains(result["level"] as? String))
            let location = try #require((result["locations"] as? [[String: Any]])?.first)
            let place = try #require(location["physicalLocation"] as? [String: Any])
            let uri = try #require((place["artifactLocation"] as? [String: Any])?["uri"] as? String)
            #expect(URL(string: uri)?.path == spaced)
            let region = try #require(place["region"] as? [String: Int])
            #expect(region["startLine"] ?? 0 > 0 && region["startColumn"] ?? 0 > 0)
        }
    }

    /// The members of objects in OASIS's schema (sarif-schema-2.1.0.json): first the required ones, then the
    /// optional ones. The schema allows no other members.
    private static let sarifMembers: [String: (required: Set<String>, others: Set<String>)] = [
        "": (["version", "runs"], ["$schema"]),
        "runs": (["tool"], ["results", "columnKind"]),
        "tool": (["driver"], []),
        "driver": (["name"], ["semanticVersion", "version", "informationUri", "rules"]),
        "rules": (["id"], ["shortDescription", "fullDescription", "help", "helpUri", "defaultConfiguration"]),
        "shortDescription": (["text"], ["markdown"]),
        "fullDescription": (["text"], ["markdown"]),
        "help": (["text"], ["markdown"]),
        "defaultConfiguration": ([], ["level", "enabled", "rank"]),
        "results": (["message"], ["ruleId", "ruleIndex", "level", "locations", "suppressions"]),
        "message": ([], ["text", "markdown", "id", "arguments"]),
        "locations": ([], ["id", "physicalLocation", "message"]),
        "physicalLocation": ([], ["artifactLocation", "region"]),
        "artifactLocation": ([], ["uri", "uriBaseId"]),
        "region": ([], ["startLine", "startColumn", "endLine", "endColumn"]),
        "suppressions": (["kind"], ["status", "justification", "guid", "location"]),
    ]

    private func expectSARIF(_ value: Any, at name: String = "") throws {
        if let values = value as? [Any] {
            for value in values { try expectSARIF(value, at: name) }
        } else if let object = value as? [String: Any] {
            let (required, others) = try #require(Self.sarifMembers[name], "`\(name)` is no object of ours")
            let members = Set(object.keys)
            #expect(required.isSubset(of: members), "`\(name)` lacks \(required.subtracting(members))")
            #expect(members.isSubset(of: required.union(others)), "`\(name)` has \(members.subtracting(others))")
            for (member, value) in object { try expectSARIF(value, at: member) }
        }
    }

    @Test func `the SARIF of tenure policy check has all required fields, and no unknown fields`() async throws {
        for (name, text) in [("policy.yaml", TestBed.policy), ("broken.yaml", TestBed.policy + "\ncolor: red\n")] {
            let policy = try folder.write(text, to: name)
            try expectSARIF(try await Command.run("policy", "check", policy, "--format", "sarif").json())
        }
    }

    @Test func `tenure policy check shows acknowledged findings, and doesn't fail for them`() async throws {
        let list = try folder.write(releases, to: "shipped.csv")
        let acknowledged = try folder.write(
            TestBed.policy + """

                acknowledge:
                  - { code: build-not-above-paid, at: releases/iOS/90, reason: a dozen testers have it }

                """, to: "acknowledged.yaml")
        let arguments = ["policy", "check", acknowledged, "--releases", list]
        let text = try await Command.run(arguments)
        #expect(text.status == 2)
        #expect(
            text.output.hasPrefix(
                "\(list):6:9: error, acknowledged: anyone who installs build 90 today gets `everything`"))
        #expect(text.output.contains("\n  acknowledged: a dozen testers have it\n"))
        #expect(text.output.hasSuffix("\(acknowledged): 1 error, 1 acknowledged\n"))

        let json = try await Command.run(arguments + ["--json"]).json()
        let findings = try #require(json["findings"] as? [[String: Any]])
        #expect(findings.map { $0["at"] as? String } == ["releases/iOS/90", "releases/iOS/90"])
        #expect(findings.map { $0["acknowledged"] as? String } == ["a dozen testers have it", nil])
        #expect(json["valid"] as? Bool == true && json["passed"] as? Bool == false)

        let log = try await Command.run(arguments + ["--format", "sarif"]).json()
        try expectSARIF(log)
        let run = try #require((log["runs"] as? [[String: Any]])?.first)
        let suppressions = try #require(run["results"] as? [[String: Any]])
            .map { ($0["suppressions"] as? [[String: String]]) ?? [["kind": "none"]] }
        let accepted = ["kind": "inSource", "status": "accepted", "justification": "a dozen testers have it"]
        #expect(suppressions == [[accepted], []])

        let both = try folder.write(
            TestBed.policy + """

                acknowledge:
                  - { code: build-not-above-paid, at: releases/iOS/90, reason: a dozen testers have it }
                  - { code: increasing-contradicted, at: releases/iOS/90, reason: the same }

                """, to: "both.yaml")
        #expect(try await Command.run("policy", "check", both, "--releases", list, "--strict").status == 0)
        // The list no longer has that build.
        let fixed = try folder.write(releases.replacingOccurrences(of: ",90,", with: ",140,"), to: "fixed.csv")
        let stale = try await Command.run("policy", "check", both, "--releases", fixed)
        #expect(stale.status == 2)
        #expect(
            stale.output.contains("error: there is no finding `build-not-above-paid` at `releases/iOS/90`; remove this")
        )
    }

    @Test func `tenure policy check doesn't suggest a release list for the policy if the list needs --map`()
        async throws
    {
        let export = try folder.write(
            releases.replacingOccurrences(of: "releasedAt", with: "Day"), to: "export.csv")
        let result = try await Command.run(
            "policy", "check", policy, "--releases", export, "--map", "Day=releasedAt")
        #expect(result.status == 2)
        #expect(!result.output.contains("`releases: "))
    }

    @Test func `the help of tenure policy check names every exit code`() async throws {
        let help = try await Command.run("policy", "check", "--help").output
        let words = help.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(
            words.contains("Exit codes: 0 no errors; 2 errors, or with --strict warnings; 1 a file can't be read; 64"))
    }
}
