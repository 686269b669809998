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

@Suite struct `access tokens` {
    @Test func `a customer's data can't be read with a missing or corrupted access token`() async throws {
        try await withService { client in
            let answer = try await client.sync(
                SyncRequest(appTransaction: try Calculator.minter().text(.appTransaction)))
            let token = try #require(answer.accessToken?.value)
            #expect(try await client.get("/v1/customer", token: token).status == .ok)
            var corrupted: [String?] = [nil, "", "x", token + "A", String(token.dropLast()), token.lowercased()]
            for index in [0, 5, 20, 30, 60] {
                var characters = Array(token)
                characters[index] = characters[index] == "A" ? "B" : "A"
                corrupted.append(String(characters))
            }
            for wrong in corrupted {
                let response = try await client.get("/v1/customer", token: wrong)
                #expect(response.status == .unauthorized)
                #expect(response.headers[.wwwAuthenticate] == "Bearer")
                let problem = try client.problem(response)
                #expect(problem.code == .notAuthenticated)
                #expect(problem.detail == "the access token is missing, invalid or expired; sync again")
            }
            let unknown = try await client.get("/v1/customers", token: token)
            #expect(unknown.status == .notFound && unknown.headers[.wwwAuthenticate] == nil)
        }
    }

    @Test func `an access token gives access to its own customer's data, and to no other customer's data`() async throws
    {
        try await withService { client in
            let id = "704000000000000002"
            let owner = try await client.sync(
                SyncRequest(appTransaction: try Calculator.minter().text(.appTransaction), transactions: []))
            let buyer = try await client.sync(
                SyncRequest(
                    appTransaction: try Calculator.minter().newcomer(id),
                    transactions: [try Calculator.minter().transaction("77", of: id)]))
            #expect(owner.id != buyer.id)
            let ofOwner = try await client.customer(try owner.token)
            #expect(ofOwner.id == owner.id && ofOwner.purchases.isEmpty)
            #expect(ofOwner.entitlements["everything"]?.reasons.first?.code == "eraHonored")
            let ofBuyer = try await client.customer(try buyer.token)
            #expect(ofBuyer.id == buyer.id && ofBuyer.purchases.map(\.transactionID) == ["77"])
            #expect(ofBuyer.entitlements["everything"]?.reasons.first?.code == "product")
        }
    }

    @Test
    func `an access token with another environment than its customer gives no access on any route`()
        async throws
    {
        try await withFolder { folder in
            let published = try PublishedContent(in: folder)
            try published.publishThree()
            let policy = try PublishedContent.policy(trial: .sessions(9))
            let texts = try await withService(in: folder, policy: policy) { client in
                var texts: [String] = []
                for environment in [AppStoreEnvironment.sandbox, .production] {
                    let answer = try await client.sync(
                        SyncRequest(
                            appTransaction: try Calculator.minter(environment).text(.appTransaction), transactions: []))
                    let read = try await client.customer(try answer.token)
                    #expect(read.id == answer.id && read.environment == environment)
                    texts.append(try answer.token)
                }
                return texts
            }
            let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            let key = try AccessTokenKey(folder: folder, databaseID: store.databaseID)
            try await store.close()
            let tokens = texts.compactMap { key.token(in: $0.utf8) }
            #expect(tokens.map(\.realm.environment) == [.sandbox, .production])
            #expect(Set(tokens.map(\.customer)).count == 2)
            // The service's own key signs the number of each customer, with the realm of each customer.
            try await withService(in: folder, policy: policy) {
                $0.content = ContentSettings(folder: published.folder)
                $0.adminKey = AdminClient.adminKey
            } _: { (client: Client) async throws in
                for customer in tokens {
                    for realm in tokens.map(\.realm) {
                        let text = key.text(
                            of: AccessToken(
                                customer: customer.customer, realm: realm, expiresAt: customer.expiresAt))
                        let expected: HTTPResponse.Status = realm == customer.realm ? .ok : .unauthorized
                        for path in ["/v1/customer", "/v1/content"] {
                            #expect(try await client.get(path, token: text).status == expected, "\(path)")
                        }
                        #expect(try await client.postSession("one", token: text).status == expected)
                        let linked = try await AdminClient(client: client, key: AdminClient.adminKey).post(
                            "/v1/link", ["userID": "user \(customer.customer)", "accessToken": text])
                        let isAccepted = linked.problem?.code != .malformedRequest
                        #expect(isAccepted == (realm == customer.realm), "\(linked.text)")
                    }
                }
            }
        }
    }

