import CommandRunner
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One service with several apps in its configuration file.
@Suite struct AppsTests {
    private static func policy(_ bundleID: String) -> String {
        """
        app: { bundleID: \(bundleID), appleID: 828838134 }
        eras: [{ name: free, model: free }]
        entitlements: { everything: { products: [\(bundleID).everything] } }
        """
    }

    private func status(_ path: String, at port: Int) async throws -> Int? {
        let url = try #require(URL(string: "http://127.0.0.1:\(port)\(path)"))
        return (try await URLSession.shared.data(from: url).1 as? HTTPURLResponse)?.statusCode
    }

    @Test func `each app has its routes under its name, and its keys in a separate folder`() async throws {
        let folder = try Folder()
        try folder.write(Self.policy("com.example.calculator"), to: "calculator.yaml")
        try folder.write(Self.policy("com.example.notes"), to: "notes.yaml")
        let config = try folder.write(
            """
            port: 0
            apps:
              calculator: { policy: calculator.yaml, database: calculator.sqlite }
              notes: { policy: notes.yaml, database: notes.sqlite, keys: elsewhere }
            """, to: "tenure.yaml")
        let service = try RunningCommand(["serve", "--config", config])
        let port = try #require(try await service.port(), "\(service.errors)")
        #expect(service.output.contains("serving calculator, notes on"))
        for path in ["/apps/calculator/.well-known/jwks.json", "/apps/notes/.well-known/jwks.json", "/health/ready"] {
            #expect(try await status(path, at: port) == 200)
        }
        #expect(try await status("/.well-known/jwks.json", at: port) == 404)
        #expect(await service.end(by: SIGTERM) == 0, "\(service.errors)")
        for path in ["keys/calculator/signing-key.json", "elsewhere/signing-key.json", "notes.sqlite"] {
            #expect(FileManager.default.fileExists(atPath: folder.url(path).path), "\(path)")
        }
    }

    @Test func `a missing or misplaced setting of an app is reported with its line`() async throws {
        let folder = try Folder()
        let cases = [
            ("apps: { notes: { policy: notes.yaml } }", "tenure.yaml:1:9: the app `notes` needs `database`"),
            ("apps: { notes: { policy: n, database: d, port: 1 } }", "there is no setting `port` here"),
            ("policy: a.yaml\napps: { notes: { policy: n, database: d } }", "each app of `apps` has its own `policy`"),
            ("apps: []", "`apps` isn't a mapping"),
            ("apps: { Notes: { policy: notes.yaml, database: notes.sqlite } }", "can't be part of a path"),
        ]
        try folder.write(Self.policy("com.example.notes"), to: "notes.yaml")
        for (text, words) in cases {
            let config = try folder.write(text, to: "tenure.yaml")
            let result = try await Command.run("serve", "--config", config, "--port", "0")
            #expect(result.status == 1 && result.errors.contains(words), "\(result.errors)")
        }
    }
}
