import TenureCore
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
    func `a text with a NUL character is refused anywhere in a policy`(_ text: String) {
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
    }

    @Test func `an edit of a policy file removes or adds a list element or a key, and leaves the others unchanged`() {
        let draft = PolicyFile.draft(Array(Self.policy.utf8), named: "policy.yaml")
        func products(_ edit: PolicyEdit) -> [String]? {
            draft.edited(by: [edit]).policy?.entitlements[0].products.map(\.id)
        }
        let path: [PolicyMistake.Step] = [.key("entitlements"), .key("everything"), .key("products")]
        #expect(products(.remove(path + [.index(1)])) == ["season", "yearly"])
        #expect(products(.remove(path + [.index(3)])) == ["season", "monthly", "yearly"])
        #expect(products(.write(.text("weekly"), at: path + [.index(3)])) == ["season", "monthly", "yearly", "weekly"])
        #expect(products(.remove(path)) == [])
    }
}
