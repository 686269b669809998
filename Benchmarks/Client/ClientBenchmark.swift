import Crypto
import Foundation
import Tenure
import TenureCore
import TenureHTTP
import TenureJSON

/// The client for `client-allows` and `client-first-answer`: a device with a stored entitlement token.
struct ClientBenchmark: Sendable {
    let setup: Setup
    private let tenure: Tenure
    private let key: P256.Signing.PublicKey
    private let signature: P256.Signing.ECDSASignature
    private let digest: SHA256.Digest

    /// Writes the device's stored state into `folder`.
    init(folder: URL, now: Date) throws {
        let signer = P256.Signing.PrivateKey()
        key = signer.publicKey
        let pinned = try Tenure.ServiceKey(signer.publicKey.pemRepresentation)
        let entitlementToken = try Self.entitlementToken(by: signer, id: pinned.id, at: now)
        digest = SHA256.hash(data: Data(entitlementToken.utf8))
        signature = try signer.signature(for: digest)

        let storage = FileStateStorage(folder: folder)
        var stored = StoredState(clock: now)
        stored.device = Self.device.hashed
        stored.distribution = Tenure.Distribution.appStore.rawValue
        stored.catalog = CachedCatalog(text: Self.products, tag: "\"0123456789abcdef\"", fetchedAt: now)
        stored.account.add(
            AppStoreAppTransaction(
                jws: "", bundleID: Self.bundleID, environment: .production,
                proof: AppProof(
                    kind: .appTransaction, signedDate: now, id: .appTransaction("704000000000000001"),
                    originalPlatform: .iOS, originalAppVersion: "37",
                    originalPurchaseDate: now.addingTimeInterval(-1e8))))
        stored.account.entitlementToken = entitlementToken
        stored.account.answeredAt = now
        let state = stored
        try storage.update(device: nil) { _ in state }

        var setup = Setup(access: SilentStore(), storage: storage, policy: nil)
        guard let url = URL(string: "https://tenure.example.com") else { throw URLError(.badURL) }
        setup.service = ServiceConnection(url: url, app: nil, timeout: 1, transport: NoNetwork())
        setup.keys = [pinned]
        setup.clock = { Date() }
        setup.sleep = { _ in try await Task.sleep(nanoseconds: 3_600_000_000_000) }
        self.setup = setup
        tenure = Tenure(setup)
    }

    /// The catalog of products, as the service writes it.
    private static let products = """
        {"products":[{"id":"com.example.calculator.everything","grants":[{"entitlement":"everything"}]},\
        {"id":"com.example.calculator.yearly","grants":[{"entitlement":"everything"},{"entitlement":"cloud"}]}],\
        "entitlements":[{"name":"everything","products":["com.example.calculator.everything",\
        "com.example.calculator.yearly"]},{"name":"cloud","products":["com.example.calculator.yearly"]}]}
        """

    private static let bundleID = "com.example.calculator"
    private static let device = UUID(uuid: (0xD1, 0xCE, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 0x01))

    /// Returns an entitlement token as the service writes it for a customer with two entitlements.
    private static func entitlementToken(by signer: P256.Signing.PrivateKey, id: String, at now: Date) throws -> String
    {
        let header = #"{"alg":"ES256","kid":"\#(id)","typ":"tenure-entitlement+jwt"}"#
        let issued = Int(now.timeIntervalSince1970)
        let claims = """
            {"iss":"tenure","sub":"cus_0123456789abcdef","bundleID":"\(bundleID)","environment":"Production",\
            "appTransactionID":"704000000000000001","device":"\(device.hashed)","iat":\(issued),\
            "exp":\(issued + 365 * 86_400),"nonce":"1","entitlements":{"everything":{"refreshAfter":\(issued + 14 * 86_400)},\
            "cloud":{"until":\(issued + 300 * 86_400)}}}
            """
        let signed = Base64.urlSafe.text(header.utf8) + "." + Base64.urlSafe.text(claims.utf8)
        return signed + "." + Base64.urlSafe.text(try signer.signature(for: Data(signed.utf8)).rawRepresentation)
    }

    /// The floor of both ratios: one verification of a signature.
    func verify() -> Bool { key.isValidSignature(signature, for: digest) }

    /// Reads the stored state and returns the first answer: all that an app's start does before it can allow something.
    func firstAnswer() async -> Bool { await setup.allowsAtOnce("everything") }

    /// Asks a running client `times` times whether it allows an entitlement. Returns how often it did.
    nonisolated(nonsending) func allows(_ times: Int) async -> Int {
        var count = 0
        for _ in 0..<times where await tenure.allows("everything") { count += 1 }
        return count
    }

    /// An App Store that never answers.
    private struct SilentStore: AppStoreAccess {
        struct Silence: Error {}

        var distribution: Tenure.Distribution { .appStore }
        var trustsTestAuthorities: Bool { false }
        var bundleID: String? { ClientBenchmark.bundleID }
        var deviceVerificationID: UUID? { ClientBenchmark.device }
        var deviceIdentifier: String? { nil }
        var receipt: Data? { nil }

        func appTransaction() async throws -> AppStoreResult<AppStoreAppTransaction> { throw Silence() }
        func transactions(productIDs: [String]) async throws -> [AppStoreResult<AppStoreTransaction>] {
            throw Silence()
        }
        func renewals(of transactions: [AppStoreTransaction]) async throws -> [AppStoreResult<AppStoreRenewal>] { [] }
        func unfinished() async throws -> [AppStoreTransaction] { [] }
        func updates() -> AsyncStream<AppStoreResult<AppStoreTransaction>> { AsyncStream { $0.finish() } }
        func finish(_ transactionID: String) async throws {}
        func synchronize() async throws { throw Silence() }
        func refreshAppTransaction() async throws -> AppStoreResult<AppStoreAppTransaction> { throw Silence() }
    }
}

private struct NoNetwork: Transport {
    func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
        throw .connection(URLError(.notConnectedToInternet))
    }
}
