import CommandRunner
import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import TenureServer
import Testing

/// An invented app, the authority that signs for it, and its database.
struct SoakTestBed: Sendable {
    let folder: Folder
    let authority: TestAuthority
    var database: String
    let policy: String
    let app: MintedApp

    static let device = MintedApp.device
    static let adminKey = KeySecret().text
    private let keyFile: String

    /// - Parameters:
    ///   - database: nil for an SQLite file in the test bed's folder.
    ///   - authority: the authority of another test bed with the same database; nil creates one.
    ///   - bundleID: the app's bundle ID.
    init(
        database: String? = nil, authority: TestAuthority? = nil, bundleID: String = "com.example.calculator"
    ) throws {
        app = MintedApp(bundleID: bundleID, deviceVerificationID: Self.device)
        folder = try Folder()
        self.authority = try authority ?? TestAuthority()
        try self.authority.save(to: folder.url("authority"))
        self.database = database ?? folder.url("tenure.sqlite").path
        keyFile = try folder.writeSecret(Self.adminKey, to: "admin-key")
        policy = try folder.write(
            """
            app: { bundleID: \(bundleID), appleID: 828838134 }
            eras:
              - { name: paid, model: paid }
              - { name: freemium, model: free, begins: { iOS: { build: "120", at: 2015-06-10T18:00:00Z } }, changeover: none }
            buildNumbers: increasing
            entitlements:
              everything: { honors: [paid] }
              studio: { products: [com.example.calculator.studio], trial: { sessions: 1000 } }
            """, to: "policy.yaml")
    }

    var trust: [String] { ["--trust", folder.url("authority").path] }

    /// Starts a service on the database, and returns it with its port once it serves.
    func start() async throws -> (service: RunningCommand, port: Int) {
        let service = try launch()
        let port = try #require(try await service.port(), "\(service.errors)")
        return (service, port)
    }

    /// Starts a service that may fail to start.
    func launch(_ more: [String] = [], logLevel: String = "error") throws -> RunningCommand {
        try RunningCommand(
            [
                "serve", "--policy", policy, "--database", database, "--keys", folder.path, "--port", "0",
                "--log-level", logLevel, "--admin-key-file", keyFile,
            ] + trust + more)
    }

    /// Runs `tenure database …` on this database.
    func databaseCommand(_ command: String, _ more: String...) async throws -> Command.Result {
        try await Command.run(
            ["database", command] + (more.contains("--database") ? [] : ["--database", database]) + more)
    }

    func expectHealthy(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let check = try await Command.run(["database", "check", "--database", database] + trust)
        #expect(check.status == 0, "\(check.output)\(check.errors)", sourceLocation: sourceLocation)
    }

    func dump() async throws -> SoakDump {
        let result = try await databaseCommand("dump")
        try #require(result.status == 0, "\(result.errors)")
        return try SoakDump(result.output)
    }

    // MARK: Artifacts

    /// Each account got the app in another minute, because accounts with one device and one date are one acquisition.
    func appTransaction(of id: String) throws -> String {
        let minutes = Double(id.suffix(5)) ?? 0
        return try text(
            .appTransaction,
            [
                "appTransactionId": .string(id), "originalApplicationVersion": .string("37"),
                "originalPurchaseDate": .instant(Date(timeIntervalSince1970: 1_398_938_400 + 60 * minutes)),
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

    /// A transaction from before the App Store named the account in it.
    func looseTransaction(_ number: String) throws -> String {
        try text(
            .transaction,
            [
                "transactionId": .string(number), "originalTransactionId": .string(number), "appTransactionId": .null,
            ])
    }

    func notification(_ uuid: String) throws -> String {
        try text(.notification, ["notificationUUID": .string(uuid)])
    }

    /// A notification about a purchase of this account, with its state some seconds ago.
    func notification(
        _ uuid: String, _ type: String, about number: String, of id: String, isRevoked: Bool, ago: TimeInterval
    ) throws -> String {
        var fields: [String: JSONValue] = [
            "transactionId": .string(number), "originalTransactionId": .string(number),
            "appTransactionId": .string(id), "productId": .string("com.example.calculator.studio"),
            "type": .string("Non-Consumable"), "expiresDate": .null, "subscriptionGroupIdentifier": .null,
        ]
        if isRevoked {
            fields["revocationDate"] = .instant(Date(timeIntervalSince1970: 1_700_000_000))
            fields["revocationReason"] = .integer(0)
        }
        var data = JSONObject()
        data["appAppleId"] = .integer(app.appAppleID)
        data["bundleId"] = .string(app.bundleID)
        data["environment"] = .string(app.environment.rawValue)
        data["signedTransactionInfo"] = .string(try text(.transaction, fields, ago: ago))
        return try text(
            .notification,
            [
                "notificationUUID": .string(uuid), "notificationType": .string(type), "subtype": .null,
                "data": .object(data),
            ], ago: ago)
    }

    func text(_ kind: JWSKind, _ fields: [String: JSONValue], ago: TimeInterval = 60) throws -> String {
        let minter = JWSMinter(
            authority: authority, app: app, signedAt: Date().addingTimeInterval(-ago))
        return String(decoding: try minter.mint(kind, setting: fields), as: UTF8.self)
    }
}
