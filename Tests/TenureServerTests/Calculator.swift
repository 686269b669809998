import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import StoreContract
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import TenurePolicyFile
import TenureStore
import Testing

@testable import TenureServer

/// The invented app, its test authority and its customers.
enum Calculator {
    static let authority: TestAuthority = {
        do {
            return try TestAuthority()
        } catch {
            fatalError("no test authority can be made: \(error)")
        }
    }()

    /// 2026-11-20T12:00:00Z
    static let now = Date(timeIntervalSince1970: 1_795_176_000)
    static let device = MintedApp.device
    static let everything = "com.example.calculator.everything"
    static let yearly = "com.example.calculator.yearly"

    static func policy(
        honors: [Honor]? = [Honor(era: "paid")], inDoubt: Policy.InDoubt = .favorCustomer,
        testEnvironments: Policy.TestEnvironments = .newCustomer, appleID: Int64? = 828_838_134,
        acknowledgments: [Acknowledgment] = []
    ) throws -> Policy {
        try Policy(
            app: Policy.App(bundleID: "com.example.calculator", appleID: appleID),
            eras: [
                Era(name: "paid", model: .paid),
                Era(
                    name: "freemium", model: .free,
                    begins: [
                        .iOS: .at(version: AppVersion("120"), date: Date(timeIntervalSince1970: 1_433_959_200)),
                        .macOS: .at(version: AppVersion("2.0"), date: Date(timeIntervalSince1970: 1_434_132_000)),
                    ],
                    changeover: .window(from: -24 * 3600, until: 48 * 3600)),
            ],
            buildNumbers: .increasing,
            entitlements: [
                Entitlement(name: "everything", products: [.init(id: everything), .init(id: yearly)], honors: honors)
            ],
            inDoubt: inDoubt, testEnvironments: testEnvironments, acknowledgments: acknowledgments)
    }

    static func configuration(
        _ folder: String, policy: Policy? = nil, port: Int = 0
    ) throws -> ServiceConfiguration {
        var configuration = ServiceConfiguration(
            databasePath: folder + "/tenure.sqlite", policy: try policy ?? self.policy())
        configuration.anchors = [
            .production: try authority.anchors, .sandbox: try authority.anchors, .xcode: try authority.xcodeAnchors,
        ]
        configuration.port = port
        // Tests that run in parallel are slow clients themselves, so the timeouts are long.
        configuration.timeouts.head = 300
        configuration.timeouts.body = 60
        configuration.now = { now }
        configuration.signingKeyStaleness = .zero
        return configuration
    }

    static let logger: Logger = {
        var logger = Logger(label: "tests")
        logger.logLevel = .critical
        return logger
    }()

    static func minter(
        _ environment: AppStoreEnvironment = .production, device: UUID = device,
        bundleID: String = "com.example.calculator",
        signed: Date = now.addingTimeInterval(-60)
    ) -> JWSMinter {
        JWSMinter(
            authority: authority,
            app: MintedApp(bundleID: bundleID, environment: environment, deviceVerificationID: device),
            signedAt: signed)
    }

    static func receipts(
        _ environment: AppStoreEnvironment = .production, signed: Date = now.addingTimeInterval(-60)
    ) -> ReceiptMinter {
        ReceiptMinter(authority: authority, app: MintedApp(environment: environment), signedAt: signed)
    }
}

extension JWSMinter {
    func text(_ kind: JWSKind, _ fields: [String: JSONValue] = [:]) throws -> String {
        String(decoding: try mint(kind, setting: fields), as: UTF8.self)
    }

    /// Returns an app transaction of a customer who got the app long after it became free.
    func newcomer(_ id: String = "704000000000000002") throws -> String {
        try text(
            .appTransaction,
            [
                "originalApplicationVersion": .string("300"), "appTransactionId": .string(id),
                "originalPurchaseDate": .instant(Date(timeIntervalSince1970: 1_600_000_000)),
            ])
    }

    /// Returns a transaction without any field that connects it to a customer or a device.
    func looseTransaction(_ id: String, _ fields: [String: JSONValue] = [:]) throws -> String {
        let loose: [String: JSONValue] = [
            "transactionId": .string(id), "originalTransactionId": .string(id), "appTransactionId": .null,
            "deviceVerification": .null, "deviceVerificationNonce": .null,
        ]
        return try text(.transaction, loose.merging(fields) { $1 })
    }

    /// Returns a transaction of the account with this `appTransactionId`, without a device.
    func transaction(_ id: String, of appTransactionID: String, _ fields: [String: JSONValue] = [:]) throws -> String {
        try looseTransaction(id, ["appTransactionId": .string(appTransactionID)].merging(fields) { $1 })
    }
}

