import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import TenureAPI
import TenureAppStore
import TenureCore
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `the fields of a persona` {
    @Test func `each setting of a persona is stored as its own field, and the response has the persona's dates`()
        async throws
    {
        let clock = TestClock()
        try await withService({
            $0.adminKey = AdminClient.adminKey
            $0.now = { clock.now }
        }) { client in
            let admin = AdminClient(client: client, key: AdminClient.adminKey)
            let settings = [
                "originalPlatform": "macOS", "originalAppVersion": "1.5", "originalPurchaseDate": "2014-05-01",
                "preorderDate": "2014-04-01T12:30:00Z", "revocationDate": "2014-06-01",
                "expirationDate": "2030-01-01",
            ]
            let stored = [
                "originalPlatform": "macOS", "originalAppVersion": "1.5",
                "originalPurchaseDate": "2014-05-01T00:00:00Z", "preorderDate": "2014-04-01T12:30:00Z",
                "revocationDate": "2014-06-01T00:00:00Z", "expirationDate": "2030-01-01T00:00:00Z",
            ]
            _ = try await admin.persona("all", settings)
            _ = try await admin.persona("empty", ["originalPlatform": "", "originalPurchaseDate": ""])
            let listed = try await admin.get("/v1/admin/personas").personas
            #expect(listed.map { $0["name"] as? String } == ["all", "empty"])
            #expect(listed.map { $0["set"] as? [String: String] } == [stored, [:]])
            #expect(listed.allSatisfy { $0["createdAt"] as? String == "2026-11-20T12:00:00Z" })
            #expect(listed.allSatisfy { $0["expiresAt"] as? String == "2026-12-20T12:00:00Z" })
            #expect(listed.allSatisfy { $0["state"] as? String == "valid" && $0["token"] == nil })
            #expect(listed.allSatisfy { $0["revokedAt"] == nil })
            clock.advance(by: 60)
            let revoked = try await admin.delete("/v1/admin/personas/all").personas
            #expect(revoked.map { $0["state"] as? String } == ["revoked"])
            #expect(revoked.map { $0["revokedAt"] as? String } == ["2026-11-20T12:01:00Z"])
            // The other persona is valid until the second of its end.
            clock.advance(by: 30 * 86_400 - 61)
            func state() async throws -> String? {
                try await admin.get("/v1/admin/personas").personas.last?["state"] as? String
            }
            #expect(try await state() == "valid")
            clock.advance(by: 1)
            #expect(try await state() == "expired")
        }
    }

    @Test func `the token of a persona has the app, the persona's name and settings, and its dates in seconds`()
        async throws
    {
        try await withAdminClient { admin, _ in
            let token = try await admin.persona(more: ["expires": "2026-11-22T12:00:00Z"])
            let jws = try OpenedJWS(token)
            try jws.verify(under: Data(buffer: try await admin.client.get("/.well-known/jwks.json").body))
            #expect(jws.header["typ"] as? String == "tenure-persona+jwt")
            #expect(Set(jws.claims.keys) == ["iss", "jti", "sub", "bundleID", "iat", "exp", "set"])
            #expect(jws.claims["iss"] as? String == "tenure")
            #expect(jws.claims["sub"] as? String == "early-buyer")
            #expect(jws.claims["bundleID"] as? String == "com.example.calculator")
            #expect(jws.claims["iat"] as? Int == 1_795_176_000)
            #expect(jws.claims["exp"] as? Int == 1_795_176_000 + 2 * 86_400)
            let settings = [
                "originalPlatform": "iOS", "originalAppVersion": "37", "originalPurchaseDate": "2014-05-01T00:00:00Z",
            ]
            #expect(jws.claims["set"] as? [String: String] == settings)
        }
    }

    @Test func `a persona token for another app is refused, even if the service's key signed it`() async throws {
        try await withServiceTestBed({ $0.adminKey = AdminClient.adminKey }) { testBed in
            let (service, admin) = (
                testBed.service, AdminClient(client: testBed.client, key: AdminClient.adminKey)
            )
            _ = try await admin.persona()
            let stored = try #require(try await service.store.read { try $0.personas() }.first)
            func problems(_ bundleID: String) async throws -> [String] {
                let token = PersonaToken(persona: stored, bundleID: bundleID)
                let text = try token.signed(by: service.signingKeys.current)
                return try await admin.sandboxed(as: text).problems.map(\.code)
            }
            #expect(try await problems("com.example.calculator") == [])
            #expect(try await problems("com.example.notes") == ["personaUnknown"])
        }
    }

    @Test func `without a nonce, an entitlement token of a persona ends with the persona or after an hour`()
        async throws
    {
        try await withAdminClient { admin, _ in
            let appTransaction = try Calculator.minter(.sandbox).text(.appTransaction)
            for (expires, seconds) in [("2026-11-20T12:10:00Z", 600), ("2026-11-20T14:00:00Z", 3600)] {
                let persona = try await admin.persona("ends-\(seconds)", more: ["expires": expires])
                let response = try await admin.client.send(
                    SyncRequest(
                        appTransaction: appTransaction, transactions: [],
                        deviceVerificationID: Calculator.device.uuidString, persona: persona))
                let answer = try JSONDecoder().decode(CustomerResponse.self, from: Data(buffer: response.body))
                let claims = try OpenedJWS(try #require(answer.entitlementToken)).claims
                let end = 1_795_176_000 + seconds
                #expect(claims["persona"] as? String == "ends-\(seconds)" && claims["exp"] as? Int == end)
                let rights = claims["entitlements"] as? [String: [String: Int]]
                #expect(rights == ["everything": ["until": end]])
            }
        }
    }

    @Test func `a refused persona isn't counted as a rejected artifact of the sync`() async throws {
        try await withService({ $0.metrics = .open }) { client in
            let admin = AdminClient(client: client, key: nil)
            let answer = try await admin.sandboxed(as: "unknown")
            #expect(answer.problems.map(\.code) == ["personaUnknown"])
            let metrics = String(buffer: try await client.get("/metrics").body)
            #expect(metrics.contains("tenure_sync_artifacts_counted_total 1\n"), "\(metrics)")
            #expect(metrics.contains("tenure_sync_artifacts_rejected_total{code=\"personaUnknown\"} 1\n"))
        }
    }

    @Test func `a sync may have as many transactions and renewal infos as the limits say`() async throws {
        try await withService({
            $0.limits.transactions = 3
            $0.limits.renewalInfos = 2
        }) { client async throws in
            func code(_ transactions: Int, _ renewalInfos: Int) async throws -> Problem.Code {
                try await client.refused(
                    SyncRequest(
                        transactions: Array(repeating: "", count: transactions),
                        renewalInfos: Array(repeating: "", count: renewalInfos))
                ).code
            }
            #expect(try await code(3, 2) == .nothingVerified)
            #expect(try await code(4, 2) == .tooLarge)
            #expect(try await code(3, 3) == .tooLarge)
        }
    }
}
