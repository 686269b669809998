import Foundation
import HTTPTypes
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

/// The exact numbers and texts about a rehearsal, its publication and its refusals.
@Suite struct `the report of a publication` {
    private static let now = "2026-11-20T12:00:00Z"

    /// Syncs an owner of the paid era, a newcomer, and a newcomer who bought `everything` and a product that no
    /// entitlement lists.
    private func fill(_ admin: AdminClient) async throws -> (owner: CustomerResponse, newcomer: CustomerResponse) {
        let minter = Calculator.minter()
        let id = "704000000000000003"
        func bought(_ transaction: String, _ product: String) throws -> String {
            try minter.transaction(
                transaction, of: id, ["productId": .string(product), "type": .string("Non-Consumable")])
        }
        _ = try await admin.client.sync(
            SyncRequest(
                appTransaction: try minter.newcomer(id),
                transactions: [
                    try bought("20", Calculator.everything), try bought("21", "com.example.calculator.gone"),
                ]))
        return (try await admin.owner(), try await admin.newcomer())
    }

    @Test func `a rehearsal reports the numbers of customers, the losers and the products without an entitlement`()
        async throws
    {
        try await withAdminClient { admin, _ in
            let (owner, newcomer) = try await fill(admin)
            let rehearsal = try await admin.rehearse(try .harsh())
            let id = try #require(rehearsal.rehearsal)
            for (name, number) in [
                ("against", 1), ("customers", 3), ("gaining", 0), ("losing", 1), ("losingWithPromises", 0),
                ("contradicting", 0),
            ] {
                #expect(rehearsal.number(name) == number, "\(name): \(rehearsal.text)")
            }
            #expect(rehearsal.json["at"] as? String == Self.now)
            let products = #""productsWithoutEntitlement":[{"customers":1,"id":"com.example.calculator.gone"}]"#
            #expect(rehearsal.text.contains(products), "\(rehearsal.text)")
            let entitlements = try #require(rehearsal.json["entitlements"] as? [[String: Any]])
            #expect(entitlements.map { $0["name"] as? String } == ["everything"])
            for (name, number) in [("granted", 1), ("denied", 2), ("undetermined", 0), ("gains", 0), ("loses", 1)] {
                #expect(entitlements.first?[name] as? Int == number, "\(name): \(rehearsal.text)")
            }
            let losers = entitlements.first?["losers"] as? [[String: Any]] ?? []
            #expect((entitlements.first?["gainers"] as? [Any])?.count == 0 && losers.count == 1)
            #expect(losers.first?["customer"] as? String == owner.id)
            #expect(losers.first?["platform"] as? String == "iOS")
            #expect(losers.first?["originalAppVersion"] as? String == "37")
            #expect(losers.first?["originalPurchaseDate"] as? String == "2014-09-06T10:00:00Z")
            let before = losers.first?["before"] as? [String: String]
            #expect(before == ["outcome": "granted", "reason": "eraHonored"])
            // The stored report is the same.
            #expect(try await admin.get("\(AdminClient.policies)/rehearsals/\(id)").text == rehearsal.text)

            let generous = try await admin.rehearse(try .generous())
            #expect(generous.number("gaining") == 1 && generous.number("losing") == 0, "\(generous.text)")
            let gained = (generous.json["entitlements"] as? [[String: Any]])?.first
            #expect(gained?["gains"] as? Int == 1 && gained?["granted"] as? Int == 3)
            let gainers = gained?["gainers"] as? [[String: Any]] ?? []
            #expect(gainers.map { $0["customer"] as? String } == [newcomer.id])
            #expect((gainers.first?["now"] as? [String: Any])?["outcome"] as? String == "granted")
        }
    }

    @Test func `a rehearsal reports a right that would end earlier as lost, with its end`() async throws {
        try await withAdminClient { admin, _ in
            let owner = try await admin.owner()
            let end = Date(timeIntervalSince1970: 1_798_761_600)
            let rehearsal = try await admin.rehearse(
                try Calculator.policy(honors: [Honor(era: "paid", until: end)]))
            for (name, number) in [("gaining", 0), ("losing", 1), ("losingWithPromises", 0)] {
                #expect(rehearsal.number(name) == number, "\(name): \(rehearsal.text)")
            }
            let everything = (rehearsal.json["entitlements"] as? [[String: Any]])?.first
            #expect(everything?["granted"] as? Int == 1 && everything?["loses"] as? Int == 1)
            let losers = everything?["losers"] as? [[String: Any]] ?? []
            #expect(losers.map { $0["customer"] as? String } == [owner.id])
            var answer = ["outcome": "granted", "reason": "eraHonored"]
            #expect(losers.first?["before"] as? [String: String] == answer)
            answer["until"] = "2027-01-01T00:00:00Z"
            #expect(losers.first?["now"] as? [String: String] == answer)
        }
    }

