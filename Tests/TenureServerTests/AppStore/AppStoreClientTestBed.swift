import Crypto
import Foundation
import HummingbirdTesting
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

@testable import TenureServer

/// An imitated App Store on a free port, and what a client of its Server API needs: a key, a clock and a transport.
struct AppStoreClientTestBed: Sendable {
    static let keyID = "2X9R4HXF34"
    static let issuerID = "57246542-96fe-1a63-e053-0824d011072a"
    static let key = P256.Signing.PrivateKey()

    let appStore: ImitatedAppStore
    let time: TestTime
    let hosts: AppStoreHosts
    let transport: AppStoreTransport

    static var credentials: AppStoreCredentials {
        AppStoreCredentials(issuerID: issuerID, keyID: keyID, bundleID: "com.example.calculator", key: key)
    }

    static func verifier(
        _ environments: [AppStoreEnvironment] = [.production, .sandbox], appAppleID: Int64 = 828_838_134
    ) throws -> AppStoreVerifier {
        let anchors = try Calculator.authority.anchors
        return AppStoreVerifier(
            app: AppIdentity(bundleID: "com.example.calculator", appAppleID: appAppleID),
            trust: try TrustConfiguration(anchors: Dictionary(uniqueKeysWithValues: environments.map { ($0, anchors) }))
        )
    }

    func connection(
        _ environments: [AppStoreEnvironment] = [.production, .sandbox], retryPolicy: RetryPolicy = RetryPolicy(),
        through transport: AppStoreTransport? = nil
    ) throws -> AppStoreClient {
        AppStoreClient(
            Self.credentials, hosts: hosts, verifier: try Self.verifier(environments),
            transport: transport ?? self.transport, retryPolicy: retryPolicy, time: time.time, logger: Calculator.logger
        )
    }

    var connection: AppStoreClient { get throws { try connection() } }
}

/// Runs an imitated App Store on a free port.
func withAppStore<Result: Sendable>(
    transportTime: AppStoreTime = .system,
    _ body: @escaping @Sendable (AppStoreClientTestBed) async throws -> Result
) async throws -> Result {
    let time = TestTime()
    let appStore = ImitatedAppStore(key: AppStoreClientTestBed.key.publicKey, now: { time.now })
    return try await appStore.application().test(.live) { client in
        let port = try #require(client.port)
        var hosts = AppStoreHosts()
        hosts.production = "http://127.0.0.1:\(port)/Production"
        hosts.sandbox = "http://127.0.0.1:\(port)/Sandbox/"
        let http = HTTPTransport(time: transportTime)
        let asking = AppStoreClientTestBed(appStore: appStore, time: time, hosts: hosts, transport: http.transport)
        do {
            let result = try await body(asking)
            try await http.close()
            return result
        } catch {
            try? await http.close()
            throw error
        }
    }
}

/// Artifacts as the App Store's servers sign them in responses: they aren't bound to a device.
enum ServerSigned {
    static let customer = "704000000000000001"
    private static let unbound: [String: JSONValue] = ["deviceVerification": .null, "deviceVerificationNonce": .null]

    static func transaction(
        _ id: String, _ environment: AppStoreEnvironment = .production, _ fields: [String: JSONValue] = [:]
    ) throws -> String {
        let ids: [String: JSONValue] = ["transactionId": .string(id), "originalTransactionId": .string(id)]
        return try Calculator.minter(environment).text(
            .transaction, unbound.merging(ids) { $1 }.merging(fields) { $1 })
    }

    /// Returns the first `count` transactions of one customer, all different.
    static func transactions(_ count: Int, _ environment: AppStoreEnvironment = .production) throws -> [String] {
        try (1...count).map { try transaction("\(1000 + $0)", environment) }
    }

    /// Returns a period of the yearly subscription that began in 2025.
    static func period(_ environment: AppStoreEnvironment = .production) throws -> String {
        try transaction(
            "2001", environment,
            [
                "originalTransactionId": .string("2000"), "productId": .string(Calculator.yearly),
                "type": .string("Auto-Renewable Subscription"),
                "expiresDate": .instant(Calculator.now.addingTimeInterval(86_400)),
            ])
    }

    static func renewal(_ fields: [String: JSONValue] = [:]) throws -> String {
        let ours: [String: JSONValue] = ["originalTransactionId": .string("2000")]
        return try Calculator.minter().text(.renewalInfo, ours.merging(fields) { $1 })
    }

    /// Returns the field `data` of a response with subscription statuses.
    static func statuses(_ transaction: String, _ renewalInfo: String) -> String {
        """
        [{"subscriptionGroupIdentifier":"20828838","lastTransactions":[{"status":1,"originalTransactionId":"2000",\
        "signedTransactionInfo":"\(transaction)","signedRenewalInfo":"\(renewalInfo)"}]}]
        """
    }

    static func appTransaction(
        _ environment: AppStoreEnvironment = .production, _ fields: [String: JSONValue] = [:]
    ) throws -> String {
        let minter = Calculator.minter(environment)
        var payload = try minter.payload(of: .appTransaction).signedForServer
        for (name, value) in fields { payload[name] = value }
        return String(decoding: try minter.mint(payload: payload), as: UTF8.self)
    }

    static func notification(_ uuid: String, signed: Date) throws -> String {
        try Calculator.minter(signed: signed).text(.notification, ["notificationUUID": .string(uuid)])
    }

    /// Returns a transaction with the signature of another transaction.
    static func forged() throws -> String {
        String(decoding: try Calculator.minter().mint(.transaction, with: .foreignSignature), as: UTF8.self)
    }
}
