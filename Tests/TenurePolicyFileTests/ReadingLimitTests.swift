import Foundation
import TenureCore
import Testing

@testable import TenurePolicyFile

/// Limits of the readers, on both sides, and the exact text of what is written.
@Suite struct ReadingLimitTests {
    private func mistakes(_ text: String) -> String {
        do throws(PolicyFileError) {
            _ = try PolicyFile.read(text, named: "policy.yaml")
            return ""
        } catch {
            return error.description
        }
    }

    private static let smallest = """
        app: { bundleID: com.example.calculator }
        eras: [{ name: paid, model: paid }]
        entitlements: { everything: { honors: [paid] } }

        """

    // MARK: Compiling

    @Test func `a compiled policy has every setting, even if the file leaves it out`() throws {
        let compiled = PolicyFile.compile(try PolicyFile.read(Self.smallest, named: "policy.yaml"))
        let expected: [String] = [
            #"{"app":{"bundleID":"com.example.calculator"},"eras":[{"name":"paid","model":"paid"}],"#,
            #""entitlements":{"everything":{"honors":["paid"]}},"inDoubt":"favorCustomer","#,
            #""whileUndetermined":{"allow":"72h"},"testEnvironments":"newCustomer"}"#,
        ]
        #expect(String(decoding: compiled, as: UTF8.self) == expected.joined())
    }

    @Test func `a compiled policy has all keys, platforms and limits in a fixed order`() throws {
        let text = """
            acknowledge: [{ reason: it is meant, at: app, code: no-apple-id }]
            testEnvironments: owner
            whileUndetermined: deny
            inDoubt: undetermined
            entitlements:
              cloud:
                trial: { days: 14 }
                honors:
                  - { until: 2030-01-01T00:00:00Z, for: P1Y3M2D, boughtBefore: 2015-01-01T00:00:00Z, boughtSince: 2014-06-10T12:00:00Z, era: paid }
                  - { era: free }
                products: [a, { for: P3M, title: { en: Season }, id: b }]
                title: { en: Cloud, de: Wolke }
            releases:
              - { model: paid, releasedAt: 2014-05-01, build: "7", version: "1.10", platform: macOS }
              - { releasedAt: 2015-06-12T18:00:00Z, version: "2.0", platform: macOS }
            buildNumbers: restarted
            eras:
              - { model: paid, name: paid }
              - name: free
                model: free
                changeover: { until: 90m }
                begins: { tvOS: new, macOS: { at: 2015-06-12T18:00:00.250Z, version: "2.0" }, iOS: { build: "120" } }
            app: { appleID: 828838134, bundleID: com.example.calculator }
            """
        let expected: [String] = [
            #"{"app":{"bundleID":"com.example.calculator","appleID":828838134},"#,
            #""eras":[{"name":"paid","model":"paid"},{"name":"free","model":"free","begins":{"iOS":{"build":"120"},"#,
            #""macOS":{"version":"2.0","at":"2015-06-12T18:00:00.250Z"},"tvOS":"new"},"#,
            #""changeover":{"from":"0h","until":"90m"}}],"buildNumbers":"restarted","#,
            #""releases":[{"platform":"macOS","version":"1.10","build":"7","releasedAt":"2014-05-01","model":"paid"},"#,
            #"{"platform":"macOS","version":"2.0","releasedAt":"2015-06-12T18:00:00Z"}],"#,
            #""entitlements":{"cloud":{"title":{"en":"Cloud","de":"Wolke"},"products":["a",{"id":"b","#,
            #""title":{"en":"Season"},"for":"P3M"}],"honors":[{"era":"paid","boughtSince":"2014-06-10T12:00:00Z","#,
            #""boughtBefore":"2015-01-01T00:00:00Z","for":"P1Y3M2D","until":"2030-01-01T00:00:00Z"},"free"],"#,
            #""trial":{"days":14}}},"inDoubt":"undetermined","whileUndetermined":"deny","testEnvironments":"owner","#,
            #""acknowledge":[{"code":"no-apple-id","at":"app","reason":"it is meant"}]}"#,
        ]
        let compiled = PolicyFile.compile(try PolicyFile.read(text, named: "policy.yaml"))
        #expect(String(decoding: compiled, as: UTF8.self) == expected.joined())
    }

