import CommandRunner
import Foundation
import PostgresServer
import TenureJSON
import Testing

/// `tenure signing-key`, as an operator runs it beside running services.
@Suite(.serialized) struct `tenure signing-key` {
    private func run(_ arguments: String..., in folder: Folder) async throws -> Command.Result {
        try await Command.run(["signing-key"] + arguments + ["--keys", folder.path])
    }

    /// The IDs of the keys with their descriptions, oldest first.
    private func listed(in folder: Folder) async throws -> [(id: String, words: String)] {
        let result = try await run("list", in: folder)
        #expect(result.status == 0, "\(result.errors)")
        return result.output.split(separator: "\n").filter { $0.contains("  created ") }.map {
            (String($0.prefix(43)), String($0.dropFirst(43)))
        }
    }

    private func published(at port: Int) async throws -> [String] {
        let (status, json) = await SoakClient(port: port).get("/.well-known/jwks.json", token: "")
        #expect(status == 200)
        return (json["keys"] as? [[String: Any]] ?? []).compactMap { $0["kid"] as? String }
    }

    /// Waits until a service publishes these keys; false if it doesn't.
    private func publishes(_ ids: [String], at port: Int) async throws -> Bool {
        for _ in 0..<600 {
            if try await published(at: port) == ids { return true }
            try await Task.sleep(for: .milliseconds(50))
        }
        return false
    }

    private func sync(_ testBed: SoakTestBed, at port: Int) async throws -> (keyID: String?, chain: [String]) {
        let id = "704000003000000001"
        let (status, json) = await SoakClient(port: port).post(
            "/v1/sync",
            [
                "appTransaction": try testBed.appTransaction(of: id), "transactions": [String](), "nonce": "1",
                "deviceVerificationID": SoakTestBed.device.uuidString,
            ])
        #expect(status == 200, "\(json)")
        let header = (json["entitlementToken"] as? String)?.split(separator: ".").first.flatMap { Self.object($0) }
        return (
            header?["kid"] as? String, (json["signingKey"] as? [String: Any])?["chain"] as? [String] ?? []
        )
    }

