import Crypto
import Foundation
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import NIOSSL
import SwiftASN1
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import TenureStore
import X509

@testable import TenureServer

/// A service with webhooks. It sends messages only when a test calls `work()`.
struct WebhookTestBed: Sendable {
    let service: TenureService
    let entitlementChanges: EntitlementChangeService
    let workers: [EndpointWorker]
    let clock: TestClock

    static let secret = "a secret of the tests"

    /// Compares all customers, and delivers every message that is due.
    func work() async throws {
        while try await entitlementChanges.pass() {}
        for worker in workers { while await worker.pass() > 0 {} }
    }

    /// Returns all messages, the oldest first.
    func outbox() async throws -> [(message: StoredMessage, deliveries: [StoredDelivery])] {
        try await service.store.read { try $0.messages(.since(.distantPast), limit: 1000) }.reversed()
    }

    func types() async throws -> [String] { try await outbox().map(\.message.type) }
}

extension Webhook {
    static func local(
        _ port: Int, name: String = "app", events: [String] = [], eachCustomer: Bool = true
    ) -> Webhook {
        Webhook(
            name: name, url: "http://127.0.0.1:\(port)/hooks?from=tenure", secrets: [WebhookTestBed.secret],
            events: events,
            eachCustomer: eachCustomer, allowsPrivate: true)
    }
}

func withWebhooks<Result: Sendable>(
    in folder: String? = nil, _ webhooks: [Webhook], policy: Policy? = nil, clock: TestClock = TestClock(),
    logger: Logger = Calculator.logger, _ change: (inout ServiceConfiguration) throws -> Void = { _ in },
    _ body: @escaping @Sendable (Client, WebhookTestBed) async throws -> Result
) async throws -> Result {
    guard let folder else {
        return try await withFolder {
            try await withWebhooks(in: $0, webhooks, policy: policy, clock: clock, logger: logger, change, body)
        }
    }
    var configuration = try Calculator.configuration(folder, policy: policy)
    configuration.webhooks = webhooks
    configuration.now = { clock.now }
    try change(&configuration)
    let service = try await started(configuration)
    let parts = try configuration.webhookServices(
        service.entitlementComparer, store: service.store, metrics: service.metrics, logger: logger)
    guard let parts else { throw ServiceError.failed("no webhooks") }
    let hooks = WebhookTestBed(
        service: service, entitlementChanges: parts.entitlementChanges, workers: parts.deliveries.workers, clock: clock)
    let application = Application(responder: try service.router().buildResponder(), logger: Calculator.logger)
    let result = try await application.test(.router) { try await body(Client(http: $0), hooks) }
    try? await service.store.close()
    return result
}

/// A self-signed certificate for one host.
struct HostCertificate {
    let context: NIOSSLContext
    let roots: NIOSSLTrustRoots

    init(for host: String) throws {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName("test") }
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(key.publicKey),
            notValidBefore: Date().addingTimeInterval(-3600), notValidAfter: Date().addingTimeInterval(86_400),
            issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                SubjectAlternativeNames([.dnsName(host)])
            }, issuerPrivateKey: .init(key))
        let pem = try NIOSSLCertificate(bytes: Array(certificate.serializeAsPEM().pemString.utf8), format: .pem)
        let secret = try NIOSSLPrivateKey(bytes: Array(key.pemRepresentation.utf8), format: .pem)
        context = try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: [.certificate(pem)], privateKey: .privateKey(secret)))
        roots = .certificates([pem])
    }
}

extension Calculator {
    /// Returns the sync of a customer who owns the app.
    static func owner(_ id: String) throws -> SyncRequest {
        SyncRequest(
            appTransaction: try minter().text(.appTransaction, ["appTransactionId": .string(id)]), transactions: [])
    }
}