    // MARK: Text

    @Test(
        arguments: [
            ("a: x\u{7F}", "policy.yaml:1:5: the control character U+007F isn't allowed here; remove it"),
            ("a: \u{E4}\u{85}", "policy.yaml:1:5: the control character U+0085 isn't allowed here; remove it"),
            ("a: 1\nb: \u{2028}", "policy.yaml:2:4: the control character U+2028 isn't allowed here; remove it"),
            ("a: \u{2029}", "policy.yaml:1:4: the control character U+2029 isn't allowed here; remove it"),
            ("a: \u{FEFF}", "policy.yaml:1:4: the control character U+FEFF isn't allowed here; remove it"),
            ("a: \u{FFFE}", "policy.yaml:1:4: the control character U+FFFE isn't allowed here; remove it"),
        ])
    func `a control character in a policy file is refused with its place`(text: String, mistake: String) {
        #expect(mistakes(text) == mistake)
    }

    @Test(arguments: ["\u{A0}", "\u{2027}", "\u{202A}", "\u{D7FF}", "\u{E000}", "\u{FEFE}", "\u{FFFD}", "\u{1F600}"])
    func `a printable character next to the control characters is allowed in a policy file`(character: String) {
        #expect(mistakes(Self.smallest + "# \(character)\n") == "")
    }

