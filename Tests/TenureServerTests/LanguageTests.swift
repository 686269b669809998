import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

@testable import TenureServer

@Suite struct `the reader's language` {
    private static func policy() throws -> Policy {
        let policy = try Calculator.policy()
        return try Policy(
            app: policy.app, eras: policy.eras, buildNumbers: policy.buildNumbers,
            entitlements: [
                Entitlement(
                    name: "everything", title: ["en": "Everything", "de": "Alles"],
                    products: policy.entitlements[0].products, honors: policy.entitlements[0].honors)
            ])
    }

    private static func sentence(_ response: TestResponse) throws -> String {
        #expect(response.status == .ok)
        let answer = try JSONDecoder().decode(CustomerResponse.self, from: Data(buffer: response.body))
        return try #require(answer.entitlements["everything"]?.sentence)
    }

    @Test func `Accept-Language selects the language of titles in sentences for a customer and for support`()
        async throws
    {
        try await withService(policy: try Self.policy(), { $0.adminKey = AdminClient.adminKey }) { client in
            var request = SyncRequest(appTransaction: try Calculator.minter().text(.appTransaction), transactions: [])
            request.deviceVerificationID = Calculator.device.uuidString
            let body = String(decoding: try JSONEncoder().encode(request), as: UTF8.self)
            let json: HTTPFields = [.contentType: "application/json"]
            #expect(try Self.sentence(try await client.post(body)).hasPrefix("“Everything” is yours permanently"))
            var german = json
            german[.acceptLanguage] = "fr;q=0.9, de-AT, en;q=0.1"
            let answer = try await client.post(body, headers: german)
            #expect(try Self.sentence(answer).hasPrefix("“Alles” is yours permanently"))
            let token = try #require(
                try JSONDecoder().decode(CustomerResponse.self, from: Data(buffer: answer.body)).accessToken?.value)
            german[.authorization] = "Bearer \(token)"
            let again = try await client.http.execute(
                uri: "/v1/customer", method: .get, headers: german
            ) { $0 }
            #expect(try Self.sentence(again).hasPrefix("“Alles” is yours permanently"))
            let id = try JSONDecoder().decode(CustomerResponse.self, from: Data(buffer: answer.body)).id
            german[.authorization] = "Bearer \(AdminClient.adminKey)"
            let seen = try await client.http.execute(
                uri: "/v1/admin/customers/\(id)", method: .get, headers: german
            ) { $0 }
            let shown = try JSONSerialization.jsonObject(with: Data(buffer: seen.body)) as? [String: Any]
            let entitlements = (shown?["customer"] as? [String: Any])?["entitlements"] as? [String: [String: Any]]
            let sentence = entitlements?["everything"]?["sentence"] as? String
            #expect(sentence?.hasPrefix("“Alles” is yours permanently") == true, "\(shown ?? [:])")
        }
    }

    @Test(arguments: [
        ("de", ["de"]), ("de-AT, en;q=0.8", ["de-AT", "en"]), ("en;q=0.2,de;q=0.9 , fr", ["fr", "de", "en"]),
        ("*", []), ("", []), ("de;q=0, en", ["en"]), ("de;q=x, en; q=0.5", ["en"]), ("de;q=2", []),
        (",,;q=1,", []), ("en;q=0.5, de;q=0.5", ["en", "de"]),
        ("en;Q=0.5, de", ["de", "en"]), ("f_r, en;x=1", ["en"]),
    ])
    func `languages in Accept-Language are sorted by their weights`(_ header: String, _ languages: [String]) {
        #expect(AcceptLanguage.languages(in: header) == languages)
    }

    @Test func `at most 16 languages are read from a very long Accept-Language header`() {
        let header = String(repeating: "de,", count: 100_000)
        #expect(AcceptLanguage.languages(in: header).count == 16)
    }
}

@Suite struct `promises in sentences` {
    @Test func `with inDoubt favorCustomer, the first sync's sentence already says that the right is permanent`()
        async throws
    {
        try await withService { client in
            let sync = SyncRequest(
                appTransaction: try Calculator.minter().text(
                    .appTransaction,
                    [
                        "originalApplicationVersion": .string("120"),
                        // two hours after the app became free
                        "originalPurchaseDate": .instant(Date(timeIntervalSince1970: 1_433_966_400)),
                    ]), transactions: [])
            let first = try await client.sync(sync)
            let everything = try #require(first.entitlements["everything"])
            #expect(everything.reasons.first?.code == "inDoubt")
            #expect(everything.sentence.hasPrefix("“everything” is yours permanently: "))
            let token = try #require(first.accessToken?.value)
            #expect(try await client.customer(token).entitlements["everything"]?.sentence == everything.sentence)
        }
    }
}
