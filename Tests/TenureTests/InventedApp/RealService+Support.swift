import Foundation
import TenureAPI
import TenureHTTP
import TenureServer
import Testing

@testable import Tenure

extension RealService {
    /// The key with which tests call the admin interface. A test sets it as the `adminKey` of its service.
    static let supportKey = KeySecret().text

    /// The last response of the service to a sync.
    var lastAnswer: CustomerResponse? {
        line.answers.compactMap { try? JSONDecoder().decode(CustomerResponse.self, from: $0) }.last
    }

    /// Revokes an entitlement of the customer in the service's last response, as support does.
    func revoke(_ entitlement: String) async throws { try await change(entitlement, by: "revocations") }

    /// Grants an entitlement to the customer in the service's last response, as support does.
    func grant(_ entitlement: String) async throws { try await change(entitlement, by: "grants") }

    private func change(_ entitlement: String, by route: String) async throws {
        let customer = try #require(lastAnswer)
        var request = TransportRequest(
            url.appendingPathComponent("v1/admin/customers/\(customer.id)/\(route)"), timeout: 60,
            bodyLimit: 65_536)
        request.headers["Authorization"] = "Bearer \(Self.supportKey)"
        request.post(json: try JSONEncoder().encode(["entitlement": entitlement, "reason": "a mistake"]))
        let response = try await URLSessionTransport.shared.send(request)
        try #require(response.status == 200, "\(String(decoding: response.body, as: UTF8.self))")
    }
}
