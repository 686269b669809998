import CommandRunner
import Foundation
import Testing

@Suite struct `tenure admin-key` {
    @Test func `tenure admin-key shows a new key only once, lists keys without their secrets, and revokes a key`()
        async throws
    {
        let folder = try Folder()
        try await createDatabase(folder.url("tenure.sqlite").path)
        let database = ["--database", folder.url("tenure.sqlite").path]
        let made = try await Command.run(["admin-key", "create", "--scope", "support", "--name", "ada"] + database)
        #expect(made.status == 0, "\(made.errors)")
        let key = made.output.trimmingCharacters(in: .newlines)
        #expect(key.hasPrefix("tenure_key_") && key.count == 59)
        #expect(made.errors.contains("isn't shown again"))

        let listed = try await Command.run(["admin-key", "list", "--json"] + database)
        let keys = try #require(try listed.json()["keys"] as? [[String: Any]])
        #expect(keys.count == 1)
        #expect(keys[0]["name"] as? String == "ada" && keys[0]["scope"] as? String == "support")
        #expect(keys[0]["revokedAt"] is NSNull)
        #expect(!listed.output.contains(key))

        let revoked = try await Command.run(["admin-key", "revoke", "ada"] + database)
        #expect(revoked.status == 0 && revoked.output == "revoked `ada`\n")
        // A key can be revoked once, and its name stays taken.
        for again in [["revoke", "ada"], ["create", "--scope", "read", "--name", "ada"]] {
            #expect(try await Command.run(["admin-key"] + again + database).status == 1, "\(again)")
        }
        #expect(try await Command.run(["admin-key", "list"] + database).output.contains("revoked 20"))
    }

    @Test func `a tenure admin-key command with a mistake prints what is wrong, and changes nothing`() async throws {
        let folder = try Folder()
        let database = ["--database", folder.url("tenure.sqlite").path]
        let missing = try await Command.run(["admin-key", "list"] + database)
        #expect(missing.status == 1 && missing.errors.contains("there is no database"))
        #expect(!FileManager.default.fileExists(atPath: folder.url("tenure.sqlite").path))

        let create = ["admin-key", "create", "--scope", "read", "--name", "ada"] + database
        let key = folder.url("ada.key").path
        let mistyped = try await Command.run(create + ["--out", key])
        #expect(mistyped.status == 1 && mistyped.errors.contains("there is no database"), "\(mistyped.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)

        try await createDatabase(folder.url("tenure.sqlite").path)
        _ = try await Command.run(create)
        let taken = try await Command.run(["admin-key", "create", "--scope", "admin", "--name", "ada"] + database)
        #expect(taken.status == 1 && taken.output.isEmpty)
        #expect(
            taken.errors
                == "error: the name `ada` is taken; names of revoked keys can't be used again, so choose another\n")
        let unknown = try await Command.run(["admin-key", "revoke", "boris"] + database)
        #expect(unknown.status == 1 && unknown.output.isEmpty)
        #expect(
            unknown.errors == "error: there is no valid key `boris`; `tenure admin-key list` shows all keys\n")
        for name in ["adminKey", "command", "a b", "", String(repeating: "n", count: 65), "ä"] {
            let refused = try await Command.run(["admin-key", "create", "--scope", "read", "--name", name] + database)
            #expect(refused.status == 64, "\(name)")
        }
        // The key itself in place of its name.
        let secret = try await Command.run("admin-key", "generate").output.trimmingCharacters(in: .newlines)
        for arguments in [["create", "--scope", "read", "--name", secret], ["revoke", secret], ["list", secret]] {
            let refused = try await Command.run(["admin-key"] + arguments + database)
            #expect(refused.status != 0 && !(refused.output + refused.errors).contains(secret), "\(refused.errors)")
        }
        #expect(
            try await Command.run(["admin-key", "create", "--scope", "root", "--name", "x"] + database).status == 64)
        // There is still only the first key, with its scope.
        let listed = try await Command.run(["admin-key", "list", "--json"] + database)
        let keys = try #require(try listed.json()["keys"] as? [[String: Any]])
        #expect(keys.count == 1 && keys[0]["name"] as? String == "ada" && keys[0]["scope"] as? String == "read")
        #expect(keys[0]["revokedAt"] is NSNull)
    }

    @Test func `tenure admin-key writes a key to a new file that only its owner can read`() async throws {
        let folder = try Folder()
        try await createDatabase(folder.url("tenure.sqlite").path)
        let database = ["--database", folder.url("tenure.sqlite").path]
        func create(_ name: String, at path: String) async throws -> Command.Result {
            try await Command.run(["admin-key", "create", "--scope", "read", "--name", name, "--out", path] + database)
        }
        let path = folder.url("ada.key").path
        let made = try await create("ada", at: path)
        #expect(made.status == 0 && made.output.isEmpty && made.errors == "made `\(path)`\n", "\(made.errors)")
        let key = try folder.text("ada.key")
        #expect(key.hasPrefix("tenure_key_") && key.hasSuffix("\n") && !made.errors.contains("tenure_key_"))
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)

        // A link to a missing file could lead to a file of another user, so the command refuses it.
        let link = folder.url("link.key").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.url("nowhere").path)
        for place in [path, link, folder.url("no folder/x").path] {
            let refused = try await create("boris", at: place)
            #expect(refused.status == 1, "\(place)")
        }
        #expect(try folder.text("ada.key") == key)
        // The name can still be used, because nothing was stored.
        #expect(try await create("boris", at: folder.url("boris.key").path).status == 0)
        let taken = folder.url("taken.key").path
        #expect(try await create("boris", at: taken).status == 1)
        #expect(!FileManager.default.fileExists(atPath: taken))
        let generated = try await Command.run("admin-key", "generate", "--out", link)
        #expect(generated.status == 1 && generated.errors.contains("exists already"), "\(generated.errors)")
    }
}
