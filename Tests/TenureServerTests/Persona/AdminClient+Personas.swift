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

extension AdminClient {
    /// Makes a persona and returns its token.
    func persona(
        _ name: String = "early-buyer",
        _ settings: [String: String] = [
            "originalPlatform": "iOS", "originalAppVersion": "37", "originalPurchaseDate": "2014-05-01",
        ], more: [String: Any?] = [:]
    ) async throws -> String {
        let answer = try await post(
            "/v1/admin/personas", (["name": name, "set": settings] as [String: Any?]).merging(more) { $1 })
        #expect(answer.status == .ok, "\(answer.text)")
        return try #require(answer.personas.first?["token"] as? String)
    }

    /// Sends a sync as a build under test does.
    func sandboxed(
        as persona: String?, _ environment: AppStoreEnvironment = .sandbox, transactions: [String]? = []
    ) async throws -> CustomerResponse {
        try await client.sync(
            SyncRequest(
                appTransaction: try Calculator.minter(environment).text(.appTransaction), transactions: transactions,
                persona: persona))
    }
}

extension AdminClient.Answer {
    var personas: [[String: Any]] { json["personas"] as? [[String: Any]] ?? [] }
}

extension CustomerResponse {
    /// The outcome on the calculator's only entitlement, and the codes of its reasons.
    var everything: (outcome: String?, codes: [String]) {
        let entitlement = entitlements["everything"]
        return (entitlement?.outcome.rawValue, entitlement?.reasons.map(\.code) ?? [])
    }
}
