import Foundation
import HTTPTypes
import TenureAPI
import TenureCore
import TenureJSON
import TenureStore
import Testing

@testable import TenureServer

/// What a publication, a rollback and a rehearsal say if they are refused, and whom they count.
@Suite struct `refusals of publications and rehearsals` {
    private static let rehearsals = AdminClient.policies + "/rehearsals"

    @Test func `each refused request about the policy says what to send instead`() async throws {
        try await withAdminClient { admin, _ in
            let text = try Policy.generous().text
            let id = try #require(try await admin.rehearse(try .generous()).rehearsal)
            let other = try Policy(
                app: .init(bundleID: "com.example.other"), eras: [Era(name: "paid", model: .paid)],
                entitlements: [Entitlement(name: "everything", honors: [Honor(era: "paid")])])
            let noRollback = "no other version was in effect before, so a rollback isn't possible"
            let onlyPolicy = """
                send `policy`, and no `version`; use `/v1/admin/policies/rollback` to go back to a version
                """
            let numbers = """
                `takeFrom` and `giveTo` must not be negative, and need `rehearsal`, the ID of the rehearsal that \
                counted these customers; `rehearsal` needs one of the two
                """
            let refused: [(answer: AdminClient.Answer, code: Problem.Code, detail: String)] = [
                (try await admin.post(Self.rehearsals, [:]), .notFound, noRollback),
                (try await admin.rollBack(), .notFound, noRollback),
                (
                    try await admin.rollBack(["version": 9]), .notFound,
                    "version 9 was never in effect before; `GET /v1/admin/policies` lists the versions"
                ),
                (
                    try await admin.post(Self.rehearsals, ["policy": text, "version": 1]), .malformedRequest,
                    "send either `policy` or `version`"
                ),
                (try await admin.post(AdminClient.policies, ["reason": "r"]), .malformedRequest, onlyPolicy),
                (try await admin.publish(try .generous(), ["version": 1]), .malformedRequest, onlyPolicy),
                (
                    try await admin.rollBack(["policy": text]), .malformedRequest,
                    "send no `policy` with a rollback; use `POST /v1/admin/policies` to publish one"
                ),
                (
                    try await admin.get(Self.rehearsals + "/reh_x"), .notFound,
                    "there is no rehearsal `reh_x`; rehearse the policy again"
                ),
                (
                    try await admin.publish(try .generous(), ["giveTo": 1, "rehearsal": "reh_x"]), .conflict,
                    "there is no rehearsal `reh_x`; rehearse the policy, and send the new ID"
                ),
                (
                    try await admin.publish(other), .malformedRequest,
                    """
                    the policy is for the app `com.example.other`, but this service is for `com.example.calculator`; \
                    send a policy for this app
                    """
                ),
                (try await admin.publish(try .generous(), ["giveTo": 1]), .malformedRequest, numbers),
                (try await admin.publish(try .generous(), ["rehearsal": id]), .malformedRequest, numbers),
                (
                    try await admin.publish(try .generous(), ["giveTo": 1, "takeFrom": -1, "rehearsal": id]),
                    .malformedRequest, numbers
                ),
                (
                    try await admin.publish(try Calculator.policy()), .conflict,
                    "this policy is already in effect, as version 1"
                ),
                (
                    try await admin.publish(try .generous(), ["author": ""]), .malformedRequest,
                    "`author` must have 1 to 256 bytes and no control characters"
                ),
            ]
            for (answer, code, detail) in refused {
                #expect(answer.problem?.code == code && answer.problem?.detail == detail, "\(answer.text)")
            }
            #expect((try await admin.get(AdminClient.policies).json["publications"] as? [Any])?.count == 1)
        }
    }

