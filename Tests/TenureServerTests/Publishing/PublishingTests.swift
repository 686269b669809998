import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import TenurePolicyFile
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `publishing a policy` {
    @Test func `publishing a policy that gives rights needs the number of customers, and takes effect at once`()
        async throws
    {
        try await withAdminClient { admin, keys in
            let admin = admin.with(keys[.policy])
            let newcomer = try await admin.newcomer()
            #expect(try await admin.outcome(of: newcomer) == ["denied", "eraNotHonored"])
            let refused = try await admin.publish(try .generous())
            #expect(refused.reason == "givesRights", "\(refused.text)")
            #expect(try await admin.outcome(of: newcomer) == ["denied", "eraNotHonored"])
            let id = try #require(refused.rehearsal)
            for (number, reason) in [(0, "otherNumber"), (-1, nil)] {
                let wrong = try await admin.publish(try .generous(), ["giveTo": number, "rehearsal": id])
                #expect(wrong.reason == reason && wrong.status != .ok, "\(wrong.text)")
            }
            // `giveTo` is an upper bound, so a larger number is allowed.
            let published = try await admin.publish(
                try .generous(), ["author": "ada", "giveTo": 5, "rehearsal": id])
            #expect(published.status == .ok, "\(published.text)")
            #expect(published.number("version") == 2 && published.number("gaining") == 1)
            #expect(published.number("losing") == 0 && published.number("customers") == 1)
            #expect(try await admin.outcome(of: newcomer) == ["granted", "eraHonored"])
            let line = try await admin.with(AdminClient.adminKey).lastAudit()
            #expect(line["action"] as? String == "publish" && line["actor"] as? String == "policy")
            let detail = line["detail"] as? [String: String]
            #expect(detail?["author"] == "ada" && detail?["reason"] == "because" && detail?["version"] == "2")
            #expect(detail?["customers"] == "1" && detail?["gaining"] == "1" && detail?["losing"] == "0")
            let again = try await admin.publish(try .generous())
            #expect(again.reason == "alreadyCurrent")
        }
    }

    @Test func `publishing a policy that takes rights away needs the number of customers; a rollback returns them`()
        async throws
    {
        try await withAdminClient { admin, _ in
            let owner = try await admin.owner()
            let newcomer = try await admin.newcomer()
            let rehearsal = try await admin.rehearse(try .harsh())
            #expect(rehearsal.status == .ok, "\(rehearsal.text)")
            #expect(rehearsal.number("customers") == 2 && rehearsal.number("losing") == 1)
            #expect(rehearsal.number("losingWithPromises") == 0 && rehearsal.number("gaining") == 0)
            let entitlement = (rehearsal.json["entitlements"] as? [[String: Any]])?.first
            let loser = (entitlement?["losers"] as? [[String: Any]])?.first
            #expect(loser?["customer"] as? String == owner.id)
            #expect((loser?["before"] as? [String: Any])?["outcome"] as? String == "granted")
            #expect((loser?["now"] as? [String: Any])?["outcome"] as? String == "denied")
            let id = try #require(rehearsal.rehearsal)

            let refused = try await admin.publish(try .harsh())
            #expect(refused.reason == "takesRights" && refused.problem?.rehearsal != nil)
            #expect(try await admin.outcome(of: owner) == ["granted", "eraHonored"])
            let line = try await admin.lastAudit()
            #expect((line["detail"] as? [String: String])?["refused"] == "takesRights")
            for (number, rehearsal, reason) in [
                (1, "reh_x", "unknownRehearsal"), (0, id, "otherNumber"),
            ] {
                let wrong = try await admin.publish(
                    try .harsh(), ["takeFrom": number, "rehearsal": rehearsal])
                #expect(wrong.reason == reason, "\(wrong.text)")
            }
            let other = try await admin.publish(
                try Calculator.policy(inDoubt: .undetermined), ["takeFrom": 1, "rehearsal": id])
            #expect(other.reason == "otherRehearsal")

            // `takeFrom` is an upper bound, so a larger number is allowed.
            let taken = try await admin.publish(try .harsh(), ["takeFrom": 3, "rehearsal": id])
            #expect(taken.status == .ok, "\(taken.text)")
            #expect(taken.number("losing") == 1 && taken.number("ended") == 1)
            #expect(try await admin.outcome(of: owner)[0] == "denied")
            #expect(try await admin.outcome(of: newcomer)[0] == "denied")
            // The next sync doesn't make a new promise.
            let synced = try await admin.owner()
            #expect(synced.everything.outcome == "denied")
            let seen = try await admin.get(try owner.path())
            #expect((seen.json["promises"] as? [Any])?.isEmpty == true)
            let timeline = try await admin.get(try owner.path("/timeline"))
            #expect(timeline.kinds.contains("promisesEnded"))

            let back = try await admin.rollBack()
            #expect(back.status == .ok, "\(back.text)")
            #expect(back.number("version") == 1 && back.number("restored") == 1 && back.number("gaining") == 1)
            #expect(try await admin.outcome(of: owner) == ["granted", "eraHonored"])
            #expect((try await admin.get(try owner.path()).json["promises"] as? [Any])?.count == 1)
            let kinds = try await admin.get(try owner.path("/timeline")).kinds
            #expect(kinds.contains("promisesRestored"))
            let actions = (try await admin.get(AdminClient.policies).json["publications"] as? [[String: Any]])?
                .compactMap { $0["action"] as? String }
            #expect(actions == ["start", "publish", "rollback"])
        }
    }

    @Test func `an erasure removes the customer from a rehearsal's examples, and the rehearsal stays valid`()
        async throws
    {
        try await withAdminClient { admin, _ in
            let owners = [try await admin.owner("704000000000000011"), try await admin.owner("704000000000000012")]
            let id = try #require(try await admin.rehearse(try .harsh()).rehearsal)
            let path = AdminClient.policies + "/rehearsals/\(id)"
            let before = try await admin.get(path).text
            for owner in owners { #expect(before.contains(owner.id)) }
            #expect(try await admin.delete("/v1/admin/customers/\(owners[0].id)").status == .ok)
            let after = try await admin.get(path)
            #expect(!after.text.contains(owners[0].id) && after.text.contains(owners[1].id))
            #expect(after.number("losing") == 2)
            let taken = try await admin.publish(try .harsh(), ["takeFrom": 2, "rehearsal": id])
            #expect(taken.number("losing") == 1 && taken.number("customers") == 1, "\(taken.text)")
        }
    }

    @Test func `a policy can be published while customers are erased and sync all the time`() async throws {
        try await withAdminClient { admin, _ in
            var owners: [String] = []
            for number in 100..<400 { owners.append(try await admin.owner("704000000000000\(number)").id) }
            let id = try #require(try await admin.rehearse(try .harsh()).rehearsal)
            let isPublished = Locked(false)
            let counts = try await withThrowingTaskGroup(of: Int.self) { group in
                group.addTask { [owners] in
                    var erased = 0
                    for owner in owners where !isPublished.withLock({ $0 }) {
                        guard try await admin.delete("/v1/admin/customers/\(owner)").status == .ok else { break }
                        erased += 1
                    }
                    return erased
                }
                group.addTask {
                    var number = 500
                    while !isPublished.withLock({ $0 }) {
                        _ = try await admin.newcomer("704000000000000\(number)")
                        number += 1
                    }
                    return number - 500
                }
                defer { isPublished.withLock { $0 = true } }
                let taken = try await admin.publish(try .harsh(), ["takeFrom": 300, "rehearsal": id])
                #expect(taken.status == .ok, "\(taken.text)")
                let returned = try await admin.rollBack()
                #expect(returned.status == .ok, "\(returned.text)")
                #expect(try #require(returned.number("restored")) > 0)
                isPublished.withLock { $0 = true }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(counts.allSatisfy { $0 > 0 }, "the erasures and the syncs continued: \(counts)")
        }
    }

    @Test func `a rehearsal is invalid for a publication after another policy was published`() async throws {
        try await withAdminClient { admin, _ in
            _ = try await admin.owner()
            let early = try #require(try await admin.rehearse(try .harsh()).rehearsal)
            let between = try await admin.publish(try Calculator.policy(inDoubt: .undetermined))
            #expect(between.status == .ok, "\(between.text)")
            let stale = try await admin.publish(try .harsh(), ["takeFrom": 1, "rehearsal": early])
            #expect(stale.reason == "otherRehearsal", "\(stale.text)")
            let fresh = try #require(try await admin.rehearse(try .harsh()).rehearsal)
            #expect(try await admin.publish(try .harsh(), ["takeFrom": 1, "rehearsal": fresh]).status == .ok)
        }
    }

    @Test func `a policy with linter errors is refused, and the response contains the errors`() async throws {
        try await withAdminClient { admin, _ in
            // Nothing grants the entitlement `nothing`, which the linter reports as an error.
            let usual = try Calculator.policy()
            let text = usual.text.replacingOccurrences(
                of: #""entitlements":{"#, with: #""entitlements":{"nothing":{},"#)
            let rehearsal = try await admin.post(AdminClient.policies + "/rehearsals", ["policy": text])
            let findings = try #require(rehearsal.json["findings"] as? [[String: Any]], "\(rehearsal.text)")
            let error = findings.first { $0["code"] as? String == "entitlement-without-source" }
            #expect(error?["blocks"] as? Bool == true && error?["severity"] as? String == "error")
            let refused = try await admin.post(AdminClient.policies, ["policy": text, "reason": "r"])
            #expect(refused.reason == "policyErrors" && refused.problem?.detail.contains("nothing") == true)
            let line = try await admin.lastAudit()
            #expect((line["detail"] as? [String: String])?["refused"] == "policyErrors")
            #expect((try await admin.get(AdminClient.policies).json["publications"] as? [Any])?.count == 1)
        }
    }

    @Test func `confirming the number of losing customers doesn't confirm another policy error`() async throws {
        try await withAdminClient { admin, _ in
            _ = try await admin.owner()
            let harsh = try Policy.harsh()
            let text = harsh.text.replacingOccurrences(
                of: #""entitlements":{"#, with: #""entitlements":{"nothing":{},"#)
            let rehearsal = try await admin.post(AdminClient.policies + "/rehearsals", ["policy": text])
            #expect(rehearsal.number("losing") == 1)
            let refused = try await admin.post(
                AdminClient.policies,
                ["policy": text, "reason": "r", "takeFrom": 1, "rehearsal": rehearsal.rehearsal])
            #expect(refused.reason == "policyErrors", "\(refused.text)")
        }
    }

    @Test func `a policy that takes rights away from owners who never synced must acknowledge the lost rights`()
        async throws
    {
        try await withAdminClient { admin, _ in
            let refused = try await admin.publish(try .harsh())
            #expect(refused.reason == "policyErrors" && refused.text.contains("right-lost"), "\(refused.text)")
            let rehearsal = try await admin.rehearse(try .harsh())
            #expect(rehearsal.number("customers") == 0 && rehearsal.number("losing") == 0)
            let none = try await admin.publish(try .harsh(), ["takeFrom": 0, "rehearsal": rehearsal.rehearsal])
            #expect(none.reason == "policyErrors", "\(none.text)")
            let lost = try await admin.lostRights(in: try .harsh())
            #expect(!lost.isEmpty && lost.allSatisfy { !$0.at.isEmpty })
            let some = try await admin.publish(try .harsh(acknowledging: Array(lost.dropLast())))
            #expect(some.reason == "policyErrors", "\(some.text)")
            let published = try await admin.publish(try .harsh(acknowledging: lost))
            #expect(published.status == .ok, "\(published.text)")
        }
    }

    @Test func `a publication with keepPromises ends no promises`() async throws {
        try await withAdminClient { admin, _ in
            let owner = try await admin.owner()
            // The linter reports that owners who haven't synced yet would lose their rights.
            let refused = try await admin.publish(try .harsh(), ["keepPromises": true])
            #expect(refused.reason == "policyErrors", "\(refused.text)")
            let lost = try await admin.lostRights(in: try .harsh())
            let kept = try await admin.publish(try .harsh(acknowledging: lost), ["keepPromises": true])
            #expect(kept.status == .ok, "\(kept.text)")
            #expect(kept.number("losing") == 0 && kept.number("ended") == 0)
            #expect(try await admin.outcome(of: owner) == ["granted", "promise"])
            #expect(try await admin.owner("704000000000000007").everything.outcome == "denied")
            // A right that only a promise keeps doesn't prevent later publications.
            let harmless = try Policy.harsh(inDoubt: .undetermined)
            let published = try await admin.publish(harmless)
            #expect(published.status == .ok && published.number("losing") == 0, "\(published.text)")
            #expect(try await admin.outcome(of: owner) == ["granted", "promise"])
        }
    }

    @Test func `a rollback without a version returns to the policy that was active before the current policy`()
        async throws
    {
        try await withAdminClient { admin, _ in
            let policies = [
                try Calculator.policy(inDoubt: .undetermined), try Calculator.policy(testEnvironments: .undetermined),
            ]
            for policy in policies {
                let published = try await admin.publish(policy)
                #expect(published.status == .ok, "\(published.text)")
            }
            #expect(try await admin.rollBack().number("version") == 2)
            // The policy before is now the policy that was rolled back.
            #expect(try await admin.rollBack().number("version") == 3)
        }
    }

    @Test func `the linter's errors about customers who never synced don't prevent a rollback`() async throws {
        try await withAdminClient { admin, _ in
            let published = try await admin.publish(try .generous())
            #expect(published.status == .ok, "\(published.text)")
            let lost = try await admin.lostRights(in: try Calculator.policy())
            #expect(!lost.isEmpty, "the linter reports what the earlier policy takes")
            let back = try await admin.rollBack()
            #expect(back.status == .ok && back.number("version") == 1, "\(back.text)")
        }
    }

    @Test func `a rollback that takes rights back needs the number of customers who lose rights`() async throws {
        try await withAdminClient { admin, _ in
            _ = try await admin.owner()
            #expect(try await admin.publish(try .generous()).status == .ok)
            let lucky = try await admin.newcomer()
            #expect(lucky.everything.outcome == "granted")
            #expect(try await admin.rollBack().reason == "takesRights")
            let rehearsal = try await admin.post(AdminClient.policies + "/rehearsals", ["version": 1])
            #expect(rehearsal.number("losing") == 1, "\(rehearsal.text)")
            let id = try #require(rehearsal.rehearsal)
            let back = try await admin.rollBack(["version": 1, "takeFrom": 1, "rehearsal": id])
            #expect(back.status == .ok && back.number("ended") == 1, "\(back.text)")
            #expect(try await admin.outcome(of: lucky)[0] == "denied")
            #expect(try await admin.rollBack(["version": 9]).status == .notFound)
        }
    }

    @Test func `a publication that keeps promises can still take away rights from purchases`() async throws {
        try await withAdminClient { admin, _ in
            let id = "704000000000000002"
            let bought = try await admin.client.sync(
                SyncRequest(
                    appTransaction: try Calculator.minter().newcomer(id),
                    transactions: [
                        try Calculator.minter().transaction(
                            "20", of: id,
                            ["productId": .string(Calculator.everything), "type": .string("Non-Consumable")])
                    ]))
            #expect(bought.everything.outcome == "granted")
            _ = try await admin.owner()
            let usual = try Calculator.policy()
            let without = try Policy(
                app: usual.app, eras: usual.eras, buildNumbers: .increasing,
                entitlements: [Entitlement(name: "everything", products: [.init(id: Calculator.yearly)])],
                acknowledgments: [Policy.takesFromOwners])
            let rehearsal = try await admin.rehearse(without)
            #expect(rehearsal.number("losing") == 2 && rehearsal.number("losingWithPromises") == 1)
            let keep = try await admin.publish(without, ["keepPromises": true])
            #expect(keep.reason == "takesRights")
            let taken = try await admin.publish(
                without, ["keepPromises": true, "takeFrom": 1, "rehearsal": rehearsal.rehearsal])
            #expect(taken.status == .ok && taken.number("ended") == 0, "\(taken.text)")
            #expect(try await admin.outcome(of: bought)[0] == "denied")
        }
    }

    @Test func `a publication is refused if it takes rights away from more customers than the rehearsal counted`()
        async throws
    {
        try await withAdminClient { admin, _ in
            _ = try await admin.owner()
            let rehearsal = try #require(try await admin.rehearse(try .harsh()).rehearsal)
            let late = try await admin.owner("704000000000000007")
            let refused = try await admin.publish(try .harsh(), ["takeFrom": 1, "rehearsal": rehearsal])
            #expect(refused.reason == "takesMore", "\(refused.text)")
            #expect(try await admin.outcome(of: late)[0] == "granted")
            let found = try await admin.get(
                "\(AdminClient.policies)/rehearsals/\(try #require(refused.problem?.rehearsal))")
            #expect(found.number("losing") == 2)
            let again = try await admin.publish(
                try .harsh(), ["takeFrom": 2, "rehearsal": refused.problem?.rehearsal])
            #expect(again.status == .ok && again.number("losing") == 2, "\(again.text)")
        }
    }

    @Test func `a publication is refused if it gives rights to more customers than the rehearsal counted`() async throws
    {
        try await withAdminClient { admin, _ in
            _ = try await admin.newcomer()
            let rehearsal = try #require(try await admin.rehearse(try .generous()).rehearsal)
            let late = try await admin.newcomer("704000000000000007")
            let refused = try await admin.publish(try .generous(), ["giveTo": 1, "rehearsal": rehearsal])
            #expect(refused.reason == "givesMore", "\(refused.text)")
            #expect(try await admin.outcome(of: late)[0] == "denied")
            let again = try await admin.publish(
                try .generous(), ["giveTo": 2, "rehearsal": refused.problem?.rehearsal])
            #expect(again.status == .ok && again.number("gaining") == 2, "\(again.text)")
        }
    }

    @Test func `a malformed policy, a policy of another app and an incomplete publication request are refused`()
        async throws
    {
        try await withAdminClient { admin, keys in
            let broken = try await admin.post(AdminClient.policies, ["policy": "app: {", "reason": "r"])
            #expect(broken.status == .badRequest && broken.problem?.detail.contains("policy:1:") == true)
            let other = try Policy(
                app: .init(bundleID: "com.example.other"), eras: [Era(name: "paid", model: .paid)],
                entitlements: [Entitlement(name: "everything", honors: [Honor(era: "paid")])])
            #expect(try await admin.publish(other).problem?.detail.contains("com.example.other") == true)
            #expect(try await admin.publish(try .generous(), ["reason": " "]).status == .badRequest)
            #expect(try await admin.publish(try .generous(), ["takeFrom": 1]).status == .badRequest)
            #expect(try await admin.post(AdminClient.policies, ["reason": "r"]).status == .badRequest)
            #expect(try await admin.publish(try .generous(), ["version": 1]).problem?.code == .malformedRequest)
            let rollback = try await admin.rollBack(["policy": try Policy.generous().text])
            #expect(rollback.problem?.detail.contains("send no `policy` with a rollback") == true, "\(rollback.text)")
            #expect(try await admin.get(AdminClient.policies + "/2").status == .notFound)
            #expect(try await admin.get(AdminClient.policies + "/rehearsals/reh_x").status == .notFound)
            for scope in [StoredAdminKey.Scope.support, .read, .link] {
                #expect(try await admin.with(keys[scope]).publish(try .generous()).status == .forbidden)
            }
            let shown = try await admin.get(AdminClient.policies + "/1")
            let text = try Calculator.policy().text
            #expect(shown.json["policy"] as? String == text)
        }
    }

    @Test func `a publication takes the same rights from an unbound customer as from the bound customer`()
        async throws
    {
        try await withAdminClient { admin, _ in
            _ = try await admin.owner()
            let found = SyncRequest(appTransaction: try Calculator.minter().text(.appTransaction))
            let unbound = try await admin.client.sync(found, from: nil)
            #expect(unbound.everything.outcome == "granted")
            let rehearsal = try await admin.rehearse(try .harsh())
            #expect(rehearsal.number("customers") == 1 && rehearsal.number("losing") == 1)
            let taken = try await admin.publish(
                try .harsh(), ["takeFrom": 1, "rehearsal": rehearsal.rehearsal])
            #expect(taken.status == .ok, "\(taken.text)")
            #expect(try await admin.outcome(of: unbound)[0] != "granted")
            #expect(try await admin.client.sync(found, from: nil).everything.outcome != "granted")
        }
    }
}
