import CommandRunner
import Foundation
import TenurePolicyFile
import Testing

@Suite struct `tenure policy sign` {
    private func testBed() async throws -> (folder: Folder, policy: String, key: String, pin: PinnedKey) {
        let folder = try Folder()
        let key = folder.url("policy-key.pem").path
        let made = try await Command.run("policy", "signing-key", key)
        #expect(made.status == 0, "\(made.errors)")
        let pin = try #require(PinnedKey(made.output))
        return (folder, try folder.write(TestBed.policy, to: "policy.yaml"), key, pin)
    }

    @Test func `tenure policy signing-key creates a key once that only its owner can read, and prints the public key`()
        async throws
    {
        let (folder, _, key, pin) = try await testBed()
        let attributes = try FileManager.default.attributesOfItem(atPath: key)
        #expect(attributes[.posixPermissions] as? NSNumber == 0o600)
        let contents = try String(contentsOfFile: key, encoding: .utf8)
        #expect(contents.hasPrefix("-----BEGIN PRIVATE KEY-----"))
        // A second call prints the same public key, and doesn't change the file.
        #expect(try await Command.run("policy", "signing-key", key).output == pin.text + "\n")
        #expect(try String(contentsOfFile: key, encoding: .utf8) == contents)

        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
        let open = try await Command.run("policy", "signing-key", key)
        #expect(open.status == 1 && open.output.isEmpty && open.errors.contains("chmod 600"))
        let nonsense = try folder.write("no key", to: "nonsense.pem")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: nonsense)
        let unreadable = try await Command.run("policy", "signing-key", nonsense)
        let words = "`\(nonsense)` contains no P-256 key in PEM; make one with `tenure policy signing-key`"
        #expect(unreadable.status == 1 && unreadable.errors == "error: \(words)\n", "\(unreadable.errors)")
    }

    @Test func `an app that pinned the key reads the original policy from the file that tenure policy sign wrote`()
        async throws
    {
        let (folder, policy, key, pin) = try await testBed()
        let out = folder.url("tenure-policy.jws").path
        let result = try await Command.run("policy", "sign", policy, "--key", key, "--counter", "7", "--out", out)
        #expect(result.status == 0 && result.errors == "signed with the counter 7\n", "\(result.errors)")
        let signed = try SignedPolicy.verify(
            Data(contentsOf: URL(fileURLWithPath: out)), keys: [pin], bundleID: "com.example.calculator")
        #expect(signed.counter == 7)
        #expect(signed.policy == (try PolicyFile.read(TestBed.policy, named: "policy.yaml")))

        // The default counter is the current time, which rises. Without an output file, the result goes to standard
        // output.
        let next = try await Command.run("policy", "sign", policy, "--key", key)
        let newer = try SignedPolicy.verify(next.output.utf8, keys: [pin], bundleID: nil)
        #expect(newer.counter == Int64(newer.issuedAt.timeIntervalSince1970) && newer.counter > 1_700_000_000)
    }

    @Test func `tenure policy sign refuses a counter that isn't higher than the last, and keeps the existing file`()
        async throws
    {
        let (folder, policy, key, _) = try await testBed()
        let out = folder.url("tenure-policy.jws").path
        #expect(
            try await Command.run("policy", "sign", policy, "--key", key, "--counter", "7", "--out", out).status == 0)
        let before = try Data(contentsOf: URL(fileURLWithPath: out))
        for counter in ["7", "6"] {
            let result = try await Command.run(
                "policy", "sign", policy, "--key", key, "--counter", counter, "--out", out, "--force")
            let words = "the counter \(counter) isn't higher than that of `\(out)`, which is 7; write `--counter 8`"
            #expect(result.status == 1 && result.errors == "error: \(words)\n", "\(result.errors)")
        }
        // A file that isn't a signed policy isn't replaced either.
        let foreign = try folder.write("notes", to: "notes.txt")
        let result = try await Command.run("policy", "sign", policy, "--key", key, "--out", foreign, "--force")
        #expect(result.status == 1)
        let start = "error: `\(foreign)` isn't an earlier policy of this app, signed with this key ("
        #expect(result.errors.hasPrefix(start), "\(result.errors)")
        #expect(result.errors.hasSuffix("), so it isn't replaced; remove it, or write to another file\n"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: out)) == before)
        #expect(try String(contentsOfFile: foreign, encoding: .utf8) == "notes")
    }

    @Test func `tenure policy sign refuses a policy with mistakes, and creates no missing key`() async throws {
        let (folder, _, key, _) = try await testBed()
        let unsound = try folder.write(
            TestBed.policy.replacingOccurrences(of: "honors: [paid]", with: "honors: [payed]"), to: "unsound.yaml")
        let out = folder.url("tenure-policy.jws").path
        let result = try await Command.run("policy", "sign", unsound, "--key", key, "--out", out)
        #expect(result.status == 2 && result.errors.contains("unsound.yaml:"))
        #expect(!FileManager.default.fileExists(atPath: out))
        let missing = folder.url("missing.pem").path
        #expect(try await Command.run("policy", "sign", unsound, "--key", missing).status == 1)
        #expect(!FileManager.default.fileExists(atPath: missing))
        #expect(try await Command.run("policy", "sign", unsound, "--key", key, "--counter", "0").status == 64)
    }
}
