import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import TenureAPI
import TenureCore
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `the log of the admin API` {
    @Test func `the log has each wrong key with its address, each change with its refusal, and each publication`()
        async throws
    {
        let lines = LogLines()
        try await withFolder { folder in
            var configuration = try Calculator.configuration(folder)
            configuration.adminKey = AdminClient.adminKey
            let service = try await TenureService(configuration)
            let application = try service.application(logger: lines.logger(.info)) { _ in }
            try await application.test(.router) { http in
                let admin = AdminClient(client: Client(http: http), key: AdminClient.adminKey)
                let owner = try await admin.owner()
                for _ in 0..<2 { _ = try await admin.with(KeySecret().text).get("/v1/admin/audit") }
                // A request without a key isn't an attempt to guess one.
                _ = try await admin.with(nil).get("/v1/admin/audit")
                _ = try await admin.post(try owner.path("/grants"), ["entitlement": "everything", "reason": "r"])
                _ = try await admin.delete(try owner.path("/links/ada"))
                // The grant keeps this right of the first owner, so only the second owner loses it.
                _ = try await admin.owner("704000000000000009")
                let rehearsal = try await admin.rehearse(try .harsh())
                let taken = try await admin.publish(
                    try .harsh(), ["takeFrom": 1, "rehearsal": rehearsal.rehearsal])
                #expect(taken.status == .ok, "\(taken.text)")
                #expect(try await admin.rollBack().status == .ok)
            }
        }
        func entries(_ message: String, _ names: [String]) throws -> [[String]] {
            let entries = try lines.texts.compactMap {
                try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
            }
            return entries.filter { $0["message"] as? String == message }.map { entry in
                names.map { entry[$0] as? String ?? "-" }
            }
        }
        // A client without a socket has no address.
        let wrong = try entries("a request had a wrong admin key", ["level", "address", "count", "right"])
        #expect(wrong == [["warning", "unknown", "1", "audit"], ["warning", "unknown", "2", "audit"]])
        let changes = try entries("customer change", ["level", "action", "key", "refused"])
        #expect(changes == [["info", "grant", "adminKey", "-"], ["info", "unlink", "adminKey", "notLinked"]])
        let publications = try entries(
            "published a policy", ["level", "action", "version", "key", "losing", "ended"])
        #expect(
            publications == [
                ["info", "publish", "2", "adminKey", "1", "1"], ["info", "rollback", "1", "adminKey", "0", "0"],
            ])
    }
}