    @Test func `a rehearsal lists products without an entitlement by ID, with the number of their customers`()
        async throws
    {
        try await withAdminClient { admin, _ in
            let minter = Calculator.minter()
            let ids = ["704000000000000003", "704000000000000004"]
            for (transaction, id, product) in [("1", ids[0], "zebra"), ("2", ids[1], "zebra"), ("3", ids[1], "ant")] {
                let bought = try minter.transaction(
                    transaction, of: id, ["productId": .string("com.example.calculator.\(product)")])
                _ = try await admin.client.sync(
                    SyncRequest(appTransaction: try minter.newcomer(id), transactions: [bought]))
            }
            let rehearsal = try await admin.rehearse(try .generous())
            let ant = #"{"customers":1,"id":"com.example.calculator.ant"}"#
            let zebra = #"{"customers":2,"id":"com.example.calculator.zebra"}"#
            #expect(
                rehearsal.text.contains(#""productsWithoutEntitlement":[\#(ant),\#(zebra)]"#), "\(rehearsal.text)")
        }
    }

    @Test func `a refused publication says how many customers it affects and how to allow that, and is audited`()
        async throws
    {
        try await withAdminClient { admin, _ in
            _ = try await fill(admin)
            func lastDetail() async throws -> [String: String]? {
                let line = try await admin.lastAudit()
                #expect(line["action"] as? String == "publish" && line["actor"] as? String == "adminKey")
                return line["detail"] as? [String: String]
            }
            let taking = try await admin.publish(try .harsh(), ["author": "ada"])
            let id = try #require(taking.problem?.rehearsal)
            #expect(taking.status == .conflict && taking.reason == "takesRights")
            #expect(
                taking.problem?.detail == """
                    1 of 3 customers would lose something, or 0 with `keepPromises` (`--keep-promises`); to allow \
                    that, send this number as `takeFrom` (`--take-from`) and `\(id)` as `rehearsal` (`--rehearsal`)
                    """)
            #expect(
                try await lastDetail() == [
                    "rehearsal": id, "losing": "1", "losingWithPromises": "0", "gaining": "0", "author": "ada",
                    "refused": "takesRights", "reason": "because",
                ])
            let fewer = try await admin.publish(try .harsh(), ["takeFrom": 0, "rehearsal": id])
            #expect(fewer.status == .conflict && fewer.reason == "otherNumber")
            #expect(
                fewer.problem?.detail == """
                    in the rehearsal `\(id)`, the number of customers who lose something is 1, more than 0; to allow \
                    that, send 1 as `takeFrom` (`--take-from`)
                    """)
            let giving = try await admin.publish(try .generous())
            let other = try #require(giving.problem?.rehearsal)
            #expect(giving.status == .conflict && giving.reason == "givesRights")
            #expect(
                giving.problem?.detail == """
                    1 of 3 customers would gain something; to allow that, send 1 as `giveTo` (`--give-to`) and \
                    `\(other)` as `rehearsal` (`--rehearsal`)
                    """)
            #expect(
                try await lastDetail() == [
                    "rehearsal": other, "losing": "0", "losingWithPromises": "0", "gaining": "1",
                    "refused": "givesRights", "reason": "because",
                ])
            let none = try await admin.publish(try .generous(), ["giveTo": 0, "rehearsal": other])
            #expect(
                none.problem?.detail == """
                    in the rehearsal `\(other)`, the number of customers who gain something is 1, more than 0; to \
                    allow that, send 1 as `giveTo` (`--give-to`)
                    """)
        }
    }

    @Test func `a publication is in the response, in the list of policies and in the audit trail with all its numbers`()
        async throws
    {
        try await withAdminClient { admin, _ in
            _ = try await fill(admin)
            let id = try #require(try await admin.rehearse(try .harsh()).rehearsal)
            let published = try await admin.publish(
                try .harsh(), ["author": "ada", "takeFrom": 1, "rehearsal": id])
            let publication: String =
                #"{"action":"publish","actor":"adminKey","at":"\#(Self.now)","author":"ada","customers":3,"ended":1,"#
                + #""gaining":0,"losing":1,"publication":2,"reason":"because","rehearsal":"\#(id)","restored":0,"#
                + #""version":2}"#
            #expect(published.text == publication)
            #expect(
                try await admin.lastAudit()["detail"] as? [String: String] == [
                    "publication": "2", "version": "2", "former": "1", "customers": "3", "gaining": "0",
                    "losing": "1", "ended": "1", "restored": "0", "author": "ada", "reason": "because",
                    "rehearsal": id,
                ])
            func version(_ number: Int, isCurrent: Bool) async throws -> String {
                let shown = try await admin.get("\(AdminClient.policies)/\(number)")
                let text = try #require(shown.json["policy"] as? String, "\(shown.text)")
                let sha256 = ActivePolicy.digest(of: Array(text.utf8)).hexadecimal
                #expect(shown.json["sha256"] as? String == sha256 && shown.json["isCurrent"] as? Bool == isCurrent)
                return #"{"isCurrent":\#(isCurrent),"recordedAt":"\#(Self.now)","sha256":"\#(sha256)","#
                    + #""version":\#(number)}"#
            }
            let start: String =
                #"{"action":"start","actor":"service","at":"\#(Self.now)","customers":0,"ended":0,"gaining":0,"#
                + #""losing":0,"publication":1,"restored":0,"version":1}"#
            let versions = [try await version(1, isCurrent: false), try await version(2, isCurrent: true)]
            let list = try await admin.get(AdminClient.policies).text
            let publications = "\(start),\(publication)"
            #expect(
                list == #"{"publications":[\#(publications)],"versions":[\#(versions.joined(separator: ","))]}"#)
            for wrong in ["0", "3", "02", "+1", "x"] {
                let missing = try await admin.get("\(AdminClient.policies)/\(wrong)")
                #expect(
                    missing.problem?.detail
                        == "the policy has no version `\(wrong)`; list the versions with `GET /v1/admin/policies`")
            }
        }
    }
}
