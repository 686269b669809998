import Foundation
import TenureCore
import TenureJSON
import Testing

@testable import TenurePolicyFile

/// The parts of a policy file that are easily lost: a removed key, a text in a list, a title.
@Suite struct DocumentTests {
    private static let policy = """
        app: { bundleID: com.example.calculator }
        eras: [{ name: paid, model: paid }]
        entitlements:
          everything:
            products: [{ id: season, for: P3M, title: { en: Season Pass, de: Saisonpass } }, monthly, yearly]
            honors: [paid]

        """

    private func mistakes(_ text: String, named name: String = "policy.yaml", csv: String? = nil) -> String {
        do throws(PolicyFileError) {
            _ = try PolicyFile.read(text, named: name) { _ in
                guard let csv else { throw PolicyFile.NoReleaseList() }
                return Array(csv.utf8)
            }
            return ""
        } catch {
            return error.description
        }
    }

    @Test func `in a policy case's overrides, null removes a key, and another value replaces the key's value`() throws {
        func decisions(_ override: String) throws -> [[String]] {
            let cases = """
                now: 2015-07-01
                cases:
                  - name: an owner
                    policy: { entitlements: { everything: { \(override) } } }
                    app: { originalAppVersion: "37", originalPurchaseDate: 2014-11-01 }
                    expect: { everything: denied }
                """
            return try PolicyCases.read(
                Array(cases.utf8), named: "cases.yaml", policy: (Array(Self.policy.utf8), "policy.yaml")
            ).run().map(\.differences)
        }
        #expect(try decisions("honors: null") == [[]])
        #expect(try decisions("honors: []") == [[]])
        #expect(try decisions("title: null") != [[]])
    }

    @Test(arguments: [
        #"{"app":{"bundleID":"com.example\u0000"}}"#, #"{"app":{"bundle\u0000ID":"com.example"}}"#,
        #"{"entitlements":{"everything":{"products":["monthly","year\u0000ly"]}}}"#,
        #"{"entitlements":{"everything":{"products":[{"id":"year\u0000ly"}]}}}"#,
        #"{"entitlements":{"everything":{"products":[["year\u0000ly"]]}}}"#,
    ])
    func `a string with a NUL character is refused anywhere in a policy`(_ text: String) {
        #expect(mistakes(text, named: "policy.json").contains("the text has a NUL character"))
    }