    @Test func `a rehearsal is invalid after a rollback, even if the same version is in effect again`() async throws {
        try await withAdminClient { admin, _ in
            _ = try await admin.owner()
            let early = try #require(try await admin.rehearse(try .harsh()).rehearsal)
            #expect(try await admin.publish(try Calculator.policy(inDoubt: .undetermined)).status == .ok)
            let back = try await admin.rollBack()
            #expect(back.number("publication") == 3 && back.number("version") == 1, "\(back.text)")
            let versions = try await admin.get(AdminClient.policies).json["versions"] as? [[String: Any]]
            #expect(versions?.map { $0["isCurrent"] as? Bool } == [true, false])
            let stale = try await admin.publish(try .harsh(), ["takeFrom": 1, "rehearsal": early])
            #expect(stale.reason == "otherRehearsal", "\(stale.text)")
            #expect(
                stale.problem?.detail == """
                    `\(early)` is a rehearsal of another policy, or a comparison with a policy that is no longer in \
                    effect; rehearse again
                    """)
            let fresh = try await admin.rehearse(try .harsh())
            #expect(fresh.number("against") == 1, "\(fresh.text)")
            let taken = try await admin.publish(try .harsh(), ["takeFrom": 1, "rehearsal": fresh.rehearsal])
            #expect(taken.number("publication") == 4 && taken.number("version") == 3, "\(taken.text)")
            let again = try await admin.publish(try .harsh())
            #expect(again.problem?.detail == "this policy is already in effect, as version 3", "\(again.text)")
            let current = try await admin.rollBack(["version": 3])
            #expect(current.problem?.detail.hasPrefix("version 3 was never in effect before") == true)
        }
    }

    @Test func `a refusal because of errors names the first error, its code and the number of others, and is audited`()
        async throws
    {
        try await withAdminClient { admin, _ in
            for names in [["nothing"], ["nothing", "nought"]] {
                let more = names.map { "\"\($0)\":{}," }.joined()
                let text = try Calculator.policy().text.replacingOccurrences(
                    of: #""entitlements":{"#, with: #""entitlements":{"# + more)
                let rehearsal = try await admin.post(Self.rehearsals, ["policy": text])
                let findings = rehearsal.json["findings"] as? [[String: Any]] ?? []
                let errors = findings.filter { $0["blocks"] as? Bool == true }
                let codes = errors.compactMap { $0["code"] as? String }
                #expect(codes == names.map { _ in "entitlement-without-source" })
                let message = try #require(errors.first?["message"] as? String)
                let refused = try await admin.post(AdminClient.policies, ["policy": text, "reason": " r\n"])
                let others = names.count == 1 ? "" : ", and 1 more"
                #expect(
                    refused.problem?.detail == """
                        the policy has errors: \(message) [entitlement-without-source]\(others); `tenure policy check \
                        --against` shows all errors. Correct the policy, or add the errors to its `acknowledge` with a \
                        reason
                        """)
                let entry = try await admin.lastAudit()
                #expect(entry["action"] as? String == "publish" && entry["actor"] as? String == "adminKey")
                #expect(
                    entry["detail"] as? [String: String] == [
                        "refused": "policyErrors", "codes": "entitlement-without-source", "reason": "r",
                    ])
            }
        }
    }

    @Test func `a finding in a rehearsal has its message, its fix, its place and its position in the policy`()
        async throws
    {
        let text = """
            app: { bundleID: com.example.calculator, appleID: 828838134 }
            eras:
              - { name: paid, model: paid }
            entitlements:
              everything: { honors: [paid] }
              nothing: {}
            """
        try await withAdminClient { admin, _ in
            let answer = try await admin.post(Self.rehearsals, ["policy": text])
            let report = try JSONDecoder().decode(RehearsalAnswer.self, from: Data(answer.text.utf8))
            let finding = try #require(
                report.findings.first { $0.code == "entitlement-without-source" }, "\(answer.text)")
            #expect(finding.severity == "error" && finding.at == "entitlements/nothing" && finding.blocks)
            #expect(
                finding.message
                    == "customers can have `nothing` only by a grant of support: it has no products and honors no era")
            #expect(finding.fix?.contains("add `products`, `honors`, or both, or remove the entitlement") == true)
            #expect(finding.line == 6 && finding.column != 6)
        }
    }

    @Test func `a policy that takes a right from some customers and gives it to others needs both numbers`()
        async throws
    {
        try await withAdminClient { admin, _ in
            let (owner, newcomer) = (try await admin.owner(), try await admin.newcomer())
            let swapped = try Calculator.policy(
                honors: [Honor(era: "freemium")], acknowledgments: [Policy.takesFromOwners])
            let rehearsal = try await admin.rehearse(swapped)
            #expect(rehearsal.number("losing") == 1 && rehearsal.number("gaining") == 1, "\(rehearsal.text)")
            let id = try #require(rehearsal.rehearsal)
            let cases: [(numbers: [String: Any?], reason: String)] = [
                ([:], "takesRights"), (["giveTo": 1, "rehearsal": id], "takesRights"),
                (["takeFrom": 1, "rehearsal": id], "givesRights"),
                (["takeFrom": 0, "giveTo": 1, "rehearsal": id], "otherNumber"),
                (["takeFrom": 1, "giveTo": 0, "rehearsal": id], "otherNumber"),
            ]
            for (numbers, reason) in cases {
                let refused = try await admin.publish(swapped, numbers)
                #expect(refused.reason == reason, "\(refused.text)")
            }
            let published = try await admin.publish(swapped, ["takeFrom": 1, "giveTo": 1, "rehearsal": id])
            #expect(published.number("losing") == 1 && published.number("gaining") == 1, "\(published.text)")
            #expect(try await admin.outcome(of: owner)[0] == "denied")
            #expect(try await admin.outcome(of: newcomer)[0] == "granted")
        }
    }

    @Test func `a rehearsal and a publication count no customers of test environments`() async throws {
        try await withAdminClient { admin, _ in
            let owner = try await admin.owner()
            _ = try await admin.sandboxed(as: nil)
            _ = try await admin.sandboxed(as: nil, .xcode)
            let rehearsal = try await admin.rehearse(try .generous())
            #expect(rehearsal.number("customers") == 1 && rehearsal.number("gaining") == 0, "\(rehearsal.text)")
            let published = try await admin.publish(try .generous())
            #expect(published.number("customers") == 1 && published.number("gaining") == 0, "\(published.text)")
            #expect(try await admin.outcome(of: owner) == ["granted", "eraHonored"])
        }
    }

    @Test func `a rehearsal has at most ten examples of losing customers, but counts all of them`() async throws {
        try await withAdminClient { admin, _ in
            var ids: Set<String> = []
            for number in 10...20 { ids.insert(try await admin.owner("7040000000000000\(number)").id) }
            let rehearsal = try await admin.rehearse(try .harsh())
            let everything = try #require((rehearsal.json["entitlements"] as? [[String: Any]])?.first)
            let losers = (everything["losers"] as? [[String: Any]] ?? []).compactMap { $0["customer"] as? String }
            #expect(everything["loses"] as? Int == 11 && rehearsal.number("losing") == 11, "\(rehearsal.text)")
            #expect(losers.count == 10 && Set(losers).count == 10 && ids.isSuperset(of: losers))
        }
    }

    @Test func `the reason of a publication is stored without whitespace around it, and a rollback is audited as one`()
        async throws
    {
        try await withAdminClient { admin, _ in
            let published = try await admin.publish(try .generous(), ["reason": "\n for all "])
            #expect(published.json["reason"] as? String == "for all", "\(published.text)")
            #expect((try await admin.lastAudit()["detail"] as? [String: String])?["reason"] == "for all")
            _ = try await admin.newcomer()
            let refused = try await admin.rollBack(["author": "ada"])
            #expect(refused.reason == "takesRights", "\(refused.text)")
            let entry = try await admin.lastAudit()
            #expect(entry["action"] as? String == "rollback")
            let detail = entry["detail"] as? [String: String]
            #expect(detail?["refused"] == "takesRights" && detail?["reason"] == "after all")
            #expect(detail?["author"] == "ada" && detail?["losing"] == "1" && detail?["gaining"] == "0")
        }
    }
}
