import Foundation
import RepositoryFiles
import TenureCore
import Testing

@testable import TenurePolicyFile

/// The published JSON Schema and the reader accept the same keys.
@Suite struct SchemaTests {
    private func definitions() throws -> [String: [String: Any]] {
        let bytes = try RepositoryFile.bytes("Docs/policy.schema.json")
        let schema = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        #expect(schema["$schema"] as? String == "https://json-schema.org/draft/2020-12/schema")
        #expect(schema["$ref"] as? String == "#/$defs/policy")
        return try #require(schema["$defs"] as? [String: [String: Any]])
    }

    @Test(arguments: PolicyShape.allCases)
    func `the policy reader has and requires the same keys as policy.schema.json`(_ shape: PolicyShape) throws {
        let definition = try #require(try definitions()[shape.rawValue])
        let properties = try #require(definition["properties"] as? [String: Any])
        let keys = shape == .begins ? Platform.allCases.map(\.rawValue) : shape.keys.map(\.rawValue)
        #expect(Set(properties.keys) == Set(keys))
        #expect(Set(definition["required"] as? [String] ?? []) == Set(shape.required.map(\.key.rawValue)))
        if shape != .policy || definition["additionalProperties"] != nil {
            #expect(definition["additionalProperties"] as? Bool == false)
        }
    }

    @Test func `the policy reader knows every mapping of policy.schema.json`() throws {
        let mappings = try definitions().filter { $0.value["properties"] != nil }.keys
        #expect(Set(mappings) == Set(PolicyShape.allCases.map(\.rawValue)))
    }

    @Test func `policy.schema.json lists exactly the values that the reader accepts for each choice`() throws {
        let definitions = try definitions()
        let policy = try #require(definitions["policy"]?["properties"] as? [String: [String: Any]])
        #expect(policy["buildNumbers"]?["enum"] as? [String] == Policy.BuildNumbers.allCases.map(\.rawValue))
        #expect(policy["inDoubt"]?["enum"] as? [String] == Policy.InDoubt.allCases.map(\.rawValue))
        #expect(policy["testEnvironments"]?["enum"] as? [String] == Policy.TestEnvironments.allCases.map(\.rawValue))
        #expect(definitions["model"]?["enum"] as? [String] == Era.Model.allCases.map(\.rawValue))
    }

    @Test(arguments: [
        "P1Y", "P3M", "P2W", "P10D", "P1Y0D", "P1Y2M3W4D", "P0D", "P0Y0M", "P", "P1", "1Y", "P1H", "P-1D",
    ])
    func `policy.schema.json accepts the calendar periods that the reader accepts`(_ text: String) throws {
        let pattern = try Regex(try #require(try definitions()["period"]?["pattern"] as? String))
        #expect((text.firstMatch(of: pattern) != nil) == (CalendarPeriod(iso8601: text) != nil))
    }

    /// A pattern can't express a sum, so the description says it.
    @Test func `policy.schema.json describes the longest calendar period that the reader accepts`() throws {
        #expect(CalendarPeriod(iso8601: "P99999Y11M14285W4D") != nil)
        for text in ["P99999Y12M", "P14285W5D", "P99999W"] { #expect(CalendarPeriod(iso8601: text) == nil) }
        let description = try #require(try definitions()["period"]?["description"] as? String)
        #expect(description.contains("less than 100,000 years") && description.contains("at most 99,999 days"))
    }

    @Test func `every key of policy files is used in some mapping`() {
        #expect(Set(PolicyShape.allCases.flatMap(\.keys)) == Set(PolicyKey.allCases))
    }

    @Test func `every key of policy files and policy cases is documented`() throws {
        let text = String(decoding: try RepositoryFile.bytes("Docs/policy-file.md"), as: UTF8.self)
        for key in PolicyKey.allCases { #expect(text.contains("`\(key.rawValue)`"), "\(key.rawValue)") }
        let cases = String(decoding: try RepositoryFile.bytes("Docs/policy-cases.md"), as: UTF8.self)
        for shape in CaseShape.allCases {
            for key in shape.keys { #expect(cases.contains("`\(key)`"), "\(key)") }
        }
    }
}