    @Test func `an access token in a request with two Authorization headers is rejected`() async throws {
        try await withService { client in
            let answer = try await client.sync(
                SyncRequest(appTransaction: try Calculator.minter().text(.appTransaction)))
            let token = try #require(answer.accessToken?.value)
            for others in [[], ["Bearer \(token)"], ["Basic x"]] {
                var headers = HTTPFields([HTTPField(name: .authorization, value: "Bearer \(token)")])
                for other in others { headers.append(HTTPField(name: .authorization, value: other)) }
                let status = try await client.http.execute(uri: "/v1/customer", method: .get, headers: headers) {
                    $0.status
                }
                #expect(status == (others.isEmpty ? .ok : .unauthorized))
            }
        }
    }

    @Test func `access tokens expire after their lifetime`() async throws {
        try await withFolder { folder in
            let token = try await withService(in: folder) { client in
                try #require(
                    try await client.sync(SyncRequest(appTransaction: try Calculator.minter().text(.appTransaction)))
                        .accessToken)
            }
            #expect(token.expiresAt == Calculator.now.addingTimeInterval(3600))
            let justBefore = token.expiresAt.addingTimeInterval(-1)
            #expect(try await status(of: token.value, in: folder, { $0.now = { justBefore } }) == .ok)
            let end = token.expiresAt
            #expect(try await status(of: token.value, in: folder, { $0.now = { end } }) == .unauthorized)
        }
    }

    @Test func `access tokens of another service or database give no access`() async throws {
        try await withFolder { one in
            try await withFolder { two in
                let request = SyncRequest(appTransaction: try Calculator.minter().text(.appTransaction))
                let token = try await withService(in: one) {
                    try #require(try await $0.sync(request).accessToken?.value)
                }
                try await withService(in: two) { client in
                    _ = try await client.sync(request)
                    #expect(try await client.get("/v1/customer", token: token).status == .unauthorized)
                }
                // The second service gets the first one's secret. In its database, customer 1 is another person.
                try FileManager.default.removeItem(atPath: two + "/access-token.secret")
                try FileManager.default.copyItem(
                    atPath: one + "/access-token.secret", toPath: two + "/access-token.secret")
                let store = try Store(SQLiteDatabase(path: two + "/tenure.sqlite"))
                try await store.write { try $0.setSharedKeyIDs(nil) }
                try await store.close()
                #expect(try await status(of: token, in: two) == .unauthorized)
            }
        }
    }

    @Test func `access tokens of an environment that is no longer accepted give no access`() async throws {
        try await withFolder { folder in
            let token = try await withService(in: folder) { client in
                try #require(
                    try await client.sync(
                        SyncRequest(appTransaction: try Calculator.minter(.sandbox).text(.appTransaction))
                    )
                    .accessToken?.value)
            }
            #expect(try await status(of: token, in: folder, { $0.anchors[.sandbox] = nil }) == .unauthorized)
            // Customers of a test authority aren't found when the service trusts only Apple's roots.
            #expect(
                try await status(of: token, in: folder, { $0.anchors = [.production: .apple, .sandbox: .apple] })
                    == .unauthorized)
        }
    }

    @Test func `an access token is valid only with the key that signed it`() throws {
        let key = try newKey()
        let token = AccessToken(customer: 7, realm: Realm(.production), expiresAt: Calculator.now)
        #expect(key.token(in: key.text(of: token).utf8) == token)
        let other = try newKey()
        #expect(other.token(in: key.text(of: token).utf8) == nil)
    }

    /// Returns the status with which a service on this folder answers a token.
    private func status(
        of token: String, in folder: String, _ change: (inout ServiceConfiguration) throws -> Void = { _ in }
    ) async throws -> HTTPResponse.Status {
        try await withService(in: folder, change) { try await $0.get("/v1/customer", token: token).status }
    }

    private func newKey() throws -> AccessTokenKey {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tenure-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try AccessTokenKey(folder: folder.path, databaseID: [1])
    }

    @Test func `decoding an access token rejects missing bytes, extra bytes and another version`() {
        for persona: Int64? in [nil, 7] {
            for environment in AppStoreEnvironment.allCases {
                let token = AccessToken(
                    customer: 1_234_567_890_123, realm: Realm(environment, isTest: true),
                    expiresAt: Date(timeIntervalSince1970: 1_800_000_000.9), persona: persona)
                // An end isn't later than the one that the token was made with.
                #expect(token.expiresAt == Date(timeIntervalSince1970: 1_800_000_000))
                let bytes = token.body + [UInt8](repeating: 0, count: 32)
                #expect(AccessToken(bytes) == token)
                #expect(AccessToken(Array(bytes.dropLast())) == nil)
                #expect(AccessToken(bytes + [0]) == nil)
                // The version says whether there is a persona, so it can't be exchanged.
                #expect(AccessToken([3 - bytes[0]] + bytes.dropFirst()) == nil)
            }
        }
    }
}