    private static func object(_ segment: Substring) -> [String: Any]? {
        let text = segment.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        let data = Data(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4))
        return data.flatMap { try? JSONSerialization.jsonObject(with: $0) as? [String: Any] }
    }

    @Test func `tenure signing-key rotates the key of a running service on SQLite, and prints the key to pin`()
        async throws
    {
        let testBed = try SoakTestBed()
        let (service, port) = try await testBed.start()
        let first = try #require(try await listed(in: testBed.folder).first)
        #expect(first.words.contains("in use"))
        for _ in 0..<2 {
            let result = try await run("rotate", in: testBed.folder)
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.output.hasPrefix(#"{"crv":"P-256","kty":"EC","x":""#))
            #expect(try await run("list", in: testBed.folder).output.hasSuffix("pin the key in use:\n\(result.output)"))
        }
        let keys = try await listed(in: testBed.folder)
        #expect(keys.count == 3 && keys[0].id == first.id)
        #expect(keys[0].words.contains("apps that pinned it accept new tokens"))
        #expect(try await publishes(keys.map(\.id).reversed(), at: port))
        let (keyID, chain) = try await sync(testBed, at: port)
        #expect(keyID == keys[2].id && chain.count == 2)

        let revoked = try await run("revoke", keys[1].id, in: testBed.folder)
        #expect(revoked.status == 0 && revoked.output == "revoked `\(keys[1].id)`\n")
        #expect(revoked.errors.contains(first.id) && revoked.errors.contains("release an update"))
        #expect(try await publishes([keys[2].id, keys[0].id], at: port))
        #expect(try await listed(in: testBed.folder)[0].words.contains("apps that pinned it reject new tokens"))
        #expect(try await run("revoke", "x", in: testBed.folder).status == 1)
        #expect(await service.end(by: SIGTERM) == 0)
    }

    @Test func `tenure signing-key rotates the key of several services that share a database and a folder of keys`()
        async throws
    {
        let url = try PostgresServer.shared().url("schema=keys_\(UInt32.random(in: .min ... .max))")
        let testBed = try SoakTestBed(database: url)
        var services: [(service: RunningCommand, port: Int)] = []
        for _ in 0..<3 { services.append(try await testBed.start()) }
        #expect(try await run("rotate", in: testBed.folder).status == 0)
        #expect(try await run("rotate", in: testBed.folder).status == 0)
        let keys = try await listed(in: testBed.folder).map(\.id)
        for (_, port) in services {
            #expect(try await publishes(keys.reversed(), at: port))
            let (keyID, chain) = try await sync(testBed, at: port)
            #expect(keyID == keys[2] && chain.count == 2)
        }
        for (service, _) in services { #expect(await service.end(by: SIGTERM) == 0) }
    }

    @Test func `tenure signing-key leaves a working key and the whole chain if it is killed at any moment`()
        async throws
    {
        let testBed = try SoakTestBed()
        let (service, port) = try await testBed.start()
        let first = try #require(try await listed(in: testBed.folder).first).id
        var count = 1
        for round in 0..<14 {
            let command = try RunningCommand(["signing-key", "rotate", "--keys", testBed.folder.path])
            try await Task.sleep(for: .milliseconds(round * 12))
            _ = await command.end(by: SIGKILL)
            let keys = try await listed(in: testBed.folder).map(\.id)
            #expect(keys.first == first && (keys.count == count || keys.count == count + 1))
            count = keys.count
            #expect(try await publishes(keys.reversed(), at: port))
            let (keyID, chain) = try await sync(testBed, at: port)
            #expect(keyID == keys.last && chain.count == keys.count - 1)
        }
        // The next command that isn't killed works, and removes the leftovers.
        #expect(try await run("rotate", in: testBed.folder).status == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: testBed.folder.path)
        #expect(names.filter { $0.hasPrefix("signing-key.json") } == ["signing-key.json"])
        #expect(await service.end(by: SIGTERM) == 0)
        let (again, _) = try await testBed.start()
        #expect(await again.end(by: SIGTERM) == 0)
    }

    @Test func `an offline root signs the keys of a running service and revokes a stolen key`() async throws {
        let testBed = try SoakTestBed()
        let offline = try Folder()
        let (service, port) = try await testBed.start()
        func root(_ arguments: String...) async throws -> Command.Result {
            try await Command.run(["signing-key", "root"] + arguments)
        }
        let file = offline.url("root.json").path
        let publicRoot = try await root("create", file)
        #expect(publicRoot.status == 0, "\(publicRoot.errors)")
        #expect(try await root("create", file).output == publicRoot.output)
        let pinned = try offline.write(publicRoot.output, to: "root-public.json")

        // The key in use gets a period that ends within thirty days.
        let listed = try await run("list", in: testBed.folder).output
        let key = try offline.write(String(listed.split(separator: "\n").last ?? ""), to: "key.json")
        let signed = try await root("sign", file, "--key", key, "--days", "20")
        #expect(signed.status == 0, "\(signed.errors)")
        let statement = try offline.write(signed.output, to: "statement.jwt")
        #expect(try await run("install", statement, in: testBed.folder).errors.contains("--root"))
        let installed = try await run("install", statement, "--root", pinned, in: testBed.folder)
        #expect(installed.status == 0 && installed.output.hasPrefix("the key in use may sign until"))
        #expect(
            try await run("list", in: testBed.folder).output.hasSuffix("pin the offline root:\n\(publicRoot.output)"))

        // The next key waits until the root has signed it.
        let stolen = try #require(try await self.listed(in: testBed.folder).first).id
        let rotation = try await run("rotate", in: testBed.folder)
        #expect(rotation.status == 0 && rotation.errors.contains("root sign"))
        #expect(try await sync(testBed, at: port).keyID == stolen)
        let next = try offline.write(rotation.output, to: "next.json")
        let nextStatement = try offline.write(try await root("sign", file, "--key", next).output, to: "next.jwt")
        let rotated = try await run("install", nextStatement, in: testBed.folder)
        #expect(rotated.status == 0 && rotated.errors.isEmpty, "\(rotated.errors)")
        let end = try #require(
            rotated.output.wholeMatch(of: /the service signs with the new key now, until (\S+)\n/)?.1)
        // The default of `--days` is 180.
        let days = try #require(Date(rfc3339: String(end))).timeIntervalSinceNow / 86_400
        #expect(days > 179.9 && days < 180.01, "\(end)")

        let list = try offline.write(try await root("revoke", file, stolen).output, to: "revocations.jwt")
        let revoked = try await run("install", list, in: testBed.folder)
        #expect(revoked.status == 0 && revoked.output == "revoked: \(stolen)\n", "\(revoked.errors)")
        #expect(revoked.errors.contains("reject new entitlement tokens: \(stolen); release an update"))
        #expect(try await run("install", list, in: testBed.folder).errors.contains("--counter 2"))
        let keys = try await self.listed(in: testBed.folder)
        #expect(keys[0].words.contains("revoked"))
        #expect(try await publishes([keys[1].id], at: port))
        #expect(try await sync(testBed, at: port).keyID == keys[1].id)
        // Without a warning, an operator wouldn't notice that the root has to sign the key that replaces this one.
        let replaced = try await run("revoke", keys[1].id, in: testBed.folder)
        #expect(replaced.status == 0 && replaced.errors.contains("issues no entitlement tokens"), "\(replaced.errors)")
        #expect(replaced.output.hasPrefix("revoked `\(keys[1].id)`\n{"), "\(replaced.output)")
        #expect(replaced.output.contains(#""kty":"EC""#), "\(replaced.output)")
        #expect(await service.end(by: SIGTERM) == 0)

        #expect(try await root("sign", file, "--key", next, "--days", "0").status == 64)
        #expect(try await root("revoke", file, "short").status == 64)
        #expect(try await root("sign", offline.url("none.json").path, "--key", next).status == 1)
    }

    /// A service that has created its key and ended, and a folder with the key's public part in `key.json`.
    private func stoppedService() async throws -> (testBed: SoakTestBed, offline: Folder) {
        let testBed = try SoakTestBed()
        let (service, _) = try await testBed.start()
        #expect(await service.end(by: SIGTERM) == 0)
        let offline = try Folder()
        let listed = try await run("list", in: testBed.folder).output
        try offline.write(String(listed.split(separator: "\n").last ?? ""), to: "key.json")
        return (testBed, offline)
    }

    /// Creates an offline root that signs the key in `key.json`. Returns the root's public key and the statement.
    private func createRoot(
        _ name: String, in offline: Folder, _ options: String...
    ) async throws -> (publicKey: String, statement: String) {
        let (file, key) = (offline.url(name).path, offline.url("key.json").path)
        let created = try await Command.run("signing-key", "root", "create", file)
        let signed = try await Command.run(["signing-key", "root", "sign", file, "--key", key] + options)
        try #require(created.status == 0 && signed.status == 0, "\(created.errors)\(signed.errors)")
        return (created.output, signed.output.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    /// Installs a statement with its root, from `statement.jwt` and `public.json` in the folder `offline`.
    private func install(
        _ root: (publicKey: String, statement: String), from offline: Folder, in folder: Folder
    ) async throws {
        let pinned = try offline.write(root.publicKey, to: "public.json")
        let statement = try offline.write(root.statement, to: "statement.jwt")
        let installed = try await run("install", statement, "--root", pinned, in: folder)
        try #require(installed.status == 0, "\(installed.errors)")
    }

    @Test func `a service warns at its start if the signing period ends within thirty days`()
        async throws
    {
        let (testBed, offline) = try await stoppedService()
        let root = try await createRoot("root.json", in: offline, "--days", "29")
        try await install(root, from: offline, in: testBed.folder)
        let warned = try testBed.launch(logLevel: "warning")
        #expect(try await warned.says("the signing period ends on "))
        #expect(await warned.end(by: SIGTERM) == 0)
    }

    /// Returns the text of a new offline root's file with another counter.
    private func root(_ text: String, counter: Int64) -> String {
        text.replacingOccurrences(
            of: #""counter" ?: ?0"#, with: "\"counter\":\(counter)", options: .regularExpression)
    }

    @Test func `a damaged offline root is refused by each command, and stays as it is`() async throws {
        let folder = try Folder()
        let file = folder.url("root.json").path
        try #require(try await Command.run("signing-key", "root", "create", file).status == 0)
        let whole = try folder.text("root.json")
        let key = try folder.write(
            try await Command.run("signing-key", "root", "create", folder.url("other.json").path).output,
            to: "key.json")
        let cases = [
            ("half of it", String(whole.prefix(whole.count / 2))), ("nothing", "{}"),
            ("no key", whole.replacingOccurrences(of: "BEGIN PRIVATE", with: "BEGIN PUBLIC")),
            ("a negative counter", root(whole, counter: -1)), ("a high counter", root(whole, counter: .max)),
        ]
        for (name, text) in cases {
            try folder.writeSecret(text, to: "root.json")
            let id = String(repeating: "k", count: 43)
            for arguments in [["create", file], ["sign", file, "--key", key], ["revoke", file, id]] {
                let result = try await Command.run(["signing-key", "root"] + arguments)
                #expect(result.status == 1 && result.output.isEmpty, "\(name), \(arguments[0]): \(result.errors)")
                #expect(result.errors.contains("restore it from your backup"), "\(result.errors)")
            }
            #expect(try folder.text("root.json") == text, "\(name)")
        }
    }

    @Test(arguments: [(0 as Int64, true), (Int64.max - 2, true), (Int64.max - 1, false)])
    func `a revocation is refused if the root's file couldn't have the next counter`(
        counter: Int64, isRevocable: Bool
    ) async throws {
        let folder = try Folder()
        let file = folder.url("root.json").path
        let key = try folder.write(
            try await Command.run("signing-key", "root", "create", folder.url("other.json").path).output,
            to: "key.json")
        try #require(try await Command.run("signing-key", "root", "create", file).status == 0)
        let text = root(try folder.text("root.json"), counter: counter)
        try folder.writeSecret(text, to: "root.json")
        for arguments in [["create", file], ["sign", file, "--key", key]] {
            let result = try await Command.run(["signing-key", "root"] + arguments)
            #expect(result.status == 0 && !result.output.isEmpty, "\(arguments[0]): \(result.errors)")
        }
        #expect(try folder.text("root.json") == text)

        let id = String(repeating: "k", count: 43)
        let revoked = try await Command.run("signing-key", "root", "revoke", file, id)
        #expect(revoked.status == (isRevocable ? 0 : 1), "\(revoked.errors)")
        #expect(revoked.errors.contains("restore it from your backup") == !isRevocable, "\(revoked.errors)")
        #expect(revoked.output.isEmpty == !isRevocable)
        let after = try folder.text("root.json")
        if isRevocable {
            let next = after.firstMatch(of: /counter" ?: ?(-?\d+)/).flatMap { Int64($0.1) }
            #expect(after.contains(id) && next == counter + 1)
        } else {
            #expect(after == text)
        }
        // The root can still sign.
        #expect(try await Command.run("signing-key", "root", "sign", file, "--key", key).status == 0)
    }

    @Test
    func `a service doesn't start with a damaged offline root in its key file, and no command changes the file`()
        async throws
    {
        let (testBed, offline) = try await stoppedService()
        let ours = try await createRoot("root.json", in: offline)
        let other = try await createRoot("other.json", in: offline)
        try await install(ours, from: offline, in: testBed.folder)
        let statement = offline.url("statement.jwt").path
        let id = String(repeating: "k", count: 43)
        let list = try await Command.run("signing-key", "root", "revoke", offline.url("root.json").path, id)
        let revocations = try offline.write(list.output, to: "revocations.jwt")
        try #require(try await run("install", revocations, in: testBed.folder).status == 0)

        // Our root's statement about another key doesn't make the key in use trusted.
        let aboutOther = try await Command.run(
            "signing-key", "root", "sign", offline.url("root.json").path,
            "--key", try offline.write(other.publicKey, to: "other-key.json"))
        try #require(aboutOther.status == 0, "\(aboutOther.errors)")

        let sound = try testBed.folder.text("signing-key.json")
        let otherKey = try JSONSerialization.jsonObject(with: Data(other.publicKey.utf8))
        let noStatement = "there is a statement of an offline root, but not the root's public key"
        let foreignList = "the list of revoked keys isn't signed by the offline root"
        let cases: [(changes: [String: Any?], words: String)] = [
            (["root": "root"], "the contents are damaged"),
            (
                ["root": ["kty": "EC", "crv": "P-256", "x": "AAAA", "y": "AAAA"]],
                "the offline root's public key isn't a P-256 key"
            ),
            (["root": nil], noStatement), (["root": nil, "revocations": nil], noStatement),
            (["root": nil, "rootStatement": nil], noStatement), (["root": otherKey], foreignList),
            (["revocations": ours.statement], foreignList),
            (["rootStatement": other.statement], "the offline root's statement isn't valid for the key in use"),
            (
                ["rootStatement": aboutOther.output.trimmingCharacters(in: .whitespacesAndNewlines)],
                "the offline root's statement isn't valid for the key in use"
            ),
            (["root": otherKey, "revocations": nil], "the offline root's statement isn't valid for the key in use"),
        ]
        for (changes, words) in cases {
            let contents = try JSONSerialization.jsonObject(with: Data(sound.utf8))
            var file = try #require(contents as? [String: Any])
            for (name, value) in changes { file[name] = value }
            let data = try JSONSerialization.data(withJSONObject: file)
            try testBed.folder.writeSecret(String(decoding: data, as: UTF8.self), to: "signing-key.json")
            let started = try testBed.launch()
            let port = try await started.port()
            #expect(port == nil, "\(words)")
            if port != nil { started.signal(SIGTERM) }
            #expect(await started.ended() == 1 && started.errors.contains(words), "\(started.errors)")
            #expect(started.errors.contains("restore the file from your backup"), "\(started.errors)")
            for arguments in [["list"], ["rotate"], ["revoke", id], ["install", statement]] {
                let result = try await Command.run(["signing-key"] + arguments + ["--keys", testBed.folder.path])
                #expect(result.status == 1 && result.errors.contains(words), "\(arguments): \(result.errors)")
            }
            #expect(try Data(contentsOf: testBed.folder.url("signing-key.json")) == data)
        }
        try testBed.folder.writeSecret(sound, to: "signing-key.json")
        let (again, _) = try await testBed.start()
        #expect(await again.end(by: SIGTERM) == 0)
    }

    @Test func `tenure signing-key list, rotate and revoke create no key in a folder without a key`() async throws {
        let folder = try Folder()
        for command in [["list"], ["rotate"], ["revoke", "x"]] {
            let result = try await Command.run(["signing-key"] + command + ["--keys", folder.path])
            #expect(result.status == 1 && result.errors.contains("signing-key.json"), "\(command)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
}
