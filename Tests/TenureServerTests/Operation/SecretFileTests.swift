import CommandRunner
import Crypto
import Foundation
import TenureFileAttributes
import TenureMint
import Testing

@testable import TenureServer

@Suite struct `secret files` {
    @Test(arguments: [
        (0o600, false, false), (0o400, false, false), (0o700, false, false), (0o640, false, true), (0o604, false, true),
        (0o601, false, true), (0o602, false, true), (0o620, false, true), (0o644, false, true),
        // Root owns these files, as Kubernetes mounts secrets with `fsGroup`.
        (0o640, true, false), (0o440, true, false), (0o600, true, false), (0o660, true, true), (0o620, true, true),
        (0o650, true, true), (0o644, true, true), (0o641, true, true),
    ])
    func `a secret file may be readable by its owner, and by a group only if root owns the file`(
        mode: UInt32, isOwnedByRoot: Bool, isOpen: Bool
    ) {
        #expect(FilePermissions.areOpenToOthers(mode: mode, isOwnedByRoot: isOwnedByRoot) == isOpen)
    }

    @Test func `a secret file is created once, with mode 600, and is never replaced by the next start`() throws {
        let folder = try Folder()
        let file = SecretFile(path: folder.url("key").path)
        let missing = ServiceError.keyFile(path: file.path, detail: "there is no such file; check the path")
        #expect(throws: missing) { try file.existingContents() }
        #expect(!file.exists)
        #expect(try file.contents { [1, 2, 3] } == [1, 2, 3] && file.exists)
        #expect(try file.contents { [4] } == [1, 2, 3])
        let exists = ServiceError.keyFile(
            path: file.path, detail: "the file exists already; choose another path, or remove the file")
        #expect(throws: exists) { try file.make([4]) }
        #expect(try file.existingContents() == [1, 2, 3])
        let other = SecretFile(path: folder.url("other").path)
        try other.make([5])
        #expect(try other.existingContents() == [5])
        for name in ["key", "other"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.url(name).path)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o604], ofItemAtPath: file.path)
        let open = ServiceError.keyFile(
            path: file.path,
            detail: """
                users other than the file's owner have access to it; run `chmod 600` on the file (a group may read it \
                only if root owns it, as in Kubernetes)
                """)
        #expect(throws: open) { try file.contents { [4] } }
        #expect(try file.contentsIfAny(upTo: 3)?.isOpenToOthers == true)
    }

    @Test func `a secret file may have 512 KB or the caller's limit, and a larger file is another kind of file`() throws
    {
        let folder = try Folder()
        let file = SecretFile(path: folder.url("key").path)
        try file.make(Array(repeating: 1, count: 524_288))
        #expect(try file.existingContents().count == 524_288)
        try file.replace(with: Array(repeating: 1, count: 524_289))
        func tooLarge(_ size: Int) -> ServiceError {
            .keyFile(
                path: file.path,
                detail: "the file has more than \(size) bytes, so it is another kind of file; check the path")
        }
        #expect(throws: tooLarge(524_288)) { try file.existingContents() }
        try file.replace(with: [1, 2, 3])
        #expect(try file.existingContents(upTo: 3) == [1, 2, 3])
        #expect(throws: tooLarge(2)) { try file.existingContents(upTo: 2) }
        let none = try SecretFile(path: folder.url("none").path).contentsIfAny(upTo: 3)
        #expect(none?.bytes == nil)
    }

    @Test func `only the temporary files of the same secret file are removed as leftovers`() throws {
        let folder = try Folder()
        let file = SecretFile(path: folder.url("a.json").path)
        try file.make([1])
        let kept = ["a.json.1", "a.json.partial", "a.json.x.partial", "b.json.1.partial", "a.json1.2.partial"]
        for name in kept + ["a.json.1.partial", "a.json.18446744073709551615.partial"] {
            try folder.write("secret", to: name)
        }
        file.removeLeftovers()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.sorted() == (kept + ["a.json"]).sorted())
    }

    @Test func `a rotation through a symbolic link replaces the file to which the link leads`() throws {
        let (folder, other) = (try Folder(), try Folder())
        let (link, real) = (folder.url("signing-key.json"), other.url("real.json"))
        _ = try SigningKeyStore(folder: folder.path).readOrCreate(at: Calculator.now)
        try FileManager.default.moveItem(at: link, to: real)
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: real.path)
        try other.write("secret", to: "real.json.1.partial")
        _ = try SigningKeyAdministration(folder: folder.path).rotate(at: Calculator.now)
        #expect(try SigningKeyFile([UInt8](try Data(contentsOf: real))).keys.count == 2)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == real.path)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["signing-key.json"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: other.path) == ["real.json"])
    }

    @Test func `a symbolic link to a missing file is reported as such, and nothing is written`() throws {
        let folder = try Folder()
        let link = SecretFile(path: folder.url("link").path)
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "nowhere")
        let dangling = ServiceError.keyFile(
            path: link.path, detail: "it is a symbolic link to a file that doesn't exist; correct or remove the link")
        #expect(throws: dangling) { try link.replace(with: [1]) }
        #expect(throws: dangling) { try link.contents { [1] } }
        #expect(throws: dangling) { try link.existingContents() }
        #expect(throws: dangling) { try OfflineRoot(path: link.path).create() }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["link"])
    }

    private func start(
        _ folder: Folder, _ more: [String], environment: [String: String] = [:]
    ) async throws -> Command.Result {
        let policy = try folder.write(
            """
            app: { bundleID: com.example.calculator, appleID: 828838134 }
            eras: [{ name: free, model: free }]
            entitlements: { everything: { products: [com.example.calculator.everything] } }
            """, to: "policy.yaml")
        return try await Command.run(
            ["serve", "--check", "--policy", policy, "--database", folder.url("tenure.sqlite").path] + more,
            environment: environment)
    }

    /// Returns every file with a secret that `serve` reads: its name, its contents, and the arguments with its path.
    private func cases(_ folder: Folder) throws -> [(file: String, contents: String, arguments: [String])] {
        let chain = Calculator.authority.jws
        let certificate = Data(chain.leaf.der).base64EncodedString(options: [.lineLength64Characters])
        let pem = try folder.write(
            "-----BEGIN CERTIFICATE-----\n\(certificate)\n-----END CERTIFICATE-----\n", to: "certificate.pem")
        let key = folder.url("secret").path
        let hooks = try folder.write(
            "webhooks: [{ name: app, url: \"https://example.com/\", secretFile: secret }]", to: "hooks.yaml")
        return [
            ("admin key", KeySecret().text, ["--admin-key-file", key]),
            ("TLS key", chain.leaf.key.pem, ["--tls-certificate", pem, "--tls-key", key]),
            (
                "App Store key", AppStoreClientTestBed.key.pemRepresentation,
                [
                    "--app-store-issuer-id", "i", "--app-store-key-id", "k", "--app-store-private-key-file", key,
                ]
            ),
            ("webhook secret", "a secret of thirty characters!", ["--config", hooks]),
            ("configuration", "database: postgres://ada:canary@host/name\nkeys: .\n", ["--config", key]),
        ]
    }

    @Test func `the service refuses a secret file that other users can read, even through a symbolic link`()
        async throws
    {
        let folder = try Folder()
        for (name, contents, arguments) in try cases(folder) {
            // The file of the previous case belongs to another user.
            for name in ["secret", "real"] { try? FileManager.default.removeItem(at: folder.url(name)) }
            let file = try folder.writeSecret(contents, to: "real")
            try FileManager.default.createSymbolicLink(atPath: folder.url("secret").path, withDestinationPath: file)
            for (mode, isRefused) in [(0o600, false), (0o644, true), (0o604, true)] {
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
                let result = try await start(folder, arguments)
                #expect(result.errors.contains("chmod 600") == isRefused, "\(name) \(mode): \(result.errors)")
                #expect(!result.errors.contains("canary"), "\(result.errors)")
            }
            guard geteuid() == 0 else { continue }
            // The group of a secret file may read the file only if the file belongs to root.
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file)
            #expect(try await !start(folder, arguments).errors.contains("chmod 600"), "\(name)")
            #expect(chown(file, 65_534, 65_534) == 0)
            #expect(try await start(folder, arguments).errors.contains("chmod 600"), "\(name)")
        }
    }

    @Test func `only a secret file in systemd's credentials folder may be readable by other users`() async throws {
        let folder = try Folder()
        let credentials = folder.url("credentials")
        try FileManager.default.createDirectory(at: credentials, withIntermediateDirectories: true)
        let environment = ["CREDENTIALS_DIRECTORY": credentials.path]
        for (name, isRefused) in [("credentials/key", false), ("key", true), ("credentials-of-another", true)] {
            let file = try folder.write(KeySecret().text, to: name)
            try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: file)
            let result = try await start(folder, ["--admin-key-file", file], environment: environment)
            #expect(result.errors.contains("chmod 600") == isRefused, "\(name): \(result.errors)")
        }
    }

    @Test func `a command refuses a --key-file that other users can read`() async throws {
        let folder = try Folder()
        let file = try folder.write(KeySecret().text, to: "key")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        let arguments = ["persona", "list", "--service", "http://127.0.0.1:9", "--key-file", file]
        #expect(try await Command.run(arguments).errors.contains("chmod 600"))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        #expect(try await Command.run(arguments).errors.contains("no service responds"))
        let input = try await Command.run(
            Array(arguments.dropLast()) + ["-"], input: Data((KeySecret().text + "\n").utf8))
        #expect(input.errors.contains("no service responds"), "\(input.errors)")
    }

    /// Runs a command that would wait forever if it opened a pipe without a writer.
    private func run(_ arguments: [String]) async throws -> (status: Int32, errors: String)? {
        let command = try RunningCommand(arguments)
        for _ in 0..<300 where command.isRunning { try await Task.sleep(for: .milliseconds(100)) }
        return command.isRunning ? nil : (await command.ended(), command.errors)
    }

    @Test func `a pipe without a writer in place of a file that the service reads is refused immediately`()
        async throws
    {
        let folder = try Folder()
        let pipe = folder.url("secret").path
        let policy = try folder.write(
            """
            app: { bundleID: com.example.calculator, appleID: 828838134 }
            eras: [{ name: free, model: free }]
            entitlements: { everything: { products: [com.example.calculator.everything] } }
            """, to: "policy.yaml")
        let key = try folder.writeSecret(Calculator.authority.jws.leaf.key.pem, to: "key.pem")
        let database = folder.url("tenure.sqlite").path
        let serve = ["serve", "--check", "--database", database, "--policy"]
        let commands: [(name: String, arguments: [String])] = [
            ("policy", serve + [pipe]), ("trust", serve + [policy, "--trust", pipe]),
            ("TLS certificate", serve + [policy, "--tls-certificate", pipe, "--tls-key", key]),
            ("clock", serve + [policy, "--clock", pipe]),
            ("--key-file", ["persona", "list", "--service", "http://127.0.0.1:9", "--key-file", pipe]),
            ("policy signing key", ["policy", "sign", policy, "--key", pipe, "--out", folder.url("signed").path]),
            ("configuration of a command", ["database", "check", "--config", pipe]),
        ]
        try #require(mkfifo(pipe, 0o600) == 0)
        let secrets = try cases(folder).map { (name: $0.file, arguments: serve + [policy] + $0.arguments) }
        for (name, arguments) in secrets + commands {
            let result = try await run(arguments)
            #expect(result?.status == 1, "\(name): \(result as Any)")
            let names = name == "clock" ? "has no instant" : "is a pipe or a device"
            #expect(result?.errors.contains(names) == true, "\(name): \(result as Any)")
        }
    }

    @Test func `a configuration without a password may be readable by other users`() async throws {
        let folder = try Folder()
        let file = try folder.write("database: postgres://ada@host/name\nkeys: .\n", to: "secret")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        #expect(try await !start(folder, ["--config", file]).errors.contains("chmod 600"))
    }
}
