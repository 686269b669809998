import CommandRunner
import Foundation
import Testing

/// A folder with a test authority, policies and lines of evidence, for `tenure rehearse`.
struct RehearsalTestBed {
    let folder: Folder
    let authority: String

    init() async throws {
        folder = try Folder()
        authority = folder.url("authority").path
        try #require(try await Command.run("mint", "authority", authority).status == 0)
    }

    /// Returns a policy under which builds below this boundary were sold, and the app before June 10, 2015.
    static func policy(boundary: String = "120", entitlements: String = defaultEntitlements) -> String {
        """
        app: { bundleID: com.example.calculator, appleID: 828838134 }
        eras:
          - { name: paid, model: paid }
          - name: freemium
            model: free
            begins: { iOS: { build: "\(boundary)", at: 2015-06-10T18:00:00Z } }
            changeover: { from: -24h, until: +48h }
        buildNumbers: increasing
        entitlements:
        \(entitlements)
        """
    }

    static let defaultEntitlements = """
          everything:
            products: [com.example.calculator.everything]
            honors: [paid]
        """

    func write(_ text: String, to name: String) throws -> String { try folder.write(text, to: name) }

    func mint(_ kind: String, _ settings: [String]) async throws -> String {
        let result = try await Command.run(
            ["mint", kind, "--authority", authority] + settings.flatMap { ["--set", $0] })
        try #require(result.status == 0, "\(result.errors)")
        return result.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    func appTransaction(_ id: String, build: String = "37", date: String = "2014-05-01") async throws -> String {
        try await mint(
            "app-transaction",
            [
                "appTransactionId=\(id)", "originalApplicationVersion=\(build)", "originalPurchaseDate=\(date)",
                "originalPlatform=iOS",
            ])
    }

    func transaction(
        _ id: String, of account: String?, product: String = "com.example.calculator.everything",
        type: String = "Non-Consumable"
    ) async throws -> String {
        try await mint(
            "transaction",
            [
                "transactionId=\(id)", "originalTransactionId=\(id)", "appTransactionId=\(account ?? "")",
                "productId=\(product)", "type=\(type)",
            ])
    }

    /// Returns a line of JSON.
    static func line(
        id: String? = nil, _ appTransaction: String?, _ transactions: [String] = [], isComplete: Bool? = nil
    ) throws -> String {
        var object: [String: Any] = [:]
        object["id"] = id
        object["appTransaction"] = appTransaction
        if !transactions.isEmpty { object["transactions"] = transactions }
        object["purchasesAreComplete"] = isComplete
        return String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
    }

    func evidence(_ lines: [String], named name: String = "evidence.ndjson") throws -> String {
        try write(lines.map { $0 + "\n" }.joined(), to: name)
    }

    /// Rehearses as of January 1, 2016.
    func rehearse(_ policy: String, _ more: String...) async throws -> Command.Result {
        try await Command.run(
            ["rehearse", "--policy", policy, "--at", "2016-01-01", "--trust", authority, "--json"] + more)
    }
}

extension Command.Result {
    func customers(_ name: String) throws -> Int? { (try json()["customers"] as? [String: Int])?[name] }

    /// The verdict's sentence.
    var sentence: String {
        get throws { try #require((try json()["verdict"] as? [String: Any])?["sentence"] as? String) }
    }

    var level: String {
        get throws { try #require((try json()["verdict"] as? [String: Any])?["level"] as? String) }
    }

    func entitlement(_ name: String) throws -> [String: Any] {
        let all = try #require(try json()["entitlements"] as? [[String: Any]])
        return try #require(all.first { $0["name"] as? String == name })
    }
}
