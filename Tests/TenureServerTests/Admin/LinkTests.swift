import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import TenureAPI
import TenureAppStore
import TenureCore
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `linking customers to the app's users` {
    @Test func `an app's server links a customer to a user ID with the customer's access token`() async throws {
        try await withAdminClient { admin, keys in
            let server = admin.with(keys[.link])
            let phone = try await admin.owner()
            let other = try await admin.newcomer()
            for customer in [phone, other] {
                let token = try #require(customer.accessToken?.value)
                let answer = try await server.post("/v1/link", ["userID": "ada", "accessToken": token])
                #expect(answer.status == .ok, "\(answer.text)")
                #expect(answer.json["isNew"] as? Bool == true)
                // The answer contains no other data of the customer.
                #expect(Set(answer.json.keys) == ["customer", "userID", "isLinked", "isNew"])
            }
            // A user's accounts are one customer: the second account has the rights of the first.
            let token = try #require(other.accessToken?.value)
            let merged = try await admin.client.customer(token)
            #expect(merged.id == phone.id)
            #expect(merged.entitlements["everything"]?.outcome == .granted)
            let timeline = try await admin.get(try phone.path("/timeline"))
            #expect(timeline.kinds.filter { ["linked", "merged"].contains($0) } == ["linked", "merged", "linked"])
            #expect(timeline.entries.contains { $0["because"] as? String == "sameUser" })
            // When the link ends, the accounts are separate customers again.
            #expect(try await server.delete(try phone.path("/links/ada")).status == .ok)
            let alone = try await admin.client.customer(token)
            #expect(alone.id == other.id)
            #expect(alone.entitlements["everything"]?.outcome == .denied)
        }
    }

    @Test func `by default, a linked customer can't be linked to another user`() async throws {
        try await withAdminClient { admin, keys in
            let server = admin.with(keys[.link])
            let owner = try await admin.owner()
            let token = try owner.token
            _ = try await server.post("/v1/link", ["userID": "ada", "accessToken": token])
            let refused = try await server.post("/v1/link", ["userID": "boris", "accessToken": token])
            #expect(refused.problem?.code == .conflict && refused.problem?.reason == "linkedToAnotherUser")
            #expect(!refused.text.contains("ada"), "the refusal doesn't name the other user")
            let lines = try await admin.get("/v1/admin/audit").entries
            #expect((lines.first?["detail"] as? [String: Any])?["refused"] as? String == "linkedToAnotherUser")
            #expect(try await admin.get("/v1/admin/customers?id=boris").found.isEmpty)
            #expect(try await admin.get("/v1/admin/customers?id=ada").found == [owner.id])
        }
    }

    @Test func `with transfer set to newest, linking an account to another user moves its acquisition and promise`()
        async throws
    {
        try await withAdminClient(transfer: .newest) { admin, keys in
            let server = admin.with(keys[.link])
            let (owner, second) = (try await admin.owner(), try await admin.newcomer())
            let third = try await admin.newcomer("704000000000000003")
            func link(_ user: String, _ customer: CustomerResponse) async throws {
                let token = try #require(customer.accessToken?.value)
                let answer = try await server.post("/v1/link", ["userID": user, "accessToken": token])
                #expect(answer.status == .ok, "\(answer.text)")
            }
            try await link("ada", second)
            try await link("ada", owner)
            try await link("boris", third)
            try await link("boris", owner)
            func outcome(_ customer: CustomerResponse) async throws -> Decision.Outcome? {
                let token = try #require(customer.accessToken?.value)
                return try await admin.client.customer(token).entitlements["everything"]?.outcome
            }
            #expect(try await outcome(third) == .granted)
            #expect(try await outcome(owner) == .granted)
            #expect(try await outcome(second) == .denied)
            for customer in [second, third] {
                let timeline = try await admin.get(try customer.path("/timeline"))
                let moved = timeline.entries.first { $0["kind"] as? String == "transferred" }
                #expect(moved?["promises"] as? String == "everything", "\(timeline.text)")
            }
            // The new user's export doesn't show the acquisition's earlier user, and an erasure leaves no trace of that
            // user.
            let moved = try await admin.get(try owner.path("/export?reason=asked"))
            #expect(moved.status == .ok && moved.text.contains("boris") && !moved.text.contains("\"ada\""))
            #expect(try await admin.get(try second.path("/timeline")).text.contains("\"ada\""))
        }
    }

    @Test func `after a merge is undone, an access token from before gives access to its own account`() async throws {
        try await withAdminClient { admin, _ in
            let (owner, other) = (try await admin.owner(), try await admin.newcomer())
            let merge = try await admin.post(
                try owner.path("/merges"), ["other": try other.publicID, "reason": "one person"])
            #expect(merge.status == .ok, "\(merge.text)")
            let again = try await admin.newcomer()
            #expect(again.id == owner.id && again.entitlements["everything"]?.outcome == .granted)
            #expect(try await admin.delete(try owner.path("/merges/\(try other.publicID)")).status == .ok)
            let seen = try await admin.client.customer(try #require(again.accessToken?.value))
            #expect(seen.id == other.id && seen.entitlements["everything"]?.outcome == .denied)
        }
    }

    @Test func `customers whom support separated can't be linked to one user, but support can merge them again`()
        async throws
    {
        try await withAdminClient { admin, keys in
            let (owner, other) = (try await admin.owner(), try await admin.newcomer())
            let merge = ["other": try other.publicID, "reason": "one person"]
            #expect(try await admin.post(try owner.path("/merges"), merge).status == .ok)
            #expect(try await admin.delete(try owner.path("/merges/\(try other.publicID)")).status == .ok)
            let server = admin.with(keys[.link])
            let first = try await server.post("/v1/link", ["userID": "ada", "accessToken": try owner.token])
            #expect(first.status == .ok, "\(first.text)")
            let second = try await server.post("/v1/link", ["userID": "ada", "accessToken": try other.token])
            #expect(second.problem?.code == .conflict && second.problem?.reason == "separated", "\(second.text)")
            #expect(second.problem?.detail.contains("merge them in the admin API") == true)
            #expect(try await admin.client.customer(try other.token).id == other.id)
            #expect(try await admin.post(try owner.path("/merges"), merge).status == .ok)
            #expect(try await admin.client.customer(try other.token).id == owner.id)
        }
    }

    @Test func `at most a hundred customers can be merged, by support or by a link to one user`() async throws {
        try await withAdminClient { admin, keys in
            let owner = try await admin.owner()
            var others: [CustomerResponse] = []
            for number in 1...100 {
                let other = try await admin.newcomer(String(704_000_000_000_001_000 + number))
                others.append(other)
                let merge = try await admin.post(
                    try owner.path("/merges"), ["other": try other.publicID, "reason": "one person"])
                guard number == 100 else {
                    #expect(merge.status == .ok, "\(number): \(merge.text)")
                    continue
                }
                #expect(merge.problem?.code == .conflict && merge.problem?.reason == "tooManyMerged", "\(merge.text)")
                #expect(merge.problem?.detail.contains("undo merges of different people first") == true)
            }
            let (server, last) = (admin.with(keys[.link]), try #require(others.last))
            let link = try await server.post("/v1/link", ["userID": "ada", "accessToken": try owner.token])
            #expect(link.status == .ok, "\(link.text)")
            let refused = try await server.post("/v1/link", ["userID": "ada", "accessToken": try last.token])
            #expect(refused.problem?.reason == "tooManyMerged", "\(refused.text)")
            #expect(try await admin.client.customer(try last.token).id == last.id)
            #expect(try await admin.delete(try owner.path("/merges/\(try others[0].publicID)")).status == .ok)
            let linked = try await server.post("/v1/link", ["userID": "ada", "accessToken": try last.token])
            #expect(linked.status == .ok, "after one merge is undone: \(linked.text)")
        }
    }

    @Test func `an access token from an unbound sync can't link a customer to a user`() async throws {
        try await withAdminClient { admin, keys in
            let found = try await admin.client.sync(
                SyncRequest(appTransaction: try Calculator.minter().text(.appTransaction)), from: nil)
            let token = try #require(found.accessToken?.value)
            let answer = try await admin.with(keys[.link]).post("/v1/link", ["userID": "eve", "accessToken": token])
            #expect(answer.problem?.code == .conflict && answer.problem?.reason == "unboundProof")
            #expect(try await admin.get("/v1/admin/customers?id=eve").found.isEmpty)
        }
    }

    @Test func `a link request with an invalid user ID, or with no customer or two customers, is refused`() async throws
    {
        try await withAdminClient { admin, keys in
            let server = admin.with(keys[.link])
            let token = try #require(try await admin.owner().accessToken?.value)
            let cases: [[String: Any?]] = [
                [:], ["userID": "ada"], ["userID": "", "accessToken": token],
                ["userID": String(repeating: "a", count: 257), "accessToken": token],
                ["userID": "a\nb", "accessToken": token], ["userID": "ada", "accessToken": token + "x"],
                ["userID": "ada", "accessToken": "x"],
                ["userID": "ada", "accessToken": token, "customer": "cus_nobody"],
            ]
            for body in cases {
                #expect(try await server.post("/v1/link", body).problem?.code == .malformedRequest, "\(body)")
            }
            let unknown = try await server.post("/v1/link", ["userID": "ada", "customer": "cus_nobody"])
            #expect(unknown.problem?.code == .notFound)
            #expect(try await admin.get("/v1/admin/customers?id=ada").found.isEmpty, "no request has linked the user")
        }
    }

    @Test func `undoing a merge gives purchases that were synced after the merge to the account that synced them`()
        async throws
    {
        try await withAdminClient { admin, _ in
            let id = "704000000000000001"
            let minter = Calculator.minter()
            let owner = try await admin.owner(transactions: [try minter.transaction("1", of: id)])
            let other = try await admin.newcomer()
            _ = try await admin.post(try other.path("/merges"), ["other": try owner.publicID, "reason": "r"])
            let later = try await admin.owner(
                transactions: [try minter.transaction("1", of: id), try minter.transaction("2", of: id)])
            #expect(later.id == other.id)
            _ = try await admin.delete(try other.path("/merges/\(try owner.publicID)"))
            let back = try await admin.get(try owner.path())
            #expect(back.outcome("everything") == "granted")
            func purchases(_ answer: AdminClient.Answer) -> [String]? {
                let purchases = (answer.json["customer"] as? [String: Any])?["purchases"] as? [[String: Any]]
                return purchases?.compactMap { $0["transactionID"] as? String }.sorted()
            }
            #expect(purchases(back) == ["1", "2"])
            let rest = try await admin.get(try other.path())
            #expect(rest.outcome("everything") == "denied")
            #expect(purchases(rest) == [])
            #expect((rest.json["promises"] as? [Any])?.isEmpty == true)
        }
    }

    @Test func `an expired access token can't link a customer to a user`() async throws {
        let clock = TestClock()
        try await withService { configuration in
            configuration.adminKey = AdminClient.adminKey
            configuration.now = { clock.now }
        } _: { client in
            let admin = AdminClient(client: client, key: AdminClient.adminKey)
            let token = try #require(try await admin.owner().accessToken)
            clock.advance(by: token.expiresAt.timeIntervalSince(clock.now))
            let answer = try await admin.post("/v1/link", ["userID": "ada", "accessToken": token.value])
            #expect(answer.problem?.code == .malformedRequest, "\(answer.text)")
            #expect(try await admin.get("/v1/admin/customers?id=ada").found.isEmpty)
        }
    }
}
