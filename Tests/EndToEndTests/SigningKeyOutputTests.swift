import CommandRunner
import Foundation
import TenureJSON
import Testing

/// What `tenure signing-key` prints, and its options for keys that apps have pinned.
@Suite struct `the output of tenure signing-key` {
    /// A folder of keys that a service has created before it ended.
    private let folder: Folder
    private let offline: Folder

    init() async throws {
        let testBed = try SoakTestBed()
        let (service, _) = try await testBed.start()
        #expect(await service.end(by: SIGTERM) == 0)
        folder = testBed.folder
        offline = try Folder()
    }

    private func run(_ arguments: String...) async throws -> Command.Result {
        try await Command.run(["signing-key"] + arguments + ["--keys", folder.path])
    }

    private func root(_ arguments: String...) async throws -> Command.Result {
        try await Command.run(["signing-key", "root"] + arguments)
    }

    /// The lines of `list`, with `DATE` in place of dates.
    private func listed() async throws -> [String] {
        let result = try await run("list")
        #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
        let text = result.output.replacing(/\d{4}-\d{2}-\d{2}T[0-9:.]+Z/, with: "DATE")
        return text.split(separator: "\n").map(String.init)
    }

    /// Creates an offline root in a new file. Returns the file with its public key.
    private func createRoot(_ name: String) async throws -> (file: String, publicKey: String) {
        let file = offline.url("\(name).json").path
        let created = try await root("create", file)
        try #require(created.status == 0, "\(created.errors)")
        return (file, try offline.write(created.output, to: "\(name)-public.json"))
    }

    /// Lets a root sign a key for a number of days. Returns the file with the statement.
    private func sign(_ key: String, by file: String, days: Int, to name: String) async throws -> String {
        let signed = try await root(
            "sign", file, "--key", try offline.write(key, to: "key.json"), "--days", "\(days)")
        try #require(signed.status == 0 && signed.errors.isEmpty, "\(signed.errors)")
        return try offline.write(signed.output, to: name)
    }

