import Foundation
import Hummingbird
import HummingbirdTesting
import TenureAPI
import TenureAppStore
import TenureCore
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `starting the service` {
    @Test func `a service's first start creates keys that only their owner can read`() async throws {
        try await withFolder { folder in
            let keys = try await withService(in: folder) {
                String(buffer: try await $0.get("/.well-known/jwks.json").body)
            }
            for name in ["signing-key.json", "access-token.secret", "tenure.sqlite"] {
                let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/" + name)
                #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600, "\(name)")
            }
            let again = try await withService(in: folder) {
                String(buffer: try await $0.get("/.well-known/jwks.json").body)
            }
            #expect(keys == again)
            #expect(!keys.contains("\"d\"") && !keys.contains("PRIVATE"))
        }
    }

    @Test func `a service doesn't start with a key that other users can read`() async throws {
        try await withFolder { folder in
            try await withService(in: folder) { _ in }
            let path = folder + "/signing-key.json"
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
            let configuration = try Calculator.configuration(folder)
            let error = await #expect(throws: ServiceError.self) { try await TenureService(configuration) }
            #expect(error?.description.contains("chmod 600") == true)
        }
    }

    @Test func `a service doesn't start with a damaged key`() async throws {
        try await withFolder { folder in
            try await withService(in: folder) { _ in }
            let path = folder + "/signing-key.json"
            #expect(
                FileManager.default.createFile(
                    atPath: path, contents: Data("lost".utf8), attributes: [.posixPermissions: 0o600]))
            let configuration = try Calculator.configuration(folder)
            let error = await #expect(throws: ServiceError.self) { try await TenureService(configuration) }
            guard case .keyFile? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            // No new key takes the place of the damaged one, which may be repaired.
            #expect(FileManager.default.contents(atPath: path) == Data("lost".utf8))
        }
    }

    @Test func `a service with keys but no database starts only with the option for a new database`() async throws {
        try await withFolder { folder in
            try await withService(in: folder) { _ in }
            for suffix in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: folder + "/tenure.sqlite" + suffix)
            }
            var configuration = try Calculator.configuration(folder)
            let error = await #expect(throws: ServiceError.self) { try await TenureService(configuration) }
            #expect(error?.description.contains("--new-database") == true)
            #expect(configuration.findings.contains { $0 == error })
            #expect(!FileManager.default.fileExists(atPath: folder + "/tenure.sqlite"))
            configuration.createsDatabase = true
            #expect(configuration.findings.isEmpty)
            try await TenureService(configuration).store.close()
            let again = await #expect(throws: ServiceError.self) { try await TenureService(configuration) }
            #expect(again?.description.contains("exists already") == true)
        }
    }

    @Test func `a service finds its customers again after a restart`() async throws {
        try await withFolder { folder in
            let request = SyncRequest(appTransaction: try Calculator.minter().text(.appTransaction))
            let before = try await withService(in: folder) { try await $0.sync(request) }
            let token = try #require(before.accessToken?.value)
            let after = try await withService(in: folder) { try await $0.customer(token) }
            #expect(after.id == before.id)
            #expect(after.entitlements == before.entitlements)
        }
    }

    @Test func `a service that listens beyond loopback needs Apple's trust anchors, an admin key and TLS`() throws {
        var configuration = try Calculator.configuration("/tmp")
        for host in ["127.0.0.1", "::1", "localhost", "127.8.8.8"] {
            configuration.host = host
            #expect(configuration.mistakes.isEmpty, "\(host)")
        }
        for host in ["0.0.0.0", "::", "192.168.1.1", "example.com", "127.0.0.1.example.com"] {
            configuration.host = host
            #expect(configuration.mistakes.first == .testAnchorsBeyondLoopback(host: host), "\(host)")
        }
        configuration.host = "0.0.0.0"
        configuration.allowsTestAnchorsBeyondLoopback = true
        #expect(configuration.mistakes.first == .noAdminKey(host: "0.0.0.0"))
        configuration.allowsTestAnchorsBeyondLoopback = false
        configuration.anchors = [.production: .apple]
        #expect(configuration.mistakes.first == .noAdminKey(host: "0.0.0.0"))
        configuration.adminKey = "secret"
        #expect(configuration.mistakes.first == .invalidAdminKey)
        configuration.adminKey = AdminClient.adminKey
        #expect(configuration.mistakes.first == .noTransportSecurity(host: "0.0.0.0"))
        configuration.proxies = [try #require(AddressBlock("127.0.0.1"))]
        #expect(configuration.mistakes.isEmpty)
    }

    @Test func `a service behind a proxy needs Apple's trust anchors and an admin key, even on loopback`() throws {
        var configuration = try Calculator.configuration("/tmp")
        configuration.proxies = [try #require(AddressBlock("127.0.0.1"))]
        #expect(configuration.mistakes.first == .testAnchorsBeyondLoopback(host: "127.0.0.1"))
        configuration.allowsTestAnchorsBeyondLoopback = true
        #expect(configuration.mistakes.first == .noAdminKey(host: "127.0.0.1"))
        configuration.adminKey = AdminClient.adminKey
        #expect(configuration.mistakes.isEmpty)
    }

    @Test func `a service for production needs the app's Apple ID`() throws {
        var configuration = try Calculator.configuration("/tmp", policy: Calculator.policy(appleID: nil))
        #expect(configuration.mistakes.first == .productionNeedsAppleID)
        configuration.anchors[.production] = nil
        #expect(configuration.mistakes.isEmpty)
        configuration.anchors = [:]
        #expect(configuration.mistakes.first == .noEnvironment)
    }

    @Test(arguments: [
        ("host=db user=ada", ConnectionString.objection), ("mysql://db/shop", "a URL of an unknown kind"),
    ])
    func `a database that is neither a URL of PostgreSQL nor a path is refused before the service starts`(
        database: String, words: String
    ) throws {
        var configuration = try Calculator.configuration("/tmp")
        configuration.databasePath = database
        configuration.keysFolder = "/tmp"
        #expect(configuration.mistakes.count == 1)
        #expect(configuration.mistakes.first?.description.contains(words) == true, "\(configuration.mistakes)")
    }

    @Test func `a service with a database server needs a folder of keys`() throws {
        var configuration = try Calculator.configuration("/tmp")
        configuration.databasePath = "postgresql://db/shop"
        #expect(configuration.mistakes == [.noKeysFolder])
        configuration.keysFolder = "/tmp"
        #expect(configuration.mistakes.isEmpty)
    }

    @Test func `a service that can't start reports the reason in one line`() async throws {
        let nowhere = try Calculator.configuration("/no/such/folder")
        let error = await #expect(throws: ServiceError.self) { try await TenureService(nowhere) }
        #expect(error?.description.contains("/no/such/folder/tenure.sqlite") == true)
        #expect(error?.description.contains("\n") == false)
        var configuration = nowhere
        configuration.port = 70_000
        #expect(configuration.mistakes.first == .invalidPort(70_000))
        let unreadable = #expect(throws: ServiceError.self) {
            try ServiceConfiguration.readPolicy(at: "/no/such/policy.yaml")
        }
        #expect(
            unreadable
                == .unreadablePolicy(
                    path: "/no/such/policy.yaml", detail: "there is no such file; check the path"))
    }

    @Test func `a service doesn't start on a port that is in use, and the error contains the port`() async throws {
        try await withFolder { folder in
            let application = try await buildApplication(
                configuration: try Calculator.configuration(folder), logger: Calculator.logger)
            try await application.test(.live) { http in
                let port = try #require(http.port)
                let second = try Calculator.configuration(folder, port: port)
                let error = await #expect(throws: ServiceError.self) {
                    try await serve(configuration: second, logger: Calculator.logger)
                }
                #expect(error == .portInUse(host: "127.0.0.1", port: port))
            }
        }
    }

    @Test func `a service refuses a policy file with mistakes, and lists each mistake`() async throws {
        try await withFolder { folder in
            let path = folder + "/policy.yaml"
            try Data("app: { bundleID: com.example.calculator }\neras: nothing\n".utf8)
                .write(to: URL(fileURLWithPath: path))
            let error = #expect(throws: ServiceError.self) { try ServiceConfiguration.readPolicy(at: path) }
            guard case .brokenPolicy(let mistakes)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(mistakes.contains { $0.hasPrefix(path + ":2:") }, "\(mistakes)")
            #expect(mistakes.allSatisfy { $0.hasPrefix(path + ":") })
        }
    }

    @Test func `a service reads a policy's release list from the policy's folder or from an absolute path`()
        async throws
    {
        try await withFolder { folder in
            let policy = folder + "/policy.yaml"
            func write(_ text: String, to name: String) throws {
                try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/" + name))
            }
            func read(naming list: String) throws -> Policy {
                try write(
                    """
                    app: { bundleID: com.example.calculator, appleID: 828838134 }
                    eras:
                      - { name: paid, model: paid }
                      - { name: free, model: free, begins: { iOS: { build: "120", at: 2026-06-10T18:00:00Z } }, changeover: none }
                    buildNumbers: increasing
                    releases: \(list)
                    entitlements:
                      everything: { honors: [paid] }

                    """, to: "policy.yaml")
                return try ServiceConfiguration.readPolicy(at: policy)
            }
            try write(
                "platform,version,build,releasedAt\niOS,1.0,100,2025-01-10\niOS,2.0,120,2026-06-10\n", to: "list.csv")
            #expect(try read(naming: "list.csv").releases.count == 2)
            #expect(try read(naming: folder + "/list.csv").releases.count == 2)
            try write(String(repeating: "#", count: (16 << 20) + 1), to: "large.csv")
            for (list, reason) in [
                ("none.csv", "there is no such file"), (".", "is a directory"),
                ("large.csv", "the file has more than 16777216 bytes"),
            ] {
                let error = #expect(throws: ServiceError.self, "\(list)") { try read(naming: list) }
                #expect(error?.description.contains("`\(list)` can't be read (\(reason))") == true, "\(error)")
            }
            let error = #expect(throws: ServiceError.self) { try ServiceConfiguration.readPolicy(at: folder) }
            #expect(error?.description.contains("is a directory") == true)
        }
    }

    @Test func `a started service responds over a socket`() async throws {
        try await withFolder { folder in
            let application = try await buildApplication(
                configuration: try Calculator.configuration(folder), logger: Calculator.logger)
            try await application.test(.live) { http in
                let client = Client(http: http)
                let answer = try await client.sync(
                    SyncRequest(appTransaction: try Calculator.minter().text(.appTransaction), transactions: []))
                let token = try #require(answer.accessToken?.value)
                #expect(try await client.customer(token).entitlements == answer.entitlements)
                #expect(try client.problem(try await client.get("/v1/customer")).code == .notAuthenticated)
            }
        }
    }

    @Test func `a check of the settings reports a damaged secret of access tokens`() async throws {
        try await withFolder { folder in
            try await withService(in: folder) { _ in }
            let configuration = try Calculator.configuration(folder)
            #expect(configuration.findings.isEmpty, "\(configuration.findings)")
            try writeSecret("lost", to: folder + "/access-token.secret")
            let findings = configuration.findings.map(\.description)
            #expect(findings.count == 1 && findings[0].contains("access-token.secret"), "\(findings)")
        }
    }

    @Test func `a service's configuration has the bundle ID and the Apple ID of its policy`() throws {
        let configuration = ServiceConfiguration(databasePath: "tenure.sqlite", policy: try Calculator.policy())
        #expect(configuration.app == AppIdentity(bundleID: "com.example.calculator", appAppleID: 828_838_134))
    }
}
