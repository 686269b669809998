import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import TenureAPI
import TenureCore
import TenurePolicyFile
import TenureStore
import Testing

@testable import TenureServer

extension Policy {
    /// The policy's text, as the admin interface accepts it.
    var text: String { String(decoding: PolicyFile.compile(self), as: UTF8.self) }

    /// A policy that grants everything to every customer who has the app.
    static func generous() throws -> Policy {
        try Calculator.policy(honors: [Honor(era: "paid"), Honor(era: "freemium")])
    }

    /// A policy that grants nothing for acquiring the app.
    static func harsh(
        inDoubt: InDoubt = .favorCustomer, acknowledging acknowledgments: [Acknowledgment] = []
    ) throws -> Policy {
        try Calculator.policy(honors: nil, inDoubt: inDoubt, acknowledgments: [takesFromOwners] + acknowledgments)
    }

    /// Without this acknowledgment, the linter's error would refuse the publication.
    static let takesFromOwners = Acknowledgment(
        code: "paid-era-unhonored", at: "eras/paid", reason: "the tests take something away")
}

extension AdminClient {
    static let policies = "/v1/admin/policies"

    func rehearse(_ policy: Policy) async throws -> Answer {
        try await post(Self.policies + "/rehearsals", ["policy": policy.text])
    }

    /// The lost rights that the linter finds in a policy, as the developer acknowledges them.
    func lostRights(in policy: Policy) async throws -> [Acknowledgment] {
        let findings = try await rehearse(policy).json["findings"] as? [[String: Any]] ?? []
        return findings.compactMap { finding in
            guard let code = finding["code"] as? String, code.hasPrefix("right-"), let at = finding["at"] as? String
            else { return nil }
            return Acknowledgment(code: code, at: at, reason: "the tests take something away")
        }
    }

    func publish(_ policy: Policy, _ more: [String: Any?] = [:]) async throws -> Answer {
        let body: [String: Any?] = ["policy": policy.text, "reason": "because"]
        return try await post(Self.policies, body.merging(more) { $1 })
    }

    func rollBack(_ more: [String: Any?] = [:]) async throws -> Answer {
        try await post(Self.policies + "/rollback", (["reason": "after all"] as [String: Any?]).merging(more) { $1 })
    }

    /// Returns the outcome on `everything`, and the code of the deciding reason.
    func outcome(of customer: CustomerResponse) async throws -> [String?] {
        let read = try await client.customer(try customer.token).everything
        return [read.outcome, read.codes.first]
    }

    func lastAudit() async throws -> [String: Any] {
        try #require(try await get("/v1/admin/audit?limit=1").entries.first)
    }
}

extension AdminClient.Answer {
    func number(_ name: String) -> Int? { json[name] as? Int }

    var rehearsal: String? { (json["id"] ?? json["rehearsal"]) as? String }

    /// The reason of a refusal.
    var reason: String? { problem?.reason }
}
