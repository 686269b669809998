import Foundation
import Testing

@testable import TenurePolicyFile

/// Reports about values of the wrong kind, and about empty values.
@Suite struct StructureMistakeTests {
    private func mistakes(_ text: String) -> String {
        do throws(PolicyFileError) {
            _ = try PolicyFile.read(text, named: "policy.yaml")
            return ""
        } catch {
            return error.description
        }
    }

    @Test func `a list in place of a single value is reported with an example of the value`() {
        let text = """
            app: { bundleID: com.example.calculator }
            eras:
              - { name: paid, model: paid }
              - { name: free, model: free, begins: { iOS: { build: [120], at: [2015-06-10] } }, changeover: none }
            releases:
              - { platform: [iOS], build: "37", releasedAt: 2014-01-01 }
              - { platform: iOS, build: "38", releasedAt: [2014-02-01] }
              - { platform: macOS, build: "900", releasedAt: 2014-03-01 }
            entitlements:
              everything:
                honors: [{ era: paid, boughtSince: [2014-01-01], for: [P1Y] }]
            """
        #expect(
            mistakes(text) == """
                policy.yaml:4:49: a list isn't a version; write `build: "120"`
                policy.yaml:4:63: a list isn't an instant; write one such as `2015-06-10T18:00:00Z`
                policy.yaml:6:7: a list isn't a platform; write one of `iOS`, `macOS`, `tvOS`, `watchOS` or `visionOS`
                policy.yaml:7:35: a list isn't a date; write one such as `2015-06-10`
                policy.yaml:8:5: this release has no `version`: on macOS the App Store reports the marketing version (CFBundleShortVersionString); write it
                policy.yaml:11:27: a list isn't a date; write one such as `2015-06-10`
                policy.yaml:11:54: a list isn't a calendar period; write one such as `P1Y`, `P3M`, `P2W` or `P10D`
                """)
    }

    @Test func `a Boolean or a number in place of a name must be in quotes`() {
        let text = """
            app: { bundleID: True }
            eras: [{ name: "true", model: paid }]
            entitlements:
              everything: { products: [false, 12, "12"], honors: ["true"] }
            """
        #expect(
            mistakes(text) == """
                policy.yaml:1:18: `True` isn't text; put it in quotes: `"True"`
                policy.yaml:4:28: `false` isn't text; put it in quotes: `"false"`
                policy.yaml:4:35: `12` isn't text; put it in quotes: `"12"`
                """)
    }

    @Test func `an entitlement without a value, an empty trial and a key that isn't text are mistakes`() {
        let text = """
            app: { bundleID: com.example.calculator }
            eras: [{ name: paid, model: paid }]
            entitlements:
              everything:
              cloud: { products: [a], trial: {} }
              [trees]: { products: [b] }
            """
        #expect(
            mistakes(text) == """
                policy.yaml:4:3: `everything` is empty; write its `products`, its `honors`, or both
                policy.yaml:5:27: the trial is empty; write `sessions: 5` or `days: 14`
                policy.yaml:6:3: a key must be plain text, not a list or a mapping
                """)
    }
}
