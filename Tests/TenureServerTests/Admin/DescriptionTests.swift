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

@Suite struct `responses of the admin API` {
    @Test func `responses of the admin API match the OpenAPI document`() async throws {
        let document = try InterfaceDocument()
        let operations = Dictionary(uniqueKeysWithValues: document.operations.map { ($0.name, $0) })
        @Sendable func check(_ answer: AdminClient.Answer, to name: String, _ status: HTTPResponse.Status = .ok) throws
        {
            #expect(answer.status == status, "\(name): \(answer.text)")
            let mistakes = document.mistakes(of: answer.response, to: try #require(operations[name]))
            #expect(mistakes == [], "\(name): \(answer.text)")
        }
        try await withAdminClient { admin, _ in
            let base = "/v1/admin/customers"
            let minter = Calculator.minter()
            let appTransaction = try minter.text(.appTransaction)
            let owner = try await admin.client.sync(
                SyncRequest(
                    appTransaction: appTransaction, transactions: [try minter.text(.transaction)],
                    receipt: try Calculator.receipts().text()))
            _ = try await admin.client.sync(SyncRequest(appTransaction: appTransaction), from: nil)
            let other = try await admin.newcomer()
            let token = try owner.token
            try check(
                try await admin.post("/v1/link", ["userID": "ada", "accessToken": token]), to: "POST /v1/link")
            try check(
                try await admin.post("/v1/link", ["userID": "boris", "accessToken": token]), to: "POST /v1/link",
                .conflict)
            let grant = ["entitlement": "everything", "reason": "r", "until": "2030-01-01T00:00:00Z"]
            try check(try await admin.post(try owner.path("/grants"), grant), to: "POST \(base)/{id}/grants")
            try check(try await admin.post(try owner.path("/grants"), [:]), to: "POST \(base)/{id}/grants", .badRequest)
            let revocation = ["entitlement": "everything", "reason": "r"]
            try check(
                try await admin.post(try owner.path("/revocations"), revocation), to: "POST \(base)/{id}/revocations")
            let merge = ["other": try other.publicID, "reason": "r"]
            try check(try await admin.post(try owner.path("/merges"), merge), to: "POST \(base)/{id}/merges")
            try check(try await admin.get(try owner.path("/timeline?limit=3")), to: "GET \(base)/{id}/timeline")
            try check(try await admin.get(try owner.path("/timeline")), to: "GET \(base)/{id}/timeline")
            try check(try await admin.get(try owner.path()), to: "GET \(base)/{id}")
            try check(try await admin.get(try owner.path("/export")), to: "GET \(base)/{id}/export")
            try check(
                try await admin.delete(try owner.path("/merges/\(try other.publicID)")),
                to: "DELETE \(base)/{id}/merges/{other}")
            try check(
                try await admin.post(try owner.path("/links"), ["userID": "ada"]), to: "POST \(base)/{id}/links")
            try check(try await admin.delete(try owner.path("/links/ada")), to: "DELETE \(base)/{id}/links/{user}")
            try check(
                try await admin.delete(try owner.path("/links/ada")), to: "DELETE \(base)/{id}/links/{user}", .notFound)
            try check(try await admin.get("\(base)?id=704000000000000001"), to: "GET \(base)")
            for artifact in [appTransaction, appTransaction + "A", #"{"status":0,"receipt":{}}"#] {
                try check(
                    try await admin.post("\(base)/find", ["artifact": artifact]), to: "POST \(base)/find")
            }
            let personas = "/v1/admin/personas"
            let persona = ["name": "early", "set": ["originalAppVersion": "37"]] as [String: Any]
            try check(try await admin.post(personas, persona), to: "POST \(personas)")
            try check(try await admin.post(personas, persona), to: "POST \(personas)", .conflict)
            try check(try await admin.post(personas + "/ready-made", [:]), to: "POST \(personas)/ready-made")
            try check(try await admin.delete(personas + "/early"), to: "DELETE \(personas)/{name}")
            try check(try await admin.get(personas), to: "GET \(personas)")
            let policies = AdminClient.policies
            _ = try await admin.owner("704000000000000011")
            try check(try await admin.rehearse(try .harsh()), to: "POST \(policies)/rehearsals")
            let refused = try await admin.publish(try .harsh())
            try check(refused, to: "POST \(policies)", .conflict)
            let rehearsal = try #require(refused.problem?.rehearsal)
            try check(
                try await admin.get("\(policies)/rehearsals/\(rehearsal)"), to: "GET \(policies)/rehearsals/{id}")
            let lost = try await admin.lostRights(in: try .harsh())
            let kept = try await admin.publish(try .harsh(acknowledging: lost), ["keepPromises": true])
            try check(kept, to: "POST \(policies)")
            try check(try await admin.rollBack(["author": "ada"]), to: "POST \(policies)/rollback")
            try check(try await admin.get(policies), to: "GET \(policies)")
            try check(try await admin.get(policies + "/2"), to: "GET \(policies)/{version}")
            try check(try await admin.delete(try owner.path()), to: "DELETE \(base)/{id}")
            try check(try await admin.get("/v1/admin/audit?limit=2"), to: "GET /v1/admin/audit")
            try check(try await admin.get("/v1/admin/audit"), to: "GET /v1/admin/audit")
        }
    }
}
