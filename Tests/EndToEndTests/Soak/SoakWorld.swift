import CommandRunner
import Crypto
import Foundation
import TenureAppStore
import TenureMint
import Testing

/// An invented app, the authority that signs for it, and where its record lies.
struct SoakWorld: Sendable {
    let folder: Folder
    let authority: TestAuthority
    let database: String
    private let policy: String

    static let device = MintedApp.device

    /// `database`: nil is a SQLite file in the world's folder.
    init(database: String? = nil) throws {
        folder = try Folder()
        authority = try TestAuthority(seed: "soak")
        try authority.save(to: folder.url("authority"))
        self.database = database ?? folder.url("tenure.sqlite").path
        policy = try folder.write(
            """
            app: { bundleID: com.example.calculator, appleID: 828838134 }
            eras:
              - { name: paid, model: paid }
              - { name: freemium, model: free, begins: { iOS: { build: "120", at: 2015-06-10T18:00:00Z } } }
            buildNumbers: increasing
            entitlements: { everything: { honours: [paid] } }
            """, to: "policy.yaml")
    }

    var trust: [String] { ["--trust", folder.url("authority").path] }

    /// Starts a service on the record, and returns it with its port once it serves.
    func start(_ more: [String] = []) async throws -> (service: RunningCommand, port: Int) {
        let arguments =
            ["serve", "--policy", policy, "--database", database, "--port", "0", "--log-level", "error"] + trust + more
        let service = try RunningCommand(arguments)
        let port = try #require(try await service.port(), "\(service.errors)")
        return (service, port)
    }

    /// `tenure record …` on this record.
    func record(_ command: String, _ more: String...) throws -> Command.Result {
        try Command.run(["record", command, "--database", database] + more)
    }

    func expectHealthy(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let check = try Command.run(["record", "check", "--database", database] + trust)
        #expect(check.status == 0, "\(check.output)\(check.errors)", sourceLocation: sourceLocation)
    }

    func dump() throws -> SoakDump {
        let result = try record("dump")
        try #require(result.status == 0, "\(result.errors)")
        return try SoakDump(result.output)
    }

    // MARK: Artifacts

    func appTransaction(of id: String) throws -> String {
        try text(
            .appTransaction,
            [
                "appTransactionId": .string(id), "originalApplicationVersion": .string("37"),
                "originalPurchaseDate": .instant(Date(timeIntervalSince1970: 1_398_938_400)),
            ])
    }

    func transaction(_ number: String, of id: String) throws -> String {
        try text(
            .transaction,
            [
                "transactionId": .string(number), "originalTransactionId": .string(number),
                "appTransactionId": .string(id),
            ])
    }

    private func text(_ kind: JWSKind, _ fields: [String: JSONValue]) throws -> String {
        let minter = JWSMinter(
            authority: authority, app: MintedApp(deviceVerificationID: Self.device),
            signedAt: Date().addingTimeInterval(-60))
        return String(decoding: try minter.mint(kind, setting: fields), as: UTF8.self)
    }
}

/// What a record holds, found by what was sent.
struct SoakDump {
    /// Customers by the id of their app transaction.
    private(set) var customers: [String: String] = [:]
    /// Hashes of artifacts by customer.
    private(set) var artifacts: [String: Set<String>] = [:]
    private(set) var lines: [[String: Any]] = []

    init(_ text: String) throws {
        for line in text.split(separator: "\n") {
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            lines.append(object)
            guard let customer = object["customer"] as? String else { continue }
            switch object["table"] as? String {
            case "identities":
                if object["kind"] as? Int == 1, let value = object["value"] as? String { customers[value] = customer }
            case "artifacts":
                if let hash = object["sha256"] as? String { artifacts[customer, default: []].insert(hash) }
            default: break
            }
        }
    }

    func holds(_ sync: SoakSync) -> Bool {
        guard let customer = customers[sync.appTransactionID], customer == sync.customer else { return false }
        return artifacts[customer, default: []].isSuperset(of: sync.hashes)
    }
}

/// A sync that was acknowledged.
struct SoakSync: Sendable {
    let appTransactionID: String
    /// The public id that the answer named.
    let customer: String
    let token: String
    /// Of what was signed in each artifact sent, in Base64.
    let hashes: Set<String>

    /// SHA-256 of all before the signature.
    static func hash(_ jws: String) -> String {
        let bytes = Array(jws.utf8)
        let signed = bytes[..<(bytes.lastIndex(of: UInt8(ascii: ".")) ?? 0)]
        return Data(SHA256.hash(data: signed)).base64EncodedString()
    }
}