    @Test func `a policy file may be nested 64 levels deep`() {
        func nested(_ levels: Int) -> String {
            mistakes(String(repeating: "[", count: levels) + String(repeating: "]", count: levels))
        }
        #expect(
            nested(64)
                == "policy.yaml:1:1: this looks like a list, not like a policy; check the path, or begin the file with `app: { bundleID: com.example.calculator }`"
        )
        #expect(
            nested(65)
                == "policy.yaml:1:65: this is nested deeper than 64 levels, which no file needs; remove levels")
    }

    @Test func `a file of another kind is refused without a list of its unknown keys`() {
        #expect(
            mistakes("color: red\nsize: 3\n")
                == "policy.yaml:1:1: this looks like a file of another kind, not like a policy; check the path, or begin the file with `app: { bundleID: com.example.calculator }`"
        )
    }

    @Test(arguments: ["", "~", "null", "Null", "NULL"])
    func `a key of a policy without a value is a mistake, however YAML writes the missing value`(value: String) {
        #expect(
            mistakes(Self.smallest + "inDoubt: \(value)\n")
                == "policy.yaml:4:1: `inDoubt` has no value; write one, or remove the line")
        #expect(
            mistakes(Self.smallest + "inDoubt: \"null\"\n")
                == "policy.yaml:4:10: `null` is unknown here; write `favorCustomer` or `undetermined`")
    }

    @Test(
        arguments: [
            ("list.csv", "policy.yaml", "list.csv"), ("list.csv", "a/policy.yaml", "a/list.csv"),
            ("../list.csv", "/a/b/policy.yaml", "/a/b/../list.csv"), ("/list.csv", "/a/policy.yaml", "/list.csv"),
            ("list.csv", "-", "./list.csv"),
        ])
    func `the path of a release list is relative to the folder of the policy file`(
        file: String, policy: String, path: String
    ) {
        #expect(PolicyFile.path(of: file, beside: policy) == path)
    }

    // MARK: Advice

    @Test(
        arguments: [
            ("iso", ["iOS"], "did you mean `iOS`?"), ("xoz", ["iOS"], "write `iOS`"),
            ("pXXd", ["paid"], "did you mean `paid`?"), ("pXXX", ["paid"], "write `paid`"),
            ("plaXXorm", ["platform"], "did you mean `platform`?"), ("plXXXorm", ["platform"], "write `platform`"),
            ("chaXXXver", ["changever"], "did you mean `changever`?"),
            ("chXXXXver", ["changever"], "write `changever`"),
            ("PAID", ["free", "paid"], "did you mean `paid`?"), ("aipd", ["free", "paid"], "did you mean `paid`?"),
            ("color", ["a", "b"], "write `a` or `b`"), ("color", ["a", "b", "c"], "write one of `a`, `b` or `c`"),
            ("color", [], "write nothing"),
        ] as [(String, [String], String)])
    func `the advice about a misspelled word names the word if only a few letters differ`(
        word: String, known: [String], advice: String
    ) {
        #expect(Spelling.advice(for: word, among: known) == advice)
    }

    // MARK: Release lists

    @Test(
        arguments: [
            ("IOS", .iOS), ("iPadOS", .iOS), ("iPhone OS", .iOS), ("MAC_OS", .macOS), ("Mac OS X", .macOS),
            ("OS X", .macOS), ("Mac Catalyst", .macOS), ("TV_OS", .tvOS), ("Apple TV", .tvOS), ("WATCH_OS", .watchOS),
            ("xrOS", .visionOS), ("VISION_OS", .visionOS),
        ] as [(String, Platform)])
    func `an export may have the platform's name in App Store Connect or another common name`(
        name: String, platform: Platform
    ) throws {
        var mapping = ReleaseListFile.Mapping()
        mapping["Store"] = .platform
        let csv = "Store,Version,Build,Date\n\(name),1.0,37,2014-03-01\n"
        let list = try ReleaseListFile.listed(Array(csv.utf8), named: "builds.csv", mapping: mapping)
        #expect(list.map(\.release.platform) == [platform])
        // Only an export may have such names.
        #expect(throws: PolicyFileError.self) {
            try ReleaseListFile.listed(
                Array(csv.replacingOccurrences(of: "Store", with: "platform").utf8), named: "builds.csv")
        }
    }

    @Test func `a mapped column of an export takes precedence over the column with the standard name`() throws {
        var mapping = ReleaseListFile.Mapping()
        mapping["Bundle Version"] = .build
        let csv = "platform,build,bundle_version,date,Notes\niOS,1,37,2014-03-01,\"a, b\"\niOS,2,38\n"
        let list = try ReleaseListFile.listed(Array(csv.utf8), named: "builds.csv", mapping: mapping)
        #expect(list.map(\.release.build) == [AppVersion("37"), AppVersion("38")])
        #expect(list.map(\.release.releasedAt.text) == ["2014-03-01", "undated"])
        #expect(list.map(\.position.column) == [7, 7])
        #expect(list.map(\.position.line) == [2, 3])
    }

    @Test(
        arguments: [
            ("", "the release list is empty; begin it with `platform,version,build,releasedAt,model`"),
            ("build,version\n37,1.0\n", "the column `platform` is missing; add it to the first row"),
            ("build,version\n37,1.0\n", "the column `releasedAt` is missing; add it to the first row"),
            ("color,size\nred,3\n", "this doesn't look like a release list; check the path, or begin it with"),
            ("platform,build,date\n,37,2014-03-01\n", "builds.csv:2:1: this row has no `platform`; write one"),
        ])
    func `a release list without a necessary column or cell is refused`(csv: String, mistake: String) {
        let error = #expect(throws: PolicyFileError.self) {
            try ReleaseListFile.listed(Array(csv.utf8), named: "builds.csv")
        }
        #expect(error?.description.contains(mistake) == true, "\(error?.description ?? "")")
    }

    // MARK: Cases

    @Test func `a policy case is decided with each artifact first, forward and reversed`() {
        func proof(_ version: String) -> AppProof {
            AppProof(kind: .appTransaction, signedDate: nil, originalAppVersion: version)
        }
        var artifacts = PolicyCase.Artifacts()
        artifacts.app = ["1", "2", "3"].map(proof)
        let orders = artifacts.otherOrders.map { $0.app.compactMap(\.originalAppVersion).joined() }
        #expect(orders == ["231", "312", "321", "132", "213"])
        artifacts.app = [proof("1")]
        #expect(artifacts.otherOrders.isEmpty)
    }
}
