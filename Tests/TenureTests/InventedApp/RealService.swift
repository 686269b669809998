import Foundation
import HummingbirdTesting
import Logging
import TenureAppStore
import TenureCore
import TenureHTTP
import TenureJSON
import TenureMint
import TenureStore

@testable import Tenure
@testable import TenureServer

/// The real service, with its own socket.
struct RealService: Sendable {
    let url: URL
    let key: Tenure.ServiceKey
    let line: ControlledTransport
    /// The status code of the response to each notification.
    let notified = Locked<[Int]>([])

    static let authority: TestAuthority = {
        do {
            return try TestAuthority()
        } catch {
            fatalError("the test authority can't be created: \(error)")
        }
    }()

    static func run<Result: Sendable>(
        policy: Policy = InventedApp.policy(), authority: TestAuthority = authority,
        now: @escaping @Sendable () -> Date = { InventedApp.now },
        _ change: (inout ServiceConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (RealService) async throws -> Result
    ) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tenure-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = ServiceConfiguration(databasePath: folder.path + "/tenure.sqlite", policy: policy)
        configuration.anchors = [.production: try authority.anchors, .sandbox: try authority.anchors]
        configuration.port = 0
        configuration.now = now
        configuration.signingKeyStaleness = .zero
        change(&configuration)
        let service = try await TenureService(configuration)
        var logger = Logger(label: "tests")
        logger.logLevel = .critical
        let application = try service.application(logger: logger) { _ in }
        let result = try await application.test(.live) { client in
            guard let port = client.port, let url = URL(string: "http://127.0.0.1:\(port)") else { throw NoPort() }
            let keys = try await URLSessionTransport.shared.send(
                TransportRequest(url.appendingPathComponent(".well-known/jwks.json"), timeout: 60, bodyLimit: 65_536))
            let key = try Tenure.ServiceKey(String(decoding: keys.body, as: UTF8.self))
            return try await body(RealService(url: url, key: key, line: ControlledTransport()))
        }
        try? await service.store.close()
        return result
    }

    struct NoPort: Error {}

    /// Configures a client to use this service through `line`.
    func connect(_ setup: inout Setup, app: String? = nil) {
        let line = line
        setup.service = ServiceConnection(url: url, app: app, timeout: 60, transport: line)
        setup.keys = [key]
    }
}

/// Sends a client's requests to a service. A test can count the requests, cut the connection, or change responses.
final class ControlledTransport: Transport {
    /// What happens to requests and responses.
    enum Condition: Sendable {
        case up, down
        /// Answers requests for a path with 503, and lets all others through.
        case rejecting(String)
        /// Changes every response.
        case replaced(@Sendable (inout TransportResponse) -> Void)
    }

    private struct State: Sendable {
        var condition = Condition.up
        var paths: [String] = []
        var answers: [Data] = []
    }

    private let state = Locked(State())

    var condition: Condition {
        get { state.withLock { $0.condition } }
        set { state.withLock { $0.condition = newValue } }
    }
    var paths: [String] { state.withLock { $0.paths } }
    var syncs: Int { paths.filter { $0.hasSuffix("/v1/sync") }.count }
    /// The response bodies, in order.
    var answers: [Data] { state.withLock { $0.answers } }

    func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
        let condition = state.withLock { state in
            state.paths.append(request.url.path)
            return state.condition
        }
        if case .rejecting(let path) = condition, request.url.path == path {
            return TransportResponse(status: 503, headers: [:], body: Data())
        }
        if case .down = condition { throw .connection(URLError(.notConnectedToInternet)) }
        var response = try await URLSessionTransport.shared.send(request)
        let body = response.body
        state.withLock { $0.answers.append(body) }
        if case .replaced(let change) = condition { change(&response) }
        return response
    }
}

/// Changes or records requests before they are sent.
struct EditingTransport: Transport {
    let next: any Transport
    let edit: @Sendable (inout TransportRequest) -> Void

    func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
        var request = request
        edit(&request)
        return try await next.send(request)
    }
}

extension InventedApp {
    /// An app transaction that the test authority signed, for this device.
    static func signed(
        _ app: AppStoreAppTransaction, device: UUID = device, at instant: Date = now.addingTimeInterval(-60)
    ) throws -> AppStoreAppTransaction {
        let minter = JWSMinter(
            authority: RealService.authority,
            app: MintedApp(environment: app.environment, deviceVerificationID: device), signedAt: instant)
        var fields: [String: JSONValue] = [
            "originalApplicationVersion": .string(app.proof.originalAppVersion ?? ""),
            "originalPurchaseDate": .instant(app.proof.originalPurchaseDate ?? .distantPast),
            "originalPlatform": .string("iOS"),
        ]
        if case .appTransaction(let id)? = app.proof.id { fields["appTransactionId"] = .string(id) }
        if let revoked = app.proof.revocationDate { fields["revocationDate"] = .instant(revoked) }
        return AppStoreAppTransaction(
            jws: String(decoding: try minter.mint(.appTransaction, setting: fields), as: UTF8.self),
            bundleID: bundleID, environment: app.environment, proof: app.proof)
    }

    static func signed(
        _ transaction: AppStoreTransaction, of account: String, device: UUID = device,
        at instant: Date = now.addingTimeInterval(-60)
    ) throws -> AppStoreTransaction {
        let minter = JWSMinter(
            authority: RealService.authority,
            app: MintedApp(environment: transaction.environment, deviceVerificationID: device), signedAt: instant)
        let purchase = transaction.purchase
        var fields: [String: JSONValue] = [
            "transactionId": .string(purchase.transactionID),
            "originalTransactionId": .string(purchase.originalTransactionID),
            "productId": .string(purchase.productID), "appTransactionId": .string(account),
            "type": .string(purchase.type == .autoRenewable ? "Auto-Renewable Subscription" : "Non-Consumable"),
            "purchaseDate": .instant(purchase.purchaseDate ?? instant), "expiresDate": .null,
        ]
        if let expires = purchase.expiresDate { fields["expiresDate"] = .instant(expires) }
        if let revoked = purchase.revocationDate { fields["revocationDate"] = .instant(revoked) }
        return AppStoreTransaction(
            jws: String(decoding: try minter.mint(.transaction, setting: fields), as: UTF8.self),
            environment: transaction.environment, appTransactionID: account, purchase: purchase)
    }
}
