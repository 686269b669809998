import Foundation
import Hummingbird
import HummingbirdTesting
import NIOCore
import StoreContract
import TenureCore
import TenureStore
import Testing

@testable import TenureServer

/// A running service with access to its store.
struct ServiceTestBed: Sendable {
    let client: Client
    let service: TenureService

    /// Returns the customer with this purchase.
    func customer(
        _ original: String, in environment: AppStoreEnvironment = .production
    ) async throws -> Customer? {
        try await service.store.customer(
            by: Identity(.originalTransactionID, original), in: Realm(environment, isTest: true))
    }

    func outcome(_ entitlement: String, of customer: Customer, after seconds: TimeInterval = 0) throws
        -> Decision.Outcome?
    {
        try service.policies.decide(
            customer.facts, customer.evidence, at: Calculator.now.addingTimeInterval(seconds)
        ).first { $0.entitlement == entitlement }?.outcome
    }
}

extension Client {
    func notify(_ jws: String) async throws -> TestResponse {
        try await notify(body: #"{"signedPayload":"\#(jws)"}"#)
    }

    func notify(body: String, type: String = "application/json") async throws -> TestResponse {
        try await http.execute(
            uri: "/v1/notifications/apple", method: .post, headers: [.contentType: type],
            body: ByteBuffer(string: body)
        ) { $0 }
    }
}

func withServiceTestBed(
    in folder: String? = nil, policy: Policy? = nil, _ change: (inout ServiceConfiguration) throws -> Void = { _ in },
    _ body: @escaping @Sendable (ServiceTestBed) async throws -> Void
) async throws {
    guard let folder else {
        return try await withFolder { try await withServiceTestBed(in: $0, policy: policy, change, body) }
    }
    var configuration = try Calculator.configuration(folder, policy: policy)
    try change(&configuration)
    let service = try await started(configuration)
    let application = try service.application(logger: Calculator.logger) { _ in }
    try await application.test(.router) { try await body(ServiceTestBed(client: Client(http: $0), service: service)) }
    try? await service.store.close()
}

/// Runs several services, each with its own database.
func withServiceTestBeds(
    _ count: Int, policy: Policy, _ body: @escaping @Sendable ([ServiceTestBed]) async throws -> Void
) async throws {
    try await withServiceTestBeds(count, and: [], policy: policy, body)
}

private func withServiceTestBeds(
    _ count: Int, and testBeds: [ServiceTestBed], policy: Policy,
    _ body: @escaping @Sendable ([ServiceTestBed]) async throws -> Void
) async throws {
    guard count > 0 else { return try await body(testBeds) }
    try await withServiceTestBed(policy: policy) {
        try await withServiceTestBeds(count - 1, and: testBeds + [$0], policy: policy, body)
    }
}
