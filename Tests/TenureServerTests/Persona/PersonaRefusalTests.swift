import Foundation
import HTTPTypes
import TenureAPI
import TenureCore
import TenureStore
import Testing

@testable import TenureServer

/// Requests about personas that the service refuses, and what it stores meanwhile.
@Suite struct `refused requests about personas` {
    private static let personas = "/v1/admin/personas"

    @Test func `each refused request about a persona says which values are valid`() async throws {
        try await withAdminClient { admin, _ in
            let names = """
                originalPlatform, originalAppVersion, originalPurchaseDate, preorderDate, revocationDate, expirationDate
                """
            let platforms = "iOS, macOS, tvOS, watchOS, visionOS"
            func date(_ field: String, _ text: String) -> String {
                """
                `\(field)` must be a day such as 2014-05-01 or an instant such as 2014-05-01T18:00:00Z; found `\(text)`
                """
            }
            let name = "`name` must have 1 to 64 characters: ASCII letters, digits and punctuation, no spaces"
            let expires = "`expires` must be in the future and within 366 days"
            let cases: [(body: [String: Any?], detail: String)] = [
                (["name": "a b"], name), (["name": ""], name),
                (
                    ["name": "x", "set": ["version": "1", "color": "red"]],
                    "there is no setting `color`; use one of \(names)"
                ),
                (
                    ["name": "x", "set": ["originalPlatform": "Windows"]],
                    "there is no platform `Windows`; use one of \(platforms)"
                ),
                (["name": "x", "set": ["originalPurchaseDate": "May"]], date("originalPurchaseDate", "May")),
                (["name": "x", "set": ["preorderDate": "June"]], date("preorderDate", "June")),
                (["name": "x", "set": ["revocationDate": "1"]], date("revocationDate", "1")),
                (
                    ["name": "x", "set": ["expirationDate": String(repeating: "9", count: 65)]],
                    date("expirationDate", String(repeating: "9", count: 64))
                ),
                (
                    ["name": "x", "set": ["originalAppVersion": String(repeating: "1", count: 65)]],
                    "`originalAppVersion` has more than 64 bytes; use a version such as `2.0`"
                ),
                (["name": "x", "expires": "2026-11-20T12:00:00Z"], expires),
            ]
            for (body, detail) in cases {
                let refused = try await admin.post(Self.personas, body).problem
                #expect(refused?.code == .malformedRequest && refused?.detail == detail)
            }
            let unknown = try await admin.post(Self.personas + "/ready-made", ["platform": "OS/2"]).problem
            #expect(unknown?.detail == "unknown `platform` `OS/2`; use one of \(platforms)")
            let late = try await admin.post(Self.personas + "/ready-made", ["expires": "2027-11-21T12:00:01Z"]).problem
            #expect(late?.detail == expires)
            let none = try await admin.delete(Self.personas + "/x").problem
            #expect(
                none?.code == .notFound
                    && none?.detail == "there is no active persona `x`; list them with `GET /v1/admin/personas`")
            #expect(try await admin.get(Self.personas).personas.isEmpty)
        }
    }

    @Test func `ready-made personas are refused with the names that are taken, and none of them is stored`()
        async throws
    {
        try await withAdminClient { admin, _ in
            for name in ["pre-order", "in-the-changeover"] { _ = try await admin.persona(name) }
            func listed() async throws -> [[String]] {
                try await admin.get(Self.personas).personas.map {
                    [$0["name"] as? String ?? "", $0["state"] as? String ?? ""]
                }
            }
            let refused = try await admin.post(Self.personas + "/ready-made", [:])
            #expect(refused.status == .conflict && refused.problem?.reason == "nameTaken")
            #expect(
                refused.problem?.detail == """
                    these personas exist already: `in-the-changeover`, `pre-order`; revoke them, or send \
                    `"replace": true`
                    """)
            #expect(try await listed() == [["pre-order", "valid"], ["in-the-changeover", "valid"]])
            // Revoked personas don't take their names.
            #expect(try await admin.delete(Self.personas + "/pre-order").status == .ok)
            let made = try await admin.post(Self.personas + "/ready-made", ["replace": true])
            #expect(made.personas.count == 9, "\(made.text)")
            let states = try await listed()
            #expect(states.prefix(2) == [["pre-order", "revoked"], ["in-the-changeover", "revoked"]])
            #expect(states.count == 11 && states.dropFirst(2).allSatisfy { $0[1] == "valid" })
        }
    }

    @Test func `a persona with a name that needs escapes in a path can be revoked, and no other persona is`()
        async throws
    {
        try await withAdminClient { admin, _ in
            for name in ["50%", "50%25", "50"] { _ = try await admin.persona(name) }
            let revoked = try await admin.delete(Self.personas + "/50%25")
            #expect(revoked.personas.map { $0["name"] as? String } == ["50%"], "\(revoked.text)")
            let listed = try await admin.get(Self.personas)
            // A second closure with this type would get the symbol of the one in `#expect` above.
            var states: [String?] = []
            for persona in listed.personas { states.append(persona["state"] as? String) }
            #expect(states == ["revoked", "valid", "valid"], "\(listed.text)")
        }
    }

    @Test func `a revoked persona stays revoked after its end, and an expired persona can't be revoked`() async throws {
        let clock = TestClock()
        try await withService({
            $0.adminKey = AdminClient.adminKey
            $0.now = { clock.now }
        }) { client in
            let admin = AdminClient(client: client, key: AdminClient.adminKey)
            for name in ["former", "late"] {
                _ = try await admin.persona(name, more: ["expires": "2026-11-20T12:10:00Z"])
            }
            #expect(try await admin.delete(Self.personas + "/former").status == .ok)
            clock.advance(by: 600)
            let states = try await admin.get(Self.personas).personas.map { $0["state"] as? String }
            #expect(states == ["revoked", "expired"])
            #expect(try await admin.delete(Self.personas + "/late").status == .notFound)
            // An expired persona doesn't take its name.
            #expect(try await admin.post(Self.personas, ["name": "late"]).status == .ok)
        }
    }

    @Test func `only a persona with an expiration date has the proof of a receipt`() throws {
        let signed = Calculator.now
        let usual = try AppProof(settings: ["originalPlatform": "macOS", "expirationDate": ""], signed: signed)
        #expect(usual.kind == .appTransaction && usual.expirationDate == nil && usual.signedDate == signed)
        let volume = try AppProof(settings: ["expirationDate": "2030-01-01"], signed: signed)
        #expect(volume.kind == .receipt && volume.expirationDate == Date(timeIntervalSince1970: 1_893_456_000))
    }
}
