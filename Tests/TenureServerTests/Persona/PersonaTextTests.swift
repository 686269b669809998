import Foundation
import HTTPTypes
import HummingbirdTesting
import TenureAPI
import TenureCore
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

/// The exact descriptions and settings of ready-made personas, and the messages about refused personas.
@Suite struct `the texts about personas` {
    /// The settings of a customer who got this version on iOS.
    private func got(_ version: String, _ date: String) -> [String: String] {
        ["originalPlatform": "iOS", "originalAppVersion": version, "originalPurchaseDate": date]
    }

    @Test func `ready-made personas have their order, descriptions and settings`() async throws {
        let expected: [(name: String, what: String, set: [String: String])] = [
            (
                "first-buyer", "got the very first version",
                got("1", "2014-06-10T18:00:00Z")
            ),
            (
                "last-paid-build", "got the last version of “paid”, just before the change",
                got("119", "2015-06-08T18:00:00Z")
            ),
            (
                "in-the-changeover", "got the old version at the very instant of the change",
                got("119", "2015-06-10T18:00:00Z")
            ),
            (
                "after-the-change", "got the app after the change",
                got("120", "2015-06-13T18:00:00Z")
            ),
            (
                "family-member",
                "a family member bought the app before the change; this customer first downloaded it after the change",
                got("120", "2015-06-13T19:00:00Z")
            ),
            (
                "refunded", "got the app in “paid”, and was refunded",
                [
                    "originalPlatform": "iOS", "originalAppVersion": "119",
                    "originalPurchaseDate": "2015-06-08T18:00:00Z", "revocationDate": "2015-06-22T18:00:00Z",
                ]
            ),
            (
                "pre-order", "ordered the app before the change and got it after",
                [
                    "originalPlatform": "iOS", "originalAppVersion": "120",
                    "originalPurchaseDate": "2015-06-13T18:00:00Z", "preorderDate": "2015-06-08T18:00:00Z",
                ]
            ),
            (
                "no-original-version", "got the app in “paid”; the App Store names no version and no platform",
                ["originalPurchaseDate": "2015-06-08T18:00:00Z"]
            ),
            (
                "mac-buyer-on-iphone", "got the app on the Mac in “paid”, and opens it on an iPhone",
                [
                    "originalPlatform": "macOS", "originalAppVersion": "1.9",
                    "originalPurchaseDate": "2015-06-10T18:00:00Z",
                ]
            ),
        ]
        try await withAdminClient { admin, _ in
            let personas = try await admin.post("/v1/admin/personas/ready-made", [:]).personas
            #expect(personas.map { $0["name"] as? String } == expected.map(\.name))
            for (persona, row) in zip(personas, expected) {
                #expect(persona["what"] as? String == row.what, "\(row.name)")
                #expect(persona["set"] as? [String: String] == row.set, "\(row.name)")
                #expect(persona["expiresAt"] as? String == "2026-12-20T12:00:00Z")
            }
        }
    }

    @Test func `the reason for each omitted persona says what the policy lacks`() throws {
        let app = Policy.App(bundleID: "com.example.calculator")
        let free = try Policy(
            app: app, eras: [Era(name: "free", model: .free)],
            entitlements: [Entitlement(name: "everything", products: [.init(id: Calculator.everything)])])
        let none = ReadyMadePersonas(free, on: .iOS, signed: Calculator.now).omittedPersonas
        #expect(none.map(\.name) == ReadyMadePersonas.Name.allCases.map(\.rawValue))
        let unchanged = "the policy has no change of eras on iOS; set `platform` to a platform with one"
        #expect(Set(none.map(\.why)) == [unchanged])

        let undated = try Policy(
            app: app,
            eras: [
                Era(name: "paid", model: .paid),
                Era(name: "free", model: .free, begins: [.macOS: .at(version: AppVersion("2.0"), date: nil)]),
            ],
            entitlements: [Entitlement(name: "everything", honors: [Honor(era: "paid")])])
        let some = ReadyMadePersonas(undated, on: .macOS, signed: Calculator.now).omittedPersonas
        let noDate = """
            the policy doesn't say when “paid” ended on macOS; add the first version or the date of the next era to its \
            `begins`
            """
        let expected: [[String]] = [
            ["in-the-changeover", "the policy has no date or no `changeover` for the change on macOS"],
            ["pre-order", noDate],
            ["no-original-version", noDate],
            [
                "mac-buyer-on-iphone",
                "this persona needs a policy that says when an era ended on macOS, and another `platform` than macOS",
            ],
        ]
        #expect(some.map { [$0.name, $0.why] } == expected)
    }

    @Test func `the problem of a refused persona says which persona it is and what to do`() async throws {
        let clock = TestClock()
        try await withService({
            $0.adminKey = AdminClient.adminKey
            $0.now = { clock.now }
        }) { client in
            let admin = AdminClient(client: client, key: AdminClient.adminKey)
            let short = try await admin.persona("short", more: ["expires": "2026-11-20T12:10:00Z"])
            let revoked = try await admin.persona("former")
            #expect(try await admin.delete("/v1/admin/personas/former").status == .ok)
            let production = try await client.sync(
                SyncRequest(appTransaction: try Calculator.minter().newcomer(), transactions: [], persona: short))
            var problems = production.problems
            clock.advance(by: 600)
            for token in [short, revoked, "x"] { problems += try await admin.sandboxed(as: token).problems }
            let expected: [[String]] = [
                [
                    "personaRefused",
                    "the persona `short` works only with Sandbox and Xcode artifacts; these are from Production",
                ],
                ["personaExpired", "the persona `short` expired on 2026-11-20T12:10:00Z; create it again"],
                ["personaRevoked", "the persona `former` was revoked; send the token of another persona"],
                ["personaUnknown", "this service has no such persona; create one with `tenure persona create`"],
            ]
            #expect(problems.map { [$0.code, $0.detail] } == expected)
            #expect(problems.allSatisfy { $0.artifact == "persona" })
        }
    }
}
