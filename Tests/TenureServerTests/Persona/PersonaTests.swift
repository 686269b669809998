import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `a persona` {
    @Test(arguments: [AppStoreEnvironment.sandbox, .xcode])
    func `a sync with a persona in a test environment gets the persona's decisions`(_ environment: AppStoreEnvironment)
        async throws
    {
        try await withAdminClient { admin, _ in
            let token = try await admin.persona()
            let alone = try await admin.sandboxed(as: nil, environment)
            #expect(alone.everything.outcome == "denied" && alone.persona == nil)
            let answer = try await admin.sandboxed(as: token, environment)
            #expect(answer.everything.outcome == "granted")
            #expect(answer.everything.codes.first == "eraHonored" && answer.everything.codes.contains("persona"))
            #expect(
                answer.entitlements["everything"]?.sentence.hasPrefix("As the test customer “early-buyer”: ") == true)
            #expect(answer.persona == "early-buyer" && answer.environment == environment)
            #expect(answer.problems.isEmpty)
            // The access token still belongs to the persona. A sync without the persona gets the tester's decisions.
            let read = try await admin.client.customer(try answer.token)
            #expect(read.everything.outcome == "granted" && read.persona == "early-buyer")
            #expect(try await admin.sandboxed(as: nil, environment).everything.outcome == "denied")
            #expect(try await admin.client.customer(try alone.token).everything.outcome == "denied")
        }
    }

    @Test func `a persona of a new customer has no rights of eras, but gets the rights of sandbox purchases`()
        async throws
    {
        try await withAdminClient { admin, _ in
            let late = ["originalPlatform": "iOS", "originalAppVersion": "300", "originalPurchaseDate": "2020-09-13"]
            let token = try await admin.persona("late", late)
            let answer = try await admin.sandboxed(as: token)
            #expect(answer.everything.outcome == "denied" && answer.everything.codes.contains("persona"))
            let bought = try await admin.sandboxed(
                as: token,
                transactions: [
                    try Calculator.minter(.sandbox).text(
                        .transaction,
                        ["productId": .string(Calculator.everything), "type": .string("Non-Consumable")])
                ])
            #expect(bought.everything.outcome == "granted" && bought.everything.codes.first == "product")
        }
    }

    @Test func `a persona is refused in a sync with production artifacts`() async throws {
        try await withAdminClient { admin, _ in
            let token = try await admin.persona()
            let newcomer = SyncRequest(
                appTransaction: try Calculator.minter().newcomer(), transactions: [], persona: token)
            let answer = try await admin.client.sync(newcomer)
            #expect(answer.everything.outcome == "denied" && answer.persona == nil)
            #expect(!answer.everything.codes.contains("persona"))
            #expect(answer.problems.map(\.code) == ["personaRefused"] && answer.problems[0].artifact == "persona")
            let jws = try OpenedJWS(try #require(answer.entitlementToken))
            #expect(jws.claims["persona"] == nil)
            #expect(try await admin.client.customer(try answer.token).everything.outcome == "denied")
        }
    }

    @Test func `a sync with a persona records no promise, and doesn't change the tester's data`() async throws {
        try await withAdminClient { admin, _ in
            let token = try await admin.persona()
            let answer = try await admin.sandboxed(as: token)
            let seen = try await admin.get(try answer.path())
            #expect(seen.outcome("everything") == "denied")
            #expect((seen.json["promises"] as? [Any])?.isEmpty == true)
            let names = try await admin.get("/v1/admin/customers?id=704000000000000001").found
            let id = try answer.publicID
            #expect(names == [id])
        }
    }

    @Test func `an entitlement token of a persona contains the persona's name, and expires with the persona`()
        async throws
    {
        try await withAdminClient { admin, _ in
            let token = try await admin.persona(more: ["expires": "2026-11-22T12:00:00Z"])
            let answer = try await admin.sandboxed(as: token)
            let jws = try OpenedJWS(try #require(answer.entitlementToken))
            try jws.verify(under: Data(buffer: try await admin.client.get("/.well-known/jwks.json").body))
            #expect(jws.claims["persona"] as? String == "early-buyer")
            #expect(jws.claims["environment"] as? String == "Sandbox")
            #expect(jws.claims["exp"] as? Int == 1_795_176_000 + 2 * 86_400)
            #expect((jws.claims["entitlements"] as? [String: Any])?["everything"] != nil)
        }
    }

    @Test func `an unbound sync with a persona gets the persona's decisions, but no entitlement token`() async throws {
        try await withAdminClient { admin, _ in
            let token = try await admin.persona()
            let found = SyncRequest(
                appTransaction: try Calculator.minter(.sandbox).text(.appTransaction), persona: token)
            let answer = try await admin.client.sync(found, from: nil)
            #expect(answer.everything.outcome == "granted" && answer.entitlementToken == nil)
            #expect(try await admin.client.customer(try answer.token).everything.outcome == "granted")
        }
    }

    @Test func `no trial session is used for an entitlement that the persona already has`() async throws {
        try await withTriedCalculator { admin in
            let owner = try await admin.sandboxed(as: try await admin.persona())
            let other = try await admin.sandboxed(as: nil)
            let path = "/v1/trials/everything/sessions"
            let owned = try await admin.with(try owner.token).post(path, ["id": "1"])
            #expect(owned.json["isOwner"] as? Bool == true, "\(owned.text)")
            let tried = try await admin.with(try other.token).post(path, ["id": "1"])
            #expect(tried.json["isOwner"] as? Bool == false && tried.json["sessionsLeft"] as? Int == 2)
        }
    }

    @Test func `a revoked persona is refused, and its access token is invalid`() async throws {
        try await withAdminClient { admin, _ in
            let token = try await admin.persona()
            let answer = try await admin.sandboxed(as: token)
            #expect(try await admin.delete("/v1/admin/personas/early-buyer").status == .ok)
            #expect(try await admin.client.get("/v1/customer", token: try answer.token).status == .unauthorized)
            let again = try await admin.sandboxed(as: token)
            #expect(again.everything.outcome == "denied" && again.problems.map(\.code) == ["personaRevoked"])
            #expect(try await admin.delete("/v1/admin/personas/early-buyer").status == .notFound)
        }
    }

    @Test func `an expired persona is refused, and its access token is invalid`() async throws {
        let clock = TestClock()
        try await withService {
            $0.adminKey = AdminClient.adminKey
            $0.now = { clock.now }
        } _: { client in
            let admin = AdminClient(client: client, key: AdminClient.adminKey)
            let token = try await admin.persona(more: ["expires": "2026-11-20T12:10:00Z"])
            let answer = try await admin.sandboxed(as: token)
            #expect(answer.accessToken?.expiresAt == Calculator.now.addingTimeInterval(600))
            clock.advance(by: 600)
            #expect(try await client.get("/v1/customer", token: try answer.token).status == .unauthorized)
            let again = try await admin.sandboxed(as: token)
            #expect(again.problems.map(\.code) == ["personaExpired"] && again.persona == nil)
            #expect(try await admin.get("/v1/admin/personas").personas.first?["state"] as? String == "expired")
        }
    }

    @Test func `only a persona token that this service signed is accepted`() async throws {
        try await withAdminClient { admin, _ in
            let token = try await admin.persona()
            let entitlementToken = try #require(try await admin.sandboxed(as: token).entitlementToken)
            var corrupted = ["", "x", "a.b.c", token + "A", String(token.dropLast(2)), entitlementToken]
            let parts = token.split(separator: ".").map(String.init)
            corrupted.append("\(parts[0]).\(parts[1]).\(parts[1])")
            corrupted.append(String(repeating: "A", count: 10_000))
            for index in [5, parts[0].count + 8, token.count - 20] {
                var characters = Array(token)
                characters[index] = characters[index] == "A" ? "B" : "A"
                corrupted.append(String(characters))
            }
            for wrong in corrupted {
                let answer = try await admin.sandboxed(as: wrong)
                #expect(answer.problems.map(\.code) == ["personaUnknown"], "\(wrong.prefix(40))")
                #expect(answer.everything.outcome == "denied")
            }
            try await withAdminClient { other, _ in
                // Another service has another signing key and another database.
                let answer = try await other.sandboxed(as: token)
                #expect(answer.problems.map(\.code) == ["personaUnknown"])
            }
        }
    }

    @Test func `a persona with invalid details isn't created`() async throws {
        try await withAdminClient { admin, _ in
            func refused(_ body: [String: Any?]) async throws -> String {
                let answer = try await admin.post("/v1/admin/personas", body)
                #expect(answer.status == .badRequest, "\(answer.text)")
                return answer.problem?.detail ?? ""
            }
            #expect(try await refused(["name": "a b"]).contains("`name`"))
            #expect(try await refused(["name": "x", "set": ["version": "1"]]).contains("`version`"))
            #expect(try await refused(["name": "x", "set": ["originalPlatform": "Windows"]]).contains("`Windows`"))
            #expect(try await refused(["name": "x", "set": ["originalPurchaseDate": "May"]]).contains("`May`"))
            #expect(try await refused(["name": "x", "expires": "2026-11-20T12:00:00Z"]).contains("`expires`"))
            #expect(try await refused(["name": "x", "expires": "2028-11-20T12:00:00Z"]).contains("`expires`"))
            _ = try await admin.persona("x")
            let taken = try await admin.post("/v1/admin/personas", ["name": "x"])
            #expect(taken.problem?.reason == "nameTaken")
            _ = try await admin.persona("x", more: ["replace": true])
            let states = try await admin.get("/v1/admin/personas").personas.compactMap { $0["state"] as? String }
            #expect(states == ["revoked", "valid"])
        }
    }

    @Test func `a persona lasts for thirty days, or until the given date within 366 days`() async throws {
        try await withAdminClient { admin, _ in
            func create(_ body: [String: Any?]) async throws -> AdminClient.Answer {
                try await admin.post("/v1/admin/personas", body)
            }
            let usual = try await create(["name": "usual"])
            #expect(usual.personas.first?["expiresAt"] as? String == "2026-12-20T12:00:00Z")
            let late = try await create(["name": "late", "expires": "2027-11-21T12:00:01Z"])
            #expect(late.problem?.detail.contains("`expires`") == true)
            let longest = try await create(["name": "longest", "expires": "2027-11-21T12:00:00Z"])
            #expect(longest.status == .ok, "\(longest.text)")
            let shortest = try await create(["name": "shortest", "expires": "2026-11-20T12:00:01Z"])
            #expect(shortest.status == .ok, "\(shortest.text)")
            #expect(try await create(["name": String(repeating: "n", count: 64)]).status == .ok)
            for name in ["", String(repeating: "n", count: 65), "é", "n\u{7F}"] {
                #expect(try await create(["name": name]).problem?.code == .malformedRequest, "\(name)")
            }
            func version(_ length: Int) -> [String: Any?] {
                ["name": "v\(length)", "set": ["originalAppVersion": String(repeating: "1", count: length)]]
            }
            #expect(try await create(version(64)).status == .ok)
            #expect(try await create(version(65)).problem?.detail.contains("more than 64 bytes") == true)
        }
    }

    /// Runs a service with a trial of three sessions.
    private func withTriedCalculator(_ body: @escaping @Sendable (AdminClient) async throws -> Void) async throws {
        let usual = try Calculator.policy()
        let policy = try Policy(
            app: usual.app, eras: usual.eras, buildNumbers: .increasing,
            entitlements: [
                Entitlement(
                    name: "everything", products: [.init(id: Calculator.everything)], honors: [Honor(era: "paid")],
                    trial: .sessions(3))
            ])
        try await withService(policy: policy) {
            $0.adminKey = AdminClient.adminKey
        } _: { client in
            try await body(AdminClient(client: client, key: AdminClient.adminKey))
        }
    }

    @Test func `an access token with a persona gives no access to a customer of production`() async throws {
        try await withFolder { folder in
            let texts = try await withService(in: folder, { $0.adminKey = AdminClient.adminKey }) { client in
                let admin = AdminClient(client: client, key: AdminClient.adminKey)
                let tester = try await admin.sandboxed(as: try await admin.persona())
                return [try tester.token, try await admin.owner().token]
            }
            let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            let key = try AccessTokenKey(folder: folder, databaseID: store.databaseID)
            try await store.close()
            let tokens = texts.compactMap { key.token(in: $0.utf8) }
            #expect(tokens.map { $0.persona != nil } == [true, false])
            let persona = try #require(tokens.first?.persona)
            try await withService(in: folder, { $0.adminKey = AdminClient.adminKey }) { client in
                for token in tokens {
                    let text = key.text(
                        of: AccessToken(
                            customer: token.customer, realm: token.realm, expiresAt: token.expiresAt, persona: persona))
                    let isProduction = token.realm.environment == .production
                    let status = try await client.get("/v1/customer", token: text).status
                    #expect(status == (isProduction ? .unauthorized : .ok))
                }
            }
        }
    }
}
