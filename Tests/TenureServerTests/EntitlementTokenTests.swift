import Crypto
import Foundation
import Hummingbird
import HummingbirdTesting
import StoreContract
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `entitlement tokens` {
    @Test func `an entitlement token contains the entitlements and the device, and is signed by the service's key`()
        async throws
    {
        try await withService { client in
            let answer = try await client.sync(
                SyncRequest(
                    appTransaction: try Calculator.minter().text(.appTransaction), transactions: [],
                    deviceVerificationID: Calculator.device.uuidString))
            let jws = try OpenedJWS(try #require(answer.entitlementToken))
            let keys = try await client.get("/.well-known/jwks.json")
            try jws.verify(under: Data(buffer: keys.body))
            #expect(jws.header["typ"] as? String == "tenure-entitlement+jwt")
            #expect(jws.claims["iss"] as? String == "tenure")
            #expect(jws.claims["sub"] as? String == answer.id)
            #expect(jws.claims["bundleID"] as? String == "com.example.calculator")
            #expect(jws.claims["environment"] as? String == "Production")
            #expect(jws.claims["test"] as? Bool == true)
            #expect(jws.claims["appTransactionID"] as? String == "704000000000000001")
            #expect(jws.claims["device"] as? String == Calculator.device.hashed)
            #expect(jws.claims["iat"] as? Int == 1_795_176_000)
            #expect(jws.claims["exp"] as? Int == 1_795_176_000 + 365 * 86_400)
            #expect(
                jws.claims.keys.sorted() == [
                    "appTransactionID", "bundleID", "device", "entitlements", "environment", "exp", "iat", "iss",
                    "nonce", "sub", "test",
                ])
            let everything = (jws.claims["entitlements"] as? [String: [String: Int]])?["everything"]
            #expect(everything?["refreshAfter"] == 1_795_176_000 + 14 * 86_400)
            #expect(everything?["until"] == nil)
            #expect(!String(decoding: jws.payload, as: UTF8.self).contains(Calculator.device.uuidString.lowercased()))
        }
    }

    @Test(arguments: [false, true])
    func `only the entitlement tokens of test customers have the claim that the customer is a test`(isTest: Bool) throws
    {
        let customer = Customer(
            id: 1, realm: Realm(.production, isTest: isTest), publicID: "cus_1", createdAt: Calculator.now,
            facts: CustomerFacts())
        let token = EntitlementToken(
            bundleID: "com.example.calculator", customer: customer, appTransactionID: nil, device: "x", decisions: [],
            lifetimes: .init(), now: Calculator.now)
        let claims = try JSONSerialization.jsonObject(with: Data(token.claims)) as? [String: Any]
        #expect(claims?["test"] as? Bool == (isTest ? true : nil))
    }

    @Test func `a subscription in an entitlement token ends with its period`() async throws {
        try await withService { client in
            let id = "704000000000000002"
            let end = Calculator.now.addingTimeInterval(86_400 * 30)
            let answer = try await client.sync(
                SyncRequest(
                    appTransaction: try Calculator.minter().newcomer(id),
                    transactions: [
                        try Calculator.minter().transaction(
                            "20", of: id,
                            [
                                "productId": .string(Calculator.yearly),
                                "type": .string("Auto-Renewable Subscription"), "expiresDate": .instant(end),
                            ])
                    ],
                    deviceVerificationID: Calculator.device.uuidString))
            let jws = try OpenedJWS(try #require(answer.entitlementToken))
            let everything = (jws.claims["entitlements"] as? [String: [String: Int]])?["everything"]
            #expect(everything == ["until": Int(end.timeIntervalSince1970)])
        }
    }

    @Test func `an entitlement token says when a support grant ends, and when to refresh`() async throws {
        try await withFolder { folder in
            let service = try await TenureService(try Calculator.configuration(folder))
            let application = try service.application(logger: Calculator.logger) { _ in }
            try await application.test(.router) { http in
                let client = Client(http: http)
                let request = SyncRequest(
                    appTransaction: try Calculator.minter().newcomer(), transactions: [],
                    deviceVerificationID: Calculator.device.uuidString, nonce: "n")
                _ = try await client.sync(request)
                let end = Calculator.now.addingTimeInterval(86_400 * 30)
                _ = try await service.store.record(
                    SupportGrant(.grant, of: "everything", date: Calculator.now.addingTimeInterval(-1), until: end),
                    for: 1)
                let jws = try OpenedJWS(try #require(try await client.sync(request).entitlementToken))
                let everything = (jws.claims["entitlements"] as? [String: [String: Int]])?["everything"]
                let expected = [
                    "until": Int(end.timeIntervalSince1970), "refreshAfter": 1_795_176_000 + 14 * 86_400,
                ]
                #expect(everything == expected)
            }
            try? await service.store.close()
        }
    }

    @Test func `an entitlement token contains no denied entitlement, and an unbound customer gets no token`()
        async throws
    {
        try await withService { client in
            let newcomer = try await client.sync(
                SyncRequest(
                    appTransaction: try Calculator.minter().newcomer(), transactions: [],
                    deviceVerificationID: Calculator.device.uuidString))
            let jws = try OpenedJWS(try #require(newcomer.entitlementToken))
            #expect((jws.claims["entitlements"] as? [String: Any])?.isEmpty == true)

            let found = try Calculator.minter().text(.appTransaction)
            for device in [nil, UUID().uuidString] {
                let answer = try await client.sync(
                    SyncRequest(appTransaction: found, deviceVerificationID: device), from: nil)
                #expect(answer.entitlementToken == nil)
                #expect(answer.accessToken?.expiresAt == Calculator.now.addingTimeInterval(600))
            }
            let bound = try await client.sync(
                SyncRequest(appTransaction: found, deviceVerificationID: Calculator.device.uuidString.lowercased()))
            #expect(bound.entitlementToken != nil)
            #expect(bound.accessToken?.expiresAt == Calculator.now.addingTimeInterval(3600))
        }
    }

    @Test func `entitlement tokens contain the sync's nonce, and an invalid nonce is refused`() async throws {
        try await withService { client in
            let answer = try await client.sync(try Self.owner(nonce: "5c1b7c0e \"ü\""))
            let jws = try OpenedJWS(try #require(answer.entitlementToken))
            #expect(jws.claims["nonce"] as? String == "5c1b7c0e \"ü\"")
            let refused = try await client.post(
                #"{"transactions": [], "nonce": "\#(String(repeating: "n", count: 65))"}"#)
            #expect(refused.status == .badRequest)
            #expect(String(buffer: refused.body).contains("`nonce` has 65 bytes; send at most 64"))
        }
    }

    @Test func `an entitlement token without a nonce, and every right in it, ends after an hour`() async throws {
        try await withService { client in
            let id = "704000000000000001"
            let season = try Calculator.minter().transaction(
                "20", of: id,
                [
                    "productId": .string(Calculator.yearly), "type": .string("Auto-Renewable Subscription"),
                    "expiresDate": .instant(Calculator.now.addingTimeInterval(86_400 * 30)),
                ])
            var request = try Self.owner(nonce: nil)
            request.transactions = [season]
            let response = try await client.send(request)
            let answer = try JSONDecoder().decode(CustomerResponse.self, from: Data(buffer: response.body))
            let jws = try OpenedJWS(try #require(answer.entitlementToken))
            #expect(jws.claims["nonce"] == nil)
            let end = 1_795_176_000 + 3600
            #expect(jws.claims["exp"] as? Int == end)
            let rights = try #require(jws.claims["entitlements"] as? [String: [String: Int]])
            #expect(!rights.isEmpty && rights.values.allSatisfy { $0 == ["until": end] }, "\(rights)")
            // The decisions in the response apply now, so they have no end.
            #expect(answer.entitlements["everything"]?.outcome == .granted)
            #expect(answer.entitlements["everything"]?.until == nil)
        }
    }

    @Test(arguments: [(86_400 * 30, 3600), (1800, 1800)])
    func `a subscription in an entitlement token without a nonce ends with the token, or earlier with its period`(
        period: Int, seconds: Int
    ) async throws {
        try await withService { client in
            let id = "704000000000000002"
            let end = Calculator.now.addingTimeInterval(TimeInterval(period))
            let request = SyncRequest(
                appTransaction: try Calculator.minter().newcomer(id),
                transactions: [
                    try Calculator.minter().transaction(
                        "20", of: id,
                        [
                            "productId": .string(Calculator.yearly), "type": .string("Auto-Renewable Subscription"),
                            "expiresDate": .instant(end),
                        ])
                ],
                deviceVerificationID: Calculator.device.uuidString)
            let response = try await client.send(request)
            let answer = try JSONDecoder().decode(CustomerResponse.self, from: Data(buffer: response.body))
            #expect(answer.entitlements["everything"]?.until == end)
            let jws = try OpenedJWS(try #require(answer.entitlementToken))
            #expect(jws.claims["exp"] as? Int == 1_795_176_000 + 3600)
            let everything = (jws.claims["entitlements"] as? [String: [String: Int]])?["everything"]
            #expect(everything == ["until": 1_795_176_000 + seconds])
        }
    }

    private static func owner(nonce: String?) throws -> SyncRequest {
        SyncRequest(
            appTransaction: try Calculator.minter().text(.appTransaction), transactions: [],
            deviceVerificationID: Calculator.device.uuidString, nonce: nonce)
    }

    @Test func `an entitlement token of the sandbox contains its environment`() async throws {
        try await withService { client in
            let answer = try await client.sync(
                SyncRequest(
                    appTransaction: try Calculator.minter(.sandbox).text(.appTransaction), transactions: [],
                    deviceVerificationID: Calculator.device.uuidString))
            let jws = try OpenedJWS(try #require(answer.entitlementToken))
            #expect(jws.claims["environment"] as? String == "Sandbox")
        }
    }
}

/// A compact JWS, taken apart and checked by hand.
struct OpenedJWS {
    let header: [String: Any]
    let claims: [String: Any]
    let payload: Data
    private let signed: String
    private let signature: Data

    init(_ text: String) throws {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        try #require(parts.count == 3)
        payload = try #require(Self.decode(parts[1]))
        let headerBytes = try #require(Self.decode(parts[0]))
        let readHeader = try JSONSerialization.jsonObject(with: headerBytes) as? [String: Any]
        header = try #require(readHeader)
        let readClaims = try JSONSerialization.jsonObject(with: payload) as? [String: Any]
        claims = try #require(readClaims)
        signed = parts[0] + "." + parts[1]
        signature = try #require(Self.decode(parts[2]))
    }

    /// Verifies the token with the key in a JWK set that has the header's key ID. The key's ID must be its thumbprint.
    func verify(under set: Data) throws {
        let read = try JSONSerialization.jsonObject(with: set) as? [String: [[String: String]]]
        let keys = try #require(read?["keys"])
        let id = header["kid"] as? String
        let key = try #require(keys.first { $0["kid"] == id })
        #expect(header["alg"] as? String == "ES256")
        let x = try #require(Self.decode(key["x"] ?? ""))
        let y = try #require(Self.decode(key["y"] ?? ""))
        let publicKey = try P256.Signing.PublicKey(rawRepresentation: x + y)
        let ecdsa = try P256.Signing.ECDSASignature(rawRepresentation: signature)
        #expect(publicKey.isValidSignature(ecdsa, for: Data(signed.utf8)))
        let canonical = #"{"crv":"P-256","kty":"EC","x":"\#(key["x"] ?? "")","y":"\#(key["y"] ?? "")"}"#
        #expect(Base64.urlSafe.text(SHA256.hash(data: Data(canonical.utf8))) == key["kid"])
    }

    private static func decode(_ text: String) -> Data? {
        let standard = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        return Data(base64Encoded: standard + String(repeating: "=", count: (4 - standard.count % 4) % 4))
    }
}