extension ReceiptMinter {
    func text(_ change: (inout ReceiptDraft) throws -> Void = { _ in }) throws -> String {
        Data(try mint(change)).base64EncodedString()
    }
}

/// A client of a running service.
struct Client {
    let http: any TestClientProtocol
    /// The prefix of every path, with several apps: `/apps/NAME`.
    var prefix = ""

    func post(_ body: String, headers: HTTPFields = [.contentType: "application/json"]) async throws -> TestResponse {
        try await http.execute(
            uri: prefix + "/v1/sync", method: .post, headers: headers, body: ByteBuffer(string: body)
        ) { $0 }
    }

    func send(_ request: SyncRequest) async throws -> TestResponse {
        try await post(String(decoding: try JSONEncoder().encode(request), as: UTF8.self))
    }

    /// Sends a sync from the customer's own device, with a nonce, as apps do. Pass another device, or nil, for someone
    /// who only found the artifacts.
    func sync(
        _ request: SyncRequest, from device: UUID? = Calculator.device,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> CustomerResponse {
        var request = request
        request.deviceVerificationID = request.deviceVerificationID ?? device?.uuidString
        request.nonce = request.nonce ?? "nonce"
        let response = try await send(request)
        let text = String(buffer: response.body)
        #expect(response.status == .ok, "\(text)", sourceLocation: sourceLocation)
        return try JSONDecoder().decode(CustomerResponse.self, from: Data(text.utf8))
    }

    func refused(_ request: SyncRequest, sourceLocation: SourceLocation = #_sourceLocation) async throws -> Problem {
        try problem(try await send(request), sourceLocation: sourceLocation)
    }

    func problem(_ response: TestResponse, sourceLocation: SourceLocation = #_sourceLocation) throws -> Problem {
        #expect(response.headers[.contentType] == Problem.mediaType, sourceLocation: sourceLocation)
        let problem = try JSONDecoder().decode(Problem.self, from: Data(buffer: response.body))
        #expect(response.status.code == problem.code.status, sourceLocation: sourceLocation)
        return problem
    }

    func get(_ path: String, token: String? = nil) async throws -> TestResponse {
        var headers = HTTPFields()
        if let token { headers[.authorization] = "Bearer \(token)" }
        return try await http.execute(uri: prefix + path, method: .get, headers: headers) { $0 }
    }

    func customer(_ token: String) async throws -> CustomerResponse {
        let response = try await get("/v1/customer", token: token)
        #expect(response.status == .ok)
        return try JSONDecoder().decode(CustomerResponse.self, from: Data(buffer: response.body))
    }
}

/// Starts a service with the configuration's policy. If another policy is active, the configuration's policy is
/// published, and all promises are kept.
func started(_ configuration: ServiceConfiguration) async throws -> TenureService {
    let service = try await TenureService(configuration)
    try await service.publish(configuration.policy)
    return service
}

extension TenureService {
    /// Publishes a policy, whatever rights it takes, without a rehearsal.
    func publish(_ policy: Policy) async throws {
        try await policies.refreshNow()
        let compiled = PolicyFile.compile(policy)
        let digest = ActivePolicy.digest(of: compiled)
        guard digest != policies.inEffect.sha256 else { return }
        let request = RequestedPublication(
            compiled: compiled, sha256: digest, action: .publish, at: configuration.now(), actor: "tests", reason: nil,
            base: policies.inEffect.publication)
        let evaluation = PublicationEvaluation(at: try await store.write { try $0.position() })
        let outcome = try await store.publish(request, after: evaluation) { _ throws(StoreError) in
            PublicationImpact()
        }
        guard case .published = outcome else { throw ServiceError.failed("\(outcome)") }
        try await policies.refreshNow()
    }
}

/// Runs a service in a new folder, or in the given one.
func withService<Result: Sendable>(
    in folder: String? = nil, policy: Policy? = nil,
    _ change: (inout ServiceConfiguration) throws -> Void = { _ in },
    _ body: @escaping @Sendable (Client) async throws -> Result
) async throws -> Result {
    guard let folder else {
        return try await withFolder { try await withService(in: $0, policy: policy, change, body) }
    }
    var configuration = try Calculator.configuration(folder, policy: policy)
    try change(&configuration)
    let service = try await started(configuration)
    let application = try service.application(logger: Calculator.logger) { _ in }
    let result = try await application.test(.router) { try await body(Client(http: $0)) }
    try? await service.store.close()
    return result
}

/// Writes a file that only its owner can read.
func writeSecret(_ text: String, to path: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
}

func withFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tenure-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder.path)
}

extension Data {
    init(buffer: ByteBuffer) { self.init(buffer.readableBytesView) }
}
