import CommandRunner
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The built service, started as a user starts it, over real HTTP.
@Suite(.serialized) struct ServeTests {
    private static let policy = """
        app: { bundleID: com.example.calculator, appleID: 828838134 }
        eras:
          - { name: paid, model: paid }
          - { name: freemium, model: free, begins: { iOS: { build: "120", at: 2015-06-10T18:00:00Z } }, changeover: none }
        buildNumbers: increasing
        entitlements: { everything: { honors: [HONORS] } }
        """

    /// A folder with a test authority and a policy, and functions that start a service there.
    private struct Service {
        let folder: Folder

        init() async throws {
            folder = try Folder()
            try #require(try await Command.run("mint", "authority", folder.url("authority").path).status == 0)
        }

        func start(honors: String = "paid", port: Int = 0, _ more: [String] = []) throws -> RunningCommand {
            let policy = try folder.write(
                ServeTests.policy.replacingOccurrences(of: "HONORS", with: honors), to: "policy.yaml")
            return try RunningCommand(
                [
                    "serve", "--policy", policy, "--database", folder.url("tenure.sqlite").path, "--trust",
                    folder.url("authority").path, "--port", String(port),
                ] + more)
        }

        func owner() async throws -> String {
            let result = try await Command.run(
                "mint", "app-transaction", "--authority", folder.url("authority").path, "--set",
                "originalApplicationVersion=37", "--set", "originalPurchaseDate=2014-05-01", "--device-id",
                ServeTests.device)
            return result.output.trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    private static let device = "5f1c36a4-7d0b-4d0e-9d3f-0a3a2f6f1c11"

    private func send(
        _ method: String, _ path: String, to port: Int, body: Data? = nil, token: String? = nil
    ) async throws -> (status: Int, json: [String: Any]) {
        var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)\(path)")))
        request.httpMethod = method
        request.httpBody = body
        if body != nil { request.setValue("application/json", forHTTPHeaderField: "Content-Type") }
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        let (data, response) = try await URLSession.shared.data(for: request)
        let status = try #require((response as? HTTPURLResponse)?.statusCode)
        return (status, (try JSONSerialization.jsonObject(with: data)) as? [String: Any] ?? [:])
    }

    private func sync(_ artifact: String, to port: Int) async throws -> [String: Any] {
        let body = try JSONSerialization.data(withJSONObject: [
            "appTransaction": artifact, "deviceVerificationID": Self.device, "transactions": [String](),
        ])
        let answer = try await send("POST", "/v1/sync", to: port, body: body)
        #expect(answer.status == 200)
        return answer.json
    }

    private func outcome(_ json: [String: Any]) -> String? {
        ((json["entitlements"] as? [String: Any])?["everything"] as? [String: Any])?["outcome"] as? String
    }

    @Test func `after kill -9, a restart with a stricter policy file finds the customer and takes no right away`()
        async throws
    {
        let service = try await Service()
        let owner = try await service.owner()
        let first = try service.start()
        let port = try #require(try await first.port(), "\(first.errors)")
        let synced = try await sync(owner, to: port)
        #expect(outcome(synced) == "granted")
        #expect((synced["entitlementToken"] as? String)?.split(separator: ".").count == 3)
        let token = try #require((synced["accessToken"] as? [String: Any])?["value"] as? String)
        let read = try await send("GET", "/v1/customer", to: port, token: token)
        #expect(read.status == 200 && outcome(read.json) == "granted")
        #expect(try await send("GET", "/v1/customer", to: port, token: token + "x").status == 401)
        #expect(await first.end(by: SIGKILL) != 0)

        // Another policy file at the start has no effect until it is published.
        let second = try service.start(honors: "")
        let secondPort = try #require(try await second.port(), "\(second.errors)")
        #expect(try await second.says("isn't the policy in effect"))
        let again = try await send("GET", "/v1/customer", to: secondPort, token: token)
        #expect(again.status == 200 && outcome(again.json) == "granted")
        #expect(again.json["id"] as? String == synced["id"] as? String)
        #expect(await second.end(by: SIGTERM) == 0)
    }

    @Test func `SIGHUP doesn't stop a service without a TLS certificate`() async throws {
        let testBed = try await Service()
        let service = try testBed.start()
        let port = try #require(try await service.port(), "\(service.errors)")
        service.signal(SIGHUP)
        #expect(try await service.says("SIGHUP has no effect"))
        #expect(try await send("GET", "/health/ready", to: port).status == 200)
        #expect(await service.end(by: SIGTERM) == 0)
    }

    @Test func `a second service that fails to start doesn't unregister the first service's webhooks`() async throws {
        let testBed = try await Service()
        let secret = try testBed.folder.write(String(repeating: "s", count: 40), to: "webhook.secret")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secret)
        let settings = try testBed.folder.write(
            "webhooks: [{ name: app, url: \"http://127.0.0.1:9/\", secretFile: webhook.secret, allowPrivate: true }]",
            to: "tenure.yaml")
        let first = try testBed.start(["--config", settings])
        let port = try #require(try await first.port(), "\(first.errors)")
        let second = try testBed.start(port: port)
        #expect(await second.ended() == 1)
        let body = try JSONSerialization.data(withJSONObject: [
            "appTransaction": try await testBed.owner(), "deviceVerificationID": Self.device,
        ])
        #expect(try await send("POST", "/v1/sync", to: port, body: body).status == 200)
        let log = try await Command.run(
            "webhook", "log", "--since", "2020-01-01", "--database",
            testBed.folder.url("tenure.sqlite").path)
        #expect(log.output.contains("entitlement.granted") && log.output.contains("app"), "\(log.output)\(log.errors)")
        #expect(await first.end(by: SIGTERM) == 0)
    }

    @Test func `tenure serve doesn't start with a port in use, a broken policy or an unsafe address, and says why`()
        async throws
    {
        let service = try await Service()
        let first = try service.start()
        let port = try #require(try await first.port(), "\(first.errors)")
        let second = try service.start(port: port)
        #expect(try await second.port() == nil)
        #expect(await second.end(by: SIGTERM) == 1)
        #expect(second.errors.contains("port \(port) on `127.0.0.1` is in use"))
        #expect(await first.end(by: SIGINT) == 0)

        let broken = try service.start(honors: "payed")
        #expect(try await broken.port() == nil)
        #expect(await broken.end(by: SIGTERM) == 1)
        #expect(broken.errors.contains("policy.yaml:6:"))

        let exposed = try service.start(["--host", "0.0.0.0"])
        #expect(try await exposed.port() == nil)
        #expect(await exposed.end(by: SIGTERM) == 1)
        #expect(exposed.errors.contains("loopback"))
    }
}
