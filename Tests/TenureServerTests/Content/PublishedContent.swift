import CommandRunner
import Crypto
import Foundation
import HTTPTypes
import HummingbirdTesting
import Logging
import NIOCore
import TenureAPI
import TenureAppStore
import TenureContent
import TenureContentPublishing
import TenureCore
import TenureJSON
import TenureMint
import TenurePolicyFile
import TenureStore
import Testing

@testable import TenureServer

/// A folder with published asset packs, and their original files.
struct PublishedContent: Sendable {
    static let loops = "com.example.loops"
    static let firstCounter: Int64 = 1_000

    let folder: String
    private let files: String
    private let key = P256.Signing.PrivateKey()

    var keys: [PinnedKey] { [PinnedKey(key.publicKey)] }

    /// Creates the folder in a test's folder.
    init(in folder: String) throws {
        self.folder = folder + "/published"
        files = folder + "/files"
        try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
    }

    /// Makes a pack with one file of `size` bytes. The same seed gives the same bytes.
    func pack(
        _ name: String, _ unlock: ContentCatalog.Unlock, size: Int = 100_000, seed: UInt64 = 1, minimum: String? = nil
    ) throws -> PackSource {
        let path = "\(files)/\(name)-\(seed)-\(size)"
        try FileManager.default.createDirectory(atPath: path + "/samples", withIntermediateDirectories: true)
        var random = SeededRandom(seed: seed)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size + 8)
        while bytes.count < size { withUnsafeBytes(of: random.next()) { bytes += $0 } }
        try Data(bytes.prefix(size)).write(to: URL(fileURLWithPath: path + "/samples/c4.wav"))
        return try PackSource(
            name: name, unlock: unlock, minimumAppVersion: minimum.flatMap { AppVersion($0) }, folder: path)
    }

    @discardableResult
    func publish(
        _ packs: [PackSource], counter: Int64 = firstCounter, bundleID: String = "com.example.calculator"
    ) throws -> ContentPublisher.Publication {
        try ContentPublisher(folder: folder, key: key).publish(
            bundleID: bundleID, packs: packs, counter: counter, at: Calculator.now)
    }

    /// Signs an invalid catalog, which `publish` would refuse, and puts it into the folder.
    func replaceCatalog(_ catalog: ContentCatalog, counter: Int64) throws {
        let signed = try SignedCatalog(catalog, counter: counter, issuedAt: Calculator.now, by: key)
        try replaceCatalog(Data(signed.text.utf8))
    }

    func replaceCatalog(_ bytes: Data) throws {
        try bytes.write(to: URL(fileURLWithPath: folder + "/" + SignedCatalog.fileName), options: .atomic)
    }

    func bytes(of digest: ContentDigest) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(digest)")))
    }

    /// Publishes one pack for each way to unlock it: an era, a subscription, a single product.
    func publishThree() throws {
        try publish([
            pack("grand-piano", .entitlement("everything")), pack("samples", .entitlement("cloud"), seed: 2),
            pack("loops", .product(Self.loops), seed: 3),
        ])
    }

    static func policy(
        trial: Trial? = nil, whileUndetermined: Policy.WhileUndetermined = .allow(72 * 3600),
        bundleID: String = "com.example.calculator"
    ) throws -> Policy {
        let calculator = try Calculator.policy()
        return try Policy(
            app: Policy.App(bundleID: bundleID, appleID: 828_838_134), eras: calculator.eras,
            buildNumbers: .increasing,
            entitlements: [
                Entitlement(
                    name: "everything", products: [.init(id: Calculator.everything)], honors: [Honor(era: "paid")],
                    trial: trial),
                Entitlement(name: "cloud", products: [.init(id: Calculator.yearly)]),
            ], whileUndetermined: whileUndetermined)
    }
}

/// A service that delivers content.
struct ContentTestBed: Sendable {
    static let newcomer = "704000000000000002"

    let client: Client
    let published: PublishedContent
    let clock: TestClock
    /// The service's port; nil if it runs without a socket.
    let port: Int?

    /// Returns an access token of a customer who got the app while it was sold, and has no purchases.
    func owner(_ id: String = "704000000000000001") async throws -> String {
        try await client.sync(
            SyncRequest(
                appTransaction: try Calculator.minter(signed: clock.now).text(
                    .appTransaction, ["appTransactionId": .string(id)]), transactions: [])
        ).token
    }

    /// Returns an access token of a customer who got the app after it became free. With `transactions: nil`, their
    /// purchases aren't known.
    func newcomer(_ id: String = newcomer, transactions: [String]? = []) async throws -> String {
        try await client.sync(
            SyncRequest(
                appTransaction: try Calculator.minter(signed: clock.now).newcomer(id), transactions: transactions)
        ).token
    }

    func purchase(
        of product: String, by id: String = newcomer, revoked: Date? = nil
    ) throws -> String {
        try Calculator.minter(signed: clock.now).transaction(
            "1", of: id,
            [
                "productId": .string(product), "type": .string("Non-Consumable"), "expiresDate": .null,
                "revocationDate": revoked.map { .instant($0) } ?? .null,
            ])
    }

    func content(_ token: String, appVersion: String? = nil) async throws -> ContentResponse {
        let query = appVersion.map { "?appVersion=\($0)" } ?? ""
        let response = try await client.get("/v1/content" + query, token: token)
        #expect(response.status == .ok, "\(String(buffer: response.body))")
        return try JSONDecoder().decode(ContentResponse.self, from: Data(buffer: response.body))
    }

    /// Returns the names of the packs that have links.
    func names(_ token: String) async throws -> [String] { try await content(token).packs.keys.sorted() }

    func links(_ pack: String, _ token: String) async throws -> ContentResponse.Links {
        try #require(try await content(token).packs[pack])
    }

    /// Sends a request for a link.
    func get(
        _ link: String, method: HTTPRequest.Method = .get, _ fields: [(HTTPField.Name, String)] = []
    ) async throws -> TestResponse {
        var headers = HTTPFields()
        for (name, value) in fields { headers[name] = value }
        return try await client.http.execute(uri: link, method: method, headers: headers) { $0 }
    }

    /// Returns 200, or the code of the problem with which a link is refused.
    func code(of link: String) async throws -> String {
        let response = try await get(link)
        guard response.status.code >= 400 else { return "\(response.status.code)" }
        return try client.problem(response).code.rawValue
    }
}

func withContent(
    _ setup: TestingSetup = .router, policy: Policy? = nil,
    changing change: (inout ServiceConfiguration) throws -> Void = { _ in },
    _ body: @escaping @Sendable (ContentTestBed) async throws -> Void
) async throws {
    try await withFolder { folder in
        let published = try PublishedContent(in: folder)
        let clock = TestClock()
        var configuration = try Calculator.configuration(folder, policy: try policy ?? PublishedContent.policy())
        configuration.content = ContentSettings(folder: published.folder)
        configuration.contentStaleness = .zero
        configuration.now = { clock.now }
        try change(&configuration)
        let service = try await started(configuration)
        let application = try service.application(logger: Calculator.logger) { _ in }
        try await application.test(setup) {
            try await body(ContentTestBed(client: Client(http: $0), published: published, clock: clock, port: $0.port))
        }
        try? await service.store.close()
    }
}