    @Test func `the column of a mistake in JSON counts characters, not bytes`() {
        let text = #"{"app":{"bundleID":"com.example.räuber","größe":1}}"#
        #expect(
            mistakes(text, named: "policy.json").contains("policy.json:1:41: "),
            "\(mistakes(text, named: "policy.json"))")
    }

    @Test(arguments: ["0", "0h", "-1h"])
    func `a whileUndetermined that allows zero or negative time is a mistake`(_ length: String) {
        #expect(
            mistakes(Self.policy + "whileUndetermined: { allow: \(length) }\n") == """
                policy.yaml:7:29: `\(length)` allows nothing; write a length such as `72h`, or `whileUndetermined: deny`
                """)
        #expect(mistakes(Self.policy + "whileUndetermined: { allow: 1s }\n") == "")
    }

    @Test func `a column that occurs twice in a release list is a mistake`() {
        let text = Self.policy + "buildNumbers: increasing\nreleases: builds.csv\n"
        let csv = "platform,build,releasedAt,Build\niOS,37,2014-03-01,38\n"
        #expect(
            mistakes(text, csv: csv)
                == "builds.csv:1:27: the column `build` occurs twice; keep one")
    }

    @Test func `a release list may have spaces after a closing quote, and no other text`() {
        let text = Self.policy + "buildNumbers: increasing\nreleases: builds.csv\n"
        let header = "platform,build,releasedAt,model\n"
        #expect(mistakes(text, csv: header + "iOS,\"37\" ,2014-03-01,\"paid\" \niOS,\"38\"\t,2014-04-01,paid\n") == "")
        #expect(
            mistakes(text, csv: header + "iOS,\"3\"7,2014-03-01,paid\niOS,\"38\" 9,2014-04-01,paid\n") == """
                builds.csv:2:8: there is text after a closing quote; write `""` for a quote inside the quoted text
                builds.csv:3:10: there is text after a closing quote; write `""` for a quote inside the quoted text
                """)
        #expect(
            mistakes(text, csv: header + "iOS,37,2014-03-01,\"paid\niOS,38,2014-04-01,paid\n")
                == "builds.csv:2:19: a quote isn't closed; write `\"` where the text ends")
    }

    @Test func `a doubled quote in a release list is one quote of the text`() {
        let text = Self.policy + "buildNumbers: increasing\nreleases: builds.csv\n"
        let csv = "platform,version,build,releasedAt\niOS,\"1.4 \"\"new\"\"\",37,2014-03-01\n"
        #expect(
            mistakes(text, csv: csv)
                == "builds.csv:2:5: `1.4 \"new\"` isn't a version that the App Store can order; write numbers separated by periods"
        )
    }

    @Test(arguments: ["\n", "\r\n", "\r"])
    func `a mistake in a policy file has the same line number with every kind of line break`(lineBreak: String) {
        let text = (Self.policy + "inDoubts: undetermined\n").replacingOccurrences(of: "\n", with: lineBreak)
        #expect(mistakes(text) == "policy.yaml:7:1: `inDoubts` is unknown here; did you mean `inDoubt`?")
    }

    @Test func `a price in a release list with a mapping is zero for a free release, and never negative or infinite`()
        throws
    {
        func models(_ prices: String...) throws -> [Era.Model?] {
            let rows = prices.enumerated().map { "IOS,\($0 + 37),2014-03-0\($0 + 1),\($1)\n" }.joined()
            var mapping = ReleaseListFile.Mapping()
            mapping["Price"] = .model
            return try ReleaseListFile.listed(
                Array(("platform,build,releasedAt,Price\n" + rows).utf8), named: "builds.csv", mapping: mapping
            ).map(\.release.model)
        }
        #expect(try models("0", "0.00", "0.01", "4.99") == [.free, .free, .paid, .paid])
        for price in ["-1", "-0.01", "inf", "nan"] {
            let error = #expect(throws: PolicyFileError.self) { try models(price) }
            #expect(
                error?.description == "builds.csv:2:19: `\(price)` isn't a model; write `paid` or `free`", "\(price)")
        }
    }

    @Test func `a compiled policy has the titles of products`() throws {
        let policy = try PolicyFile.read(Self.policy, named: "policy.yaml")
        let title = policy.entitlements[0].products[0].title
        #expect(title == ["en": "Season Pass", "de": "Saisonpass"])
        let again = try PolicyFile.read(PolicyFile.compile(policy), named: "policy.json")
        #expect(again.entitlements[0].products.map(\.title) == [title, nil, nil])
    }

    @Test func `a mistake in a file that isn't a policy doesn't show the file's lines`() {
        func showsExcerpts(_ text: String) -> [Bool]? {
            do throws(PolicyFileError) {
                _ = try PolicyFile.read(text, named: "policy.yaml")
                return nil
            } catch {
                return error.mistakes.map(\.showsExcerpt)
            }
        }
        #expect(showsExcerpts("-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49\n") == [false])
        #expect(showsExcerpts("password: [hunter2\n") == [false])
        #expect(showsExcerpts("eras: [paid\n") == [true])
        #expect(showsExcerpts("\u{FEFF}eras: [paid\n") == [true])
        #expect(showsExcerpts("name: x\neras: [paid\n") == [true])
        #expect(showsExcerpts(#"{"eras": ["#) == [true])
        // Only a whole key at the beginning of a line counts.
        #expect(showsExcerpts("  eras: [paid\n") == [false])
        #expect(showsExcerpts("erased: [hunter2\n") == [false])
        #expect(showsExcerpts(#"{"erased": ["#) == [false])
    }

    @Test func `a mistake in a file that isn't a release list doesn't show the file's lines`() {
        func showsExcerpts(_ text: String, _ mapping: ReleaseListFile.Mapping = .init()) -> [Bool]? {
            do throws(PolicyFileError) {
                _ = try ReleaseListFile.listed(Array(text.utf8), named: "list.csv", mapping: mapping)
                return nil
            } catch {
                return error.mistakes.map(\.showsExcerpt)
            }
        }
        #expect(showsExcerpts("platform,build\niOS,\"37\n") == [true])
        #expect(showsExcerpts("name;Build Number\nx,\"37\n") == [true])
        #expect(showsExcerpts("user,password\nada,\"hunter2\n") == [false])
        #expect(showsExcerpts("user,password\nada,hunter2\n") == [false])
        var mapping = ReleaseListFile.Mapping()
        mapping["Datum"] = .releasedAt
        #expect(showsExcerpts("Datum,name\n\"x\n") == [false])
        #expect(showsExcerpts("Datum,name\n\"x\n", mapping) == [true])
    }

    @Test func `a mapped column of a release list is used in place of the column with the field's name`() throws {
        var mapping = ReleaseListFile.Mapping()
        mapping["Internal Number"] = .build
        let list = "platform,build,internal_number,date,notes\niOS,1,37,2014-01-02,x\n"
        let day = try #require(CivilDay("2014-01-02"))
        #expect(
            try ReleaseListFile.listed(Array(list.utf8), named: "list.csv", mapping: mapping).map(\.release) == [
                Release(platform: .iOS, version: nil, build: AppVersion("37"), releasedAt: .day(day))
            ])
        mapping = ReleaseListFile.Mapping()
        mapping["Datum"] = .releasedAt
        let error = #expect(throws: PolicyFileError.self) {
            try ReleaseListFile.listed(Array("platform,build\niOS,37\n".utf8), named: "list.csv", mapping: mapping)
        }
        #expect(
            error?.description == """
                list.csv:1:1: the first row has no column `datum` for `releasedAt`; name another column with `--map COLUMN=releasedAt`
                list.csv:1:1: the column `releasedAt` is missing; add it to the first row
                """)
    }

    @Test(
        arguments: [
            (0, "0h"), (3600, "1h"), (5400, "90m"), (60, "1m"), (61, "61s"), (-86_400, "-24h"), (1.9, "1s"),
            (-1.9, "-1s"), (.nan, "0h"), (1e12, "999999999s"),
        ] as [(Double, String)])
    func `a duration is written in the largest unit of which it is a whole number`(seconds: Double, text: String) {
        #expect(Duration.text(seconds) == text)
    }

    @Test func `an edit of a policy file removes or adds a list element or a key, and leaves the others unchanged`() {
        let draft = PolicyFile.draft(Array(Self.policy.utf8), named: "policy.yaml")
        func products(_ edit: PolicyEdit) -> [String]? {
            draft.edited(by: [edit]).policy?.entitlements[0].products.map(\.id)
        }
        let path: [PolicyMistake.Step] = [.key("entitlements"), .key("everything"), .key("products")]
        #expect(products(.remove(path + [.index(1)])) == ["season", "yearly"])
        #expect(products(.remove(path + [.index(3)])) == ["season", "monthly", "yearly"])
        let weekly = PolicyEdit.write(.string("weekly"), at: path + [.index(3)])
        #expect(products(weekly) == ["season", "monthly", "yearly", "weekly"])
        #expect(products(.remove(path)) == [])
        // Removing a key of a list element keeps the element.
        let title = PolicyEdit.remove(path + [.index(0), .key("title")])
        #expect(products(title) == ["season", "monthly", "yearly"])
        #expect(draft.edited(by: [title]).policy?.entitlements[0].products[0].title == nil)
    }
}
