import CommandRunner
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The built service with a key of scope `policy`, and customers minted for a test.
struct PublishingTestBed {
    let folder: Folder
    let database: String
    private let authority: String
    private let key: String

    static let device = "5f1c36a4-7d0b-4d0e-9d3f-0a3a2f6f1c11"

    /// Returns a policy under which builds below this boundary were sold.
    static func policy(boundary: String = "120") -> String {
        """
        app: { bundleID: com.example.calculator, appleID: 828838134 }
        eras:
          - { name: paid, model: paid }
          - { name: freemium, model: free, begins: { iOS: { build: "\(boundary)" } } }
        buildNumbers: increasing
        entitlements:
          everything: { honors: [paid] }
        """
    }

    /// - Parameter database: the URL of a PostgreSQL database; nil for an SQLite file.
    init(database: String? = nil) async throws {
        folder = try Folder()
        authority = folder.url("authority").path
        self.database = database ?? folder.url("tenure.sqlite").path
        try #require(try await Command.run("mint", "authority", authority).status == 0)
        try await createDatabase(self.database)
        let made = try await Command.run(
            ["admin-key", "create", "--scope", "policy", "--name", "publisher", "--database", self.database])
        try #require(made.status == 0, "\(made.errors)")
        key = try folder.writeSecret(made.output, to: "policy.key")
    }

    func write(_ policy: String, to name: String = "policy.yaml") throws -> String {
        try folder.write(policy, to: name)
    }

    /// The policy with acknowledgments of all rights that it takes, as the rehearsal's findings name them.
    func acknowledgingLosses(_ policy: String, on port: Int) async throws -> String {
        let file = try write(policy, to: "unacknowledged.yaml")
        let rehearsed = try await Command.run(["policy", "publish", file, "--rehearse", "--json"] + options(port))
            .json()
        let findings = try #require(rehearsed["findings"] as? [[String: Any]])
        let lost = findings.filter { ($0["code"] as? String)?.hasPrefix("right-") == true }
        let lines = lost.compactMap { finding in
            guard let code = finding["code"], let at = finding["at"] else { return nil as String? }
            return "  - { code: \(code), at: \"\(at)\", reason: known }"
        }
        try #require(!lines.isEmpty)
        return ([policy, "acknowledge:"] + lines).joined(separator: "\n")
    }

    /// Starts the service, and returns it with its port.
    func start(policy: String = PublishingTestBed.policy(), _ more: [String] = []) async throws -> (RunningCommand, Int)
    {
        let service = try launch(policy: policy, more)
        return (service, try #require(try await service.port(), "\(service.errors)"))
    }

    /// Starts a service that may fail to start.
    func launch(policy: String = PublishingTestBed.policy(), _ more: [String] = []) throws -> RunningCommand {
        try RunningCommand(
            [
                "serve", "--policy", try write(policy, to: "start-\(UUID().uuidString).yaml"), "--database", database,
                "--keys", folder.path, "--trust", authority, "--port", "0",
            ] + more)
    }

    /// The arguments of commands that use the service.
    func options(_ port: Int) -> [String] { ["--service", "http://127.0.0.1:\(port)", "--key-file", key] }

    /// The arguments of commands that read the database.
    var trust: [String] { ["--trust", authority] }

    var keyText: String {
        get throws {
            try String(contentsOfFile: key, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    func appTransaction(
        of id: String, version: String, date: String = "2014-05-01", environment: String = "production"
    ) async throws -> String {
        let result = try await Command.run(
            "mint", "app-transaction", "--authority", authority, "--environment", environment, "--set",
            "originalApplicationVersion=\(version)", "--set", "originalPurchaseDate=\(date)", "--set",
            "appTransactionId=\(id)", "--device-id", Self.device)
        try #require(result.status == 0, "\(result.errors)")
        return result.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// A response of the service with its JSON object.
    struct Answer {
        let status: Int
        let json: [String: Any]

        var everything: [String: Any]? {
            (json["entitlements"] as? [String: Any])?["everything"] as? [String: Any]
        }

        var outcome: String? { everything?["outcome"] as? String }

        /// The code of the deciding reason.
        var reason: String? { (everything?["reasons"] as? [[String: Any]])?.first?["code"] as? String }
    }

    func send(
        _ method: String, _ path: String, to port: Int, _ body: [String: Any]? = nil, token: String? = nil
    ) async throws -> Answer {
        var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)\(path)")))
        request.httpMethod = method
        if let body {
            request.httpBody = try JSONSerialization.data(withJSONObject: body)
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        let (data, response) = try await URLSession.shared.data(for: request)
        let status = try #require((response as? HTTPURLResponse)?.statusCode)
        return Answer(status: status, json: (try? JSONSerialization.jsonObject(with: data)) as? [String: Any] ?? [:])
    }

    func sync(_ artifact: String, persona: String? = nil, to port: Int) async throws -> Answer {
        var body: [String: Any] = [
            "appTransaction": artifact, "deviceVerificationID": Self.device, "transactions": [String](),
        ]
        body["persona"] = persona
        let answer = try await send("POST", "/v1/sync", to: port, body)
        #expect(answer.status == 200, "\(answer.json)")
        return answer
    }
}
