import Foundation
import RepositoryFiles
import TenureCore
import TenureJSON
import TenureMint
import Testing

@testable import TenurePolicyFile

@Suite struct PolicyFileTests {
    private func example(_ name: String) throws -> [UInt8] { try RepositoryFile.bytes("Examples/calculator/" + name) }

    private func calculator() throws -> Policy {
        try PolicyFile.read(try example("policy.yaml"), named: "policy.yaml") { try example($0) }
    }

    @Test func `the example policy file is read as its comments describe`() throws {
        let policy = try calculator()
        let change = try #require(Date(rfc3339: "2015-06-10T18:00:00Z"))
        #expect(policy.app == Policy.App(bundleID: "com.example.calculator", appleID: 828_838_134))
        #expect(policy.eras.map(\.name) == ["paid", "freemium"])
        #expect(policy.eras[1].begins[.iOS] == .at(version: AppVersion("120"), date: change))
        #expect(policy.eras[1].begins[.macOS]?.version == AppVersion("2.0"))
        #expect(policy.eras[1].changeover == .window(from: -24 * 3600, until: 48 * 3600))
        #expect(policy.buildNumbers == .increasing)
        #expect(policy.releases.count == 11)
        #expect(policy.releases.contains { $0.platform == .macOS && $0.version?.description == "1.10" })
        #expect(policy.entitlements.map(\.name) == ["everything", "cloud"])
        #expect(policy.entitlements[0].trial == .sessions(5))
        #expect(policy.entitlements[0].title == ["en": "Everything", "de": "Alles"])
        #expect(policy.entitlements[0].products[1].title == ["en": "Yearly Plan", "de": "Jahresabo"])
        #expect(
            policy.entitlements[1].honors == [
                Honor(
                    era: "paid", boughtSince: Date(rfc3339: "2014-06-09T10:00:00Z"), length: CalendarPeriod(months: 12))
            ])
        #expect(policy.inDoubt == .favorCustomer)
        #expect(policy.whileUndetermined == .allow(72 * 3600))
        #expect(policy.testEnvironments == .newCustomer)
    }

    @Test func `the policy cases of the example app pass`() throws {
        let cases = try PolicyCases.read(
            try example("cases.yaml"), named: "cases.yaml", policy: (try example("policy.yaml"), "policy.yaml")
        ) { try example($0) }
        for result in cases.run() { #expect(result.differences == [], "\(result.name)") }
    }

    @Test func `a policy in JSON is read as in YAML, with tabs, long keys and surrogate pairs`() throws {
        let yaml = """
            app: { bundleID: com.example.calculator }
            eras:
              - { name: "paid 😀", model: paid }
              - { name: free, model: free, begins: { iOS: { build: 1.10, at: "2015-06-10T18:00:00Z" } }, changeover: { until: 1d } }
            buildNumbers: restarted
            entitlements: { everything: { honors: ["paid 😀"] } }
            """
        let json = """
            {\t"app": {"bundleID": "com.example.calculator"},
            \t"eras"
            : [{"name":"paid \\uD83D\\uDE00", "model":"paid"},
            {"name":"free","model":"free","begins":{"iOS":{"build":1.10,"at":"2015-06-10T18:00:00Z"}},"changeover":{"until":"24h"}}],
            "buildNumbers":"restarted","entitlements":{"everything":{"honors":["paid \\ud83d\\ude00"]}}}
            """
        let policy = try PolicyFile.read(yaml, named: "policy.yaml")
        #expect(policy == (try PolicyFile.read(json, named: "policy.json")))
        // A file without a name that ends in `.json` is recognized as JSON by its text.
        #expect(policy == (try PolicyFile.read(json, named: "-")))
        #expect(policy.eras[1].begins[.iOS]?.version?.description == "1.10")
    }

    @Test func `a byte order mark and Windows line ends don't change a policy`() throws {
        let bytes = try example("policy.yaml")
        let windows: [UInt8] =
            [0xEF, 0xBB, 0xBF] + bytes.flatMap { (byte: UInt8) -> [UInt8] in byte == 0x0A ? [0x0D, 0x0A] : [byte] }
        let csv = try example("releases.csv")
        let windowsCSV: [UInt8] =
            [0xEF, 0xBB, 0xBF] + csv.flatMap { (byte: UInt8) -> [UInt8] in byte == 0x0A ? [0x0D, 0x0A] : [byte] }
        #expect(try PolicyFile.read(windows, named: "policy.yaml") { _ in windowsCSV } == (try calculator()))
    }

    @Test func `an ampersand or asterisk in comments and strings isn't taken for an anchor or alias`() throws {
        let text = """
            # bought *before* the change, R &D, or &after
            app: { bundleID: com.example.calculator } # see *this* &that
            eras: [{ name: "a & b", model: paid }, { name: c&d, model: free, begins: { macOS: new } }]
            entitlements: { everything: { honors: [a & b] } }
            """
        #expect(try PolicyFile.read(text, named: "policy.yaml").eras.map(\.name) == ["a & b", "c&d"])
    }

    @Test func `titles keep the order of their languages, and strings that look like other YAML types stay strings`()
        throws
    {
        let text = """
            app: { bundleID: com.example.calculator }
            eras: [{ name: paid, model: paid }]
            entitlements:
              everything:
                title: { de: "2015", no: Alt, zh-Hant: 全部 }
                products: [{ id: season, for: P3M, title: { en: Season Pass } }, plain]
            """
        let entitlement = try PolicyFile.read(text, named: "policy.yaml").entitlements[0]
        #expect(entitlement.title == ["de": "2015", "no": "Alt", "zh-Hant": "全部"])
        #expect(entitlement.title?.text(for: ["fr"]) == "2015")
        #expect(entitlement.products.map(\.title) == [["en": "Season Pass"], nil])
        #expect(entitlement.products[0].length == CalendarPeriod(months: 3))
    }

    @Test func `a day in an honor is included in every time zone, and an instant is used as it is`() throws {
        func honor(_ limits: String) throws -> Honor? {
            let text = """
                app: { bundleID: com.example.calculator }
                eras: [{ name: paid, model: paid }]
                entitlements: { everything: { honors: [{ era: paid, \(limits) }] } }
                """
            return try PolicyFile.read(text, named: "policy.yaml").entitlements[0].honors?.first
        }
        let days = try #require(
            try honor("boughtSince: 2014-06-10, boughtBefore: 2015-06-10, until: 2020-06-10"))
        #expect(days.boughtSince == Date(rfc3339: "2014-06-09T10:00:00Z"))
        #expect(days.boughtBefore == Date(rfc3339: "2015-06-10T12:00:00Z"))
        #expect(days.until == Date(rfc3339: "2020-06-11T12:00:00Z") && days.length == nil)
        let instants = try #require(
            try honor("boughtSince: 2014-06-10T00:00Z, boughtBefore: 2015-06-10T00:00Z, until: 2020-06-10T00:00Z"))
        #expect(instants.boughtSince == Date(rfc3339: "2014-06-10T00:00:00Z"))
        #expect(instants.boughtBefore == Date(rfc3339: "2015-06-10T00:00:00Z"))
        #expect(instants.until == Date(rfc3339: "2020-06-10T00:00:00Z"))
    }

    @Test func `a policy without settings has the defaults, and a changeover may have one side`() throws {
        func policy(_ changeover: String) throws -> Policy {
            let text = """
                app: { bundleID: com.example.calculator }
                eras:
                  - { name: paid, model: paid }
                  - name: free
                    model: free
                    begins: { macOS: { at: 2015-06-10T18:00:00Z } }
                    changeover: \(changeover)
                entitlements: { everything: { products: [a] }, cloud: { honors: [] } }
                """
            return try PolicyFile.read(text, named: "policy.yaml")
        }
        for (text, changeover) in [
            ("none", .noWindow), ("{ from: -24h }", .window(from: -86_400, until: 0)),
            ("{ until: 2d }", .window(from: 0, until: 172_800)), ("{ from: 0, until: 0 }", .window(from: 0, until: 0)),
        ] as [(String, Changeover)] {
            #expect(try policy(text).eras[1].changeover == changeover, "\(text)")
        }
        let plain = try policy("none")
        #expect(plain.app.appleID == nil && plain.buildNumbers == nil && plain.releases.isEmpty)
        #expect(plain.inDoubt == .favorCustomer && plain.testEnvironments == .newCustomer)
        #expect(plain.whileUndetermined == .allow(72 * 3600) && plain.acknowledgments.isEmpty)
        #expect(plain.entitlements.map(\.honors) == [nil, []])
        #expect(plain.entitlements.allSatisfy { $0.trial == nil && $0.title == nil })
    }

    // MARK: Compiling

    @Test func `a compiled policy is read as an equal policy, and compiles to the same bytes again`() throws {
        let policy = try calculator()
        let compiled = PolicyFile.compile(policy)
        let again = try PolicyFile.read(compiled, named: "policy.json")
        #expect(again == policy)
        #expect(PolicyFile.compile(again) == compiled)
        #expect(!compiled.contains(UInt8(ascii: "\n")))
    }

    @Test func `a compiled policy has each setting under its key, in a fixed order`() throws {
        let text = """
            acknowledge: [{ reason: x, at: app, code: no-apple-id }]
            testEnvironments: owner
            whileUndetermined: deny
            inDoubt: undetermined
            entitlements:
              everything:
                trial: { days: 7 }
                honors:
                  - until: 2020-01-01T00:00:00Z
                    boughtBefore: 2015-01-01T12:00:00Z
                    boughtSince: 2014-01-01T00:00:00Z
                    era: paid
                products: [a, { for: P3M, title: { en: B }, id: b }]
                title: { en: Full }
              cloud: { products: [c], honors: [] }
            releases:
              - { model: paid, releasedAt: 2014-05-01, build: "37", version: 1.10, platform: iOS }
              - { platform: iOS, build: "120" }
            buildNumbers: restarted
            eras:
              - { model: paid, name: paid }
              - name: free
                changeover: { until: +48h, from: -90m }
                begins: { tvOS: new, macOS: { at: 2015-06-12T18:00:00.250Z, version: "2.0" }, iOS: { build: "120" } }
                model: free
            app: { appleID: 1, bundleID: com.example.calculator }
            """
        let expected = #"""
            {"app":{"bundleID":"com.example.calculator","appleID":1},"eras":[{"name":"paid","model":"paid"},\#
            {"name":"free","model":"free","begins":{"iOS":{"build":"120"},"macOS":{"version":"2.0",\#
            "at":"2015-06-12T18:00:00.250Z"},"tvOS":"new"},"changeover":{"from":"-90m","until":"48h"}}],\#
            "buildNumbers":"restarted","releases":[{"platform":"iOS","version":"1.10","build":"37",\#
            "releasedAt":"2014-05-01","model":"paid"},{"platform":"iOS","build":"120"}],\#
            "entitlements":{"everything":{"title":{"en":"Full"},"products":["a",{"id":"b","title":{"en":"B"},\#
            "for":"P3M"}],"honors":[{"era":"paid","boughtSince":"2014-01-01T00:00:00Z",\#
            "boughtBefore":"2015-01-01T12:00:00Z","until":"2020-01-01T00:00:00Z"}],"trial":{"days":7}},\#
            "cloud":{"products":["c"],"honors":[]}},"inDoubt":"undetermined","whileUndetermined":"deny",\#
            "testEnvironments":"owner","acknowledge":[{"code":"no-apple-id","at":"app","reason":"x"}]}
            """#
        let compiled = PolicyFile.compile(try PolicyFile.read(text, named: "policy.yaml"))
        #expect(String(decoding: compiled, as: UTF8.self) == expected)
    }

    @Test func `a policy that is too large after compiling is refused`() throws {
        let text = """
            app: { bundleID: com.example.calculator }
            eras: [{ name: paid, model: paid }]
            buildNumbers: increasing
            releases: releases.csv
            entitlements: { everything: { honors: [paid] } }
            """
        func policy(_ releases: Int) throws -> Policy {
            let rows = (1...releases).map { "macOS,\($0),2014-06-10" }
            return try PolicyFile.read(text, named: "policy.yaml") { _ in
                Array((["platform,version,date"] + rows).joined(separator: "\n").utf8)
            }
        }
        let few = try policy(10)
        #expect(try PolicyFile.compileChecked(few, named: "policy.yaml") == PolicyFile.compile(few))
        let many = try policy(40_000)
        #expect(PolicyFile.compile(many).count > 1 << 20)
        let error = #expect(throws: PolicyFileError.self) {
            try PolicyFile.compileChecked(many, named: "policy.yaml")
        }
        #expect(error?.description.hasPrefix("policy.yaml, compiled:1:1: the file has ") == true)
    }

    @Test func `any valid policy is the same after compiling`() throws {
        var random = SeededRandom(seed: 2015)
        var count = 0
        for _ in 0..<1000 {
            guard let policy = try? RandomPolicy.make(&random) else { continue }
            count += 1
            let compiled = PolicyFile.compile(policy)
            let again = try PolicyFile.read(compiled, named: "policy.json")
            #expect(again == policy, "\(String(decoding: compiled, as: UTF8.self))")
            // Compact JSON is also valid YAML.
            #expect(try PolicyFile.read(compiled, named: "policy.yaml") == policy)
        }
        #expect(count > 200)
    }

    // MARK: Scalars

    @Test(arguments: [
        ("-24h", -86_400.0), ("+48h", 172_800), ("90m", 5400), ("2d", 172_800), ("1w", 604_800), ("30s", 30),
        ("1d12h", 129_600), ("PT24H", 86_400), ("P1DT12H", 129_600), ("-PT30M", -1800), ("P1W", 604_800), ("0", 0),
        ("11574d", 999_993_600), ("999999999s", 999_999_999),
    ])
    func `a policy file accepts lengths of time such as 72h, 1d12h and PT24H`(_ text: String, _ seconds: Double) {
        #expect(Duration.seconds(text) == seconds)
        #expect(Duration.seconds(Duration.text(seconds)) == seconds)
    }

    @Test(arguments: [
        "", "24", "h", "1h1d", "1h1h", "P", "PT", "P1H", "P1Y", "1.5h", "--1h", "9999999999s", "1 h", "24H", "PT1D",
        "11575d", "1654w", "999999999w", "1d999999999s",
    ])
    func `a policy file rejects lengths of time such as 24, 1.5h and 1h1h`(_ text: String) {
        #expect(Duration.seconds(text) == nil)
    }

    @Test(arguments: [
        ("2015-06-10T18:00:00Z", 1_433_959_200.0), ("2015-06-10T20:00:00+02:00", 1_433_959_200),
        ("2015-06-10T18:00Z", 1_433_959_200), ("2015-06-10 13:30:00.25-0430", 1_433_959_200.25),
        ("1970-01-01T00:00:00Z", 0), ("0001-01-01T00:00:00Z", -62_135_596_800), ("2016-12-31T23:59:60Z", 1_483_228_800),
    ])
    func `a policy file accepts instants with a time zone`(_ text: String, _ seconds: Double) throws {
        let date = try #require(Date(rfc3339: text))
        #expect(date.timeIntervalSince1970 == seconds)
        #expect(Date(rfc3339: date.rfc3339) == date)
    }

    @Test(arguments: [
        "", "2015-06-10", "2015-06-10T18:00:00", "2015-02-29T00:00:00Z", "2015-13-01T00:00:00Z", "2015-06-10T24:00:00Z",
        "2015-06-10T18:00:61Z", "2015-06-10T18:00:00.Z", "2015-06-10T18:00:00Zx", "2015-6-10T18:00:00Z",
        "２015-06-10T18:00Z",
        "2015-06-10T18:00:00+2:00",
    ])
    func `an RFC 3339 instant that is incomplete or doesn't exist isn't read`(_ text: String) {
        #expect(Date(rfc3339: text) == nil)
    }

    @Test func `RFC 3339 instants are written in UTC, with milliseconds only if they aren't zero`() {
        #expect(Date(timeIntervalSince1970: 1_433_959_200).rfc3339 == "2015-06-10T18:00:00Z")
        #expect(Date(timeIntervalSince1970: 1_433_959_200.25).rfc3339 == "2015-06-10T18:00:00.250Z")
        #expect(Date(timeIntervalSince1970: -62_135_769_600).rfc3339 == "0000-12-30T00:00:00Z")
        #expect(Date(timeIntervalSince1970: -0.001).rfc3339 == "1969-12-31T23:59:59.999Z")
        #expect(!Date(timeIntervalSince1970: .infinity).rfc3339.isEmpty)
    }
}

/// Policies with every element that a policy file can have. Not all of them are valid.
enum RandomPolicy {
    static func make(_ random: inout SeededRandom) throws(InvalidPolicy) -> Policy {
        let names = ["paid", "free \"x\"\n", "ünï😀", "null", "12", "~", "a: b", "\u{85}\u{2028}"].shuffled(
            using: &random)
        let eraCount = Int.random(in: 1...4, using: &random)
        var date = Date(timeIntervalSince1970: 1_400_000_000)
        var version = 10
        let eras = (0..<eraCount).map { index in
            date += Double(Int.random(in: 1...10_000_000, using: &random)) / 4
            version += Int.random(in: 0...20, using: &random)
            var begins: [Platform: Beginning] = [:]
            if index > 0 {
                for platform in Platform.allCases where Bool.random(using: &random) {
                    begins[platform] =
                        Int.random(in: 0..<6, using: &random) == 0
                        ? .new
                        : .at(
                            version: Bool.random(using: &random) ? AppVersion("\(version).0") : nil,
                            date: Bool.random(using: &random) ? date : nil)
                }
            }
            return Era(
                name: names[index], model: Bool.random(using: &random) ? .paid : .free, begins: begins,
                changeover: Bool.random(using: &random)
                    ? .window(
                        from: -Double(Int.random(in: 0...100_000, using: &random)),
                        until: Double(Int.random(in: 0...100_000, using: &random))) : .noWindow)
        }
        let releases = (0..<Int.random(in: 0...3, using: &random)).map { index in
            Release(
                platform: index == 0 ? .macOS : .iOS, version: AppVersion("1.\(index)"), build: AppVersion("\(index)"),
                releasedAt: Bool.random(using: &random) ? .day(CivilDay(of: date)) : .instant(date),
                model: Bool.random(using: &random) ? .free : nil)
        }
        let entitlements = (0..<Int.random(in: 1...3, using: &random)).map { index in
            Entitlement(
                name: "e\(index) \(names[index])",
                title: Bool.random(using: &random) ? ["de": "ünï😀 \(index)", "en": "a: \"b\""] : nil,
                products: (0..<Int.random(in: 0...2, using: &random)).map {
                    Entitlement.Product(
                        id: "p\($0)", title: Bool.random(using: &random) ? ["pt-BR": "null"] : nil,
                        length: Bool.random(using: &random) ? CalendarPeriod(months: 15, days: $0) : nil)
                },
                honors: Int.random(in: 0..<4, using: &random) == 0
                    ? nil
                    : (0..<Int.random(in: 0...2, using: &random)).map { _ in
                        Honor(
                            era: names[Int.random(in: 0..<eraCount, using: &random)],
                            boughtSince: Bool.random(using: &random) ? date - 1000 : nil,
                            boughtBefore: Bool.random(using: &random) ? date : nil,
                            length: Bool.random(using: &random) ? CalendarPeriod(days: 14) : nil,
                            until: Bool.random(using: &random) ? date : nil)
                    },
                trial: [nil, .sessions(5), .days(14)].randomElement(using: &random) ?? nil)
        }
        return try Policy(
            app: Policy.App(
                bundleID: "com.example.calculator", appleID: Bool.random(using: &random) ? 828_838_134 : nil),
            eras: eras,
            buildNumbers: Policy.BuildNumbers.allCases.randomElement(using: &random),
            releases: releases,
            entitlements: entitlements,
            inDoubt: Policy.InDoubt.allCases.randomElement(using: &random) ?? .undetermined,
            whileUndetermined: Bool.random(using: &random)
                ? .deny : .allow(Double(Int.random(in: 1...1_000_000, using: &random))),
            testEnvironments: Policy.TestEnvironments.allCases.randomElement(using: &random) ?? .owner)
    }
}