    @Test func `tenure signing-key list and rotate print each key's state, and the key to pin`() async throws {
        let first = try await listed()
        try #require(first.count == 3)
        let id = String(first[0].prefix(43))
        #expect(first[0] == "\(id)  created DATE  in use" && first[1] == "pin the key in use:")
        let rotated = try await run("rotate")
        let second = try await listed()
        try #require(second.count == 4)
        let next = String(second[1].prefix(43))
        #expect(rotated.errors == "the service signs with `\(next)` now; pin it in the next release:\n")
        #expect(rotated.output == second[3] + "\n" && second[3] != first[2])
        #expect(second[0] == "\(id)  created DATE  replaced DATE, apps that pinned it accept new tokens")
        #expect(second[1] == "\(next)  created DATE  in use" && next != id)
        let revoked = try await run("revoke", next)
        #expect(revoked.output == "revoked `\(next)`\n")
        #expect(
            revoked.errors == """
                warning: apps that pinned only these keys, and no offline root, reject new entitlement tokens: \
                \(id), \(next); release an update of those apps with a key from `tenure signing-key list`

                """)
        let third = try await listed()
        #expect(third[0] == "\(id)  created DATE  replaced DATE, apps that pinned it reject new tokens")
        #expect(third[1] == "\(next)  created DATE  revoked DATE" && third[2].hasSuffix("  in use"))
        // A revoked key and an unknown key can't be revoked.
        for (key, words) in [
            (next, "the signing key `\(next)` is revoked already; nothing was changed"),
            ("x", "there is no signing key `x`; `tenure signing-key list` shows all keys"),
        ] {
            let refused = try await run("revoke", key)
            #expect(refused.status == 1 && refused.output.isEmpty && refused.errors.contains(words))
        }
    }

    @Test func `a revocation warns about one or more keys that apps have pinned, once for each key`() async throws {
        /// The line with these keys.
        func warning(_ keys: String) -> String {
            """
            warning: apps that pinned only these keys, and no offline root, reject new entitlement tokens: \(keys); \
            release an update of those apps with a key from `tenure signing-key list`

            """
        }
        func rotated() async throws -> String {
            try #require(try await run("rotate").status == 0)
            let key = try #require(try await listed().last { $0.contains("  created DATE  ") })
            return String(key.prefix(43))
        }
        let first = String(try await listed()[0].prefix(43))
        // The key in use is the only key of the chain.
        let only = try await run("revoke", first)
        #expect(only.output == "revoked `\(first)`\n" && only.errors == warning(first))
        // A key before the key in use.
        let (second, third) = (String(try await listed()[1].prefix(43)), try await rotated())
        let older = try await run("revoke", second)
        #expect(older.output == "revoked `\(second)`\n" && older.errors == warning(second))
        let fourth = try await rotated()
        #expect(try await run("revoke", fourth).errors == warning("\(third), \(fourth)"))
        // Apps that pinned the third key need an update already.
        let outside = try await run("revoke", third)
        #expect(outside.status == 0 && outside.output == "revoked `\(third)`\n" && outside.errors.isEmpty)
    }

    @Test func `the seventeenth key of a chain needs --drop-oldest, which lets apps with the oldest key reject tokens`()
        async throws
    {
        let oldest = String(try await listed()[0].prefix(43))
        for number in 2...16 { #expect(try await run("rotate").status == 0, "key \(number)") }
        let before = try folder.text("signing-key.json")
        let refused = try await run("rotate")
        #expect(refused.status == 1 && refused.output.isEmpty, "\(refused.errors)")
        #expect(refused.errors.contains("the chain has its maximum of 16 keys") && refused.errors.contains(oldest))
        #expect(try folder.text("signing-key.json") == before)
        #expect(try await run("rotate", "--drop-oldest").status == 0)
        let lines = try await listed()
        let states = lines.filter { $0.contains("  created DATE  ") }.map { $0.dropFirst(59) }
        try #require(states.count == 17, "\(lines)")
        #expect(states[0] == "replaced DATE, apps that pinned it reject new tokens")
        #expect(states[1] == "replaced DATE, apps that pinned it accept new tokens" && states[16] == "in use")
    }

    @Test func `a period that the offline root signed ends after the number of days in --days`() async throws {
        let (file, publicKey) = try await createRoot("root")
        let key = try #require(try await listed().last)
        for days in [1, 730] {
            let statement = try await sign(key, by: file, days: days, to: "statement.jwt")
            let installed = try await run("install", statement, "--root", publicKey)
            #expect(installed.status == 0 && installed.errors.isEmpty, "\(installed.errors)")
            let start = "the key in use may sign until "
            #expect(installed.output.hasPrefix(start))
            let text = installed.output.dropFirst(start.count).trimmingCharacters(in: .newlines)
            let end = try #require(Date(rfc3339: text), "\(text)")
            #expect(abs(end.timeIntervalSinceNow - Double(days) * 86_400) < 3600, "\(days) days: \(text)")
            #expect(try await run("list").output.contains("\(installed.output)pin the offline root:\n"))
        }
        for days in ["0", "731", "-1", "one"] {
            let wrong = try await root("sign", file, "--key", publicKey, "--days=\(days)")
            #expect(wrong.status == 64 && wrong.output.isEmpty, "\(days): \(wrong.errors)")
        }
        // IDs of another length, and counters out of range.
        let id = String(repeating: "k", count: 43)
        for wrong in [
            [String(id.dropLast())], [id + "k"], [id, "short"], [id, "--counter", "0"],
            [id, "--counter", "1000000001"],
        ] {
            let result = try await Command.run(["signing-key", "root", "revoke", file] + wrong)
            #expect(result.status == 64 && result.output.isEmpty, "\(wrong)")
        }
        // The root's list of revoked keys names no key of this service.
        let revocation = try await root("revoke", file, id, "--counter", "1000000000")
        #expect(revocation.status == 0, "\(revocation.errors)")
        let list = try offline.write(revocation.output, to: "revocations.jwt")
        let installed = try await run("install", list)
        #expect(installed.status == 0 && installed.errors.isEmpty, "\(installed.errors)")
        #expect(installed.output == "no key of this service is newly revoked\n")
    }

    @Test func `a rotation waits for the offline root, and another root is installed only with --replace-root`()
        async throws
    {
        let (file, publicKey) = try await createRoot("root")
        let key = try #require(try await listed().last)
        let statement = try await sign(key, by: file, days: 20, to: "statement.jwt")
        try #require(try await run("install", statement, "--root", publicKey).status == 0)
        let waiting = try await run("rotate")
        #expect(
            waiting.errors
                == "sign this key with `tenure signing-key root sign`, then run `tenure signing-key install`:\n")
        let lines = try await listed()
        try #require(lines.count == 6, "\(lines)")
        #expect(lines[0].hasSuffix("  in use") && lines[1] == "waiting for the offline root's signature:")
        #expect("\(lines[2])\n" == waiting.output && lines[2] != key)
        #expect(lines[3] == "the key in use may sign until DATE" && lines[4] == "pin the offline root:")
        #expect(try offline.text("root-public.json") == lines[5] + "\n")

        let other = try await createRoot("other")
        let otherStatement = try await sign(key, by: other.file, days: 20, to: "other.jwt")
        let refused = try await run("install", otherStatement, "--root", other.publicKey)
        #expect(
            refused.status == 1 && refused.output.isEmpty && refused.errors.contains("install with `--replace-root`"))
        #expect(try await listed().last == lines[5])
        let replaced = try await run("install", otherStatement, "--root", other.publicKey, "--replace-root")
        #expect(replaced.status == 0, "\(replaced.errors)")
        #expect(try offline.text("other-public.json") == (try await listed().last ?? "") + "\n")
    }
}
