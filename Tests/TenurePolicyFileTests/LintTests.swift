import Foundation
import TenureCore
import Testing

@testable import TenurePolicyFile

/// What the linter does beside its rules.
@Suite struct LintTests {
    private static let policy = """
        app: { bundleID: com.example.calculator, appleID: 828838134 }
        eras:
          - { name: paid, model: paid }
          - name: freemium
            model: free
            begins:
              iOS: { build: "120", at: 2015-06-10T18:00:00Z }
            changeover: { from: -24h, until: +48h }
        buildNumbers: increasing
        entitlements:
          premium:
            products: [com.example.calculator.premium]
            honours: [paid]
        """

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

    @Test func `the shipped example has no finding at all`() throws {
        #expect(try codes(ofFile: "Examples/calculator/policy.yaml") == [])
    }

    /// The stories of the scenarios need a change without a window, and apps that are on no Apple TV.
    @Test(arguments: [
        ("calculator", ["inherits-from-ios"]),
        ("free-paid-free", ["no-changeover", "inherits-from-ios", "no-changeover"]),
        ("reused-builds", ["no-changeover"]),
        ("string-compared-majors", ["no-changeover", "inherits-from-ios"]),
        ("universal-purchase", ["no-changeover", "inherits-from-ios"]),
    ])
    func `the policies of the scenarios have the findings that their stories need`(
        _ name: String, _ expected: [String]
    ) throws {
        #expect(try codes(ofFile: "Examples/scenarios/\(name).policy.yaml") == expected)
    }

    @Test func `a file with mistakes has the findings of its sound parts, too`() throws {
        let text = Self.policy.replacingOccurrences(of: "    changeover: { from: -24h, until: +48h }\n", with: "")
            .replacingOccurrences(of: "buildNumbers: increasing\n", with: "inDoubt: never\n")
        #expect(try codes(text) == ["build-numbers-unsaid", "no-changeover", "inherits-from-ios", "mistake"])
    }

    @Test func `what could not be read was not left out`() throws {
        let undated = Self.policy.replacingOccurrences(of: "2015-06-10T18:00:00Z", with: "2015-06-10")
        #expect(try codes(undated) == ["mistake"])
        let unlimited = Self.policy.replacingOccurrences(of: "-24h", with: "a day")
        #expect(try codes(unlimited).filter { $0 != "inherits-from-ios" } == ["mistake"])
        let nameless = Self.policy.replacingOccurrences(of: "name: paid, ", with: "")
        #expect(try codes(nameless) == ["mistake"])
    }

    @Test(arguments: ["", "app", "[1", "{}", "eras: []", "eras: [{ name: paid, model: paid }]", "\u{0}"])
    func `what is hardly a file is a mistake and no more`(_ text: String) throws {
        let codes = try codes(text)
        #expect(!codes.isEmpty)
        #expect(Set(codes) == ["mistake"])
    }

    @Test func `a policy that exists is linted without a file`() throws {
        let policy = try PolicyFile.read(Self.policy, named: "policy.yaml")
        #expect(Linter.findings(in: policy).map(\.code) == ["inherits-from-ios"])
    }

    @Test func `the findings of a file come in the order of its text, those of its list after them`() throws {
        for code in LintRule.all.map(\.code) {
            let positions = try LintFiles(of: code, .triggers).findings.map(\.position)
            let places = positions.map { ($0.file == "policy.yaml" ? 0 : 1, $0.line, $0.column) }
            #expect(zip(places, places.dropFirst()).allSatisfy { $0 <= $1 }, "\(code)")
        }
    }

    @Test func `two files differ in a comment and a policy loses nothing against itself`() throws {
        #expect(try codes("# the same\n" + Self.policy, against: Self.policy) == ["inherits-from-ios"])
    }
}
