import CommandRunner
import Foundation
import Testing

/// Which files a command refuses to write, and how large the files may be that it reads.
@Suite struct `input and output files` {
    private let folder: Folder
    private let policy: String

    init() throws {
        folder = try Folder()
        policy = try folder.write(TestBed.policy, to: "policy.yaml")
    }

    /// Runs a command in a shell, in which `$tenure` is the command and `$policy` the policy.
    private func shell(_ script: String) throws -> Command.Result {
        try Tool.run(
            "/bin/sh",
            ["-c", "tenure=$1 policy=$2; cd \"$3\"; \(script)", "sh", Command.executable.path, policy, folder.path])
    }

    @Test func `a command doesn't write to standard output if that is one of its input files`() throws {
        let redirect = "which this command reads; redirect it to another file\n"
        let named = try shell(#""$tenure" policy compile "$policy" >>"$policy""#)
        #expect(named.status == 1 && named.errors == "error: standard output goes to `\(policy)`, \(redirect)")
        let piped = try shell(#""$tenure" policy compile - <"$policy" >>"$policy""#)
        #expect(piped.status == 1 && piped.errors == "error: standard output goes to standard input, \(redirect)")
        #expect(try folder.text("policy.yaml") == TestBed.policy)
        let twice = try shell(#""$tenure" policy compile "$policy" --out out.json --force >>out.json"#)
        #expect(twice.status == 1)
        #expect(
            twice.errors == "error: `out.json` would be written twice; pass a different file for each output\n")
        #expect(try folder.text("out.json").isEmpty)
        // Another file, a pipe and a device aren't inputs.
        let other = try shell(
            #""$tenure" policy compile "$policy" >other.json && "$tenure" policy compile "$policy" | cat"#)
        #expect(other.status == 0 && other.errors.isEmpty)
        #expect(try folder.text("other.json") == other.output && other.output.hasPrefix("{"))
    }

    @Test func `an output that is a folder, a dash or in a missing folder is refused with the reason`() async throws {
        for (output, words) in [
            (folder.path, "`\(folder.path)` is a folder; name a file in it"),
            ("-", "`-` isn't an output file; pass a name, or `./-` for a file with that name"),
            (
                folder.path + "/none/out",
                "`\(folder.path)/none/out` can't be written; check that its folder exists and that you have permission to write"
            ),
            (policy, "`\(policy)` is a file which this command reads; write to another file"),
        ] {
            let result = try await Command.run("policy", "compile", policy, "--out", output, "--force")
            #expect(result.status == 1 && result.output.isEmpty && result.errors == "error: \(words)\n")
        }
        let piped = try await Command.run(
            "policy", "compile", "-", "--out", policy, "--force", input: Data(TestBed.policy.utf8))
        #expect(piped.status == 0, "standard input is another file: \(piped.errors)")
    }

    @Test func `a command reads a file up to its limit, and says what the limit is`() async throws {
        // A statement of an offline root has at most 64 KB. It isn't read as one here, but it isn't too large.
        for (size, isTooLarge) in [(65_536, false), (65_537, true)] {
            let file = try folder.write(String(repeating: "a", count: size), to: "statement")
            let result = try await Command.run("signing-key", "install", file, "--keys", folder.path)
            let words = "`\(file)` is larger than 64 KB, which no valid file of this kind is; check the path"
            #expect(result.status == 1 && (result.errors == "error: \(words)\n") == isTooLarge, "\(result.errors)")
        }
        let text = folder.url("latin")
        try Data([0xE9, 0x0A]).write(to: text)
        let latin = try await Command.run("signing-key", "install", text.path, "--keys", folder.path)
        #expect(latin.status == 1)
        #expect(latin.errors == "error: `\(text.path)` isn't a text file in UTF-8; check the path\n")
        // Opening a pipe would wait for a writer.
        let pipe = folder.url("pipe").path
        try #require(mkfifo(pipe, 0o600) == 0)
        let certificates = try await Command.run("inspect", "--trust", pipe, policy)
        #expect(certificates.status == 1 && certificates.output.isEmpty)
        #expect(certificates.errors == "error: `\(pipe)` is a pipe or a device; name a regular file\n")
    }

    @Test(arguments: [
        (
            ["--environment", "xcode", "file"],
            "`--environment xcode` needs your Xcode's certificate: export it in Xcode"
        ),
        (
            ["--environment", "xcode", "--environment", "production", "--trust", "a.pem", "file"],
            "the environment of `a.pem` is ambiguous; write `--trust xcode=a.pem`, or the name of another environment"
        ),
        (["--environment", "xcode", "--trust", "sandbox=a.pem", "file"], "needs your Xcode's certificate"),
    ])
    func `the environment of Xcode needs a certificate that is for Xcode alone`(
        options: [String], words: String
    ) async throws {
        let result = try await Command.run(["inspect"] + options)
        #expect(result.status == 64 && result.output.isEmpty && result.errors.contains(words), "\(result.errors)")
    }

    @Test func `tenure inspect shows a response of verifyReceipt with its lists, each date once, and long texts cut`()
        async throws
    {
        let (edge, long) = (String(repeating: "e", count: 160), String(repeating: "l", count: 161))
        let response = """
            {"status":0,"environment":"Production","receipt":{"bundle_id":"com.example.calculator",
            "in_app":[{"product_id":"a","purchase_date":"2015-01-01","purchase_date_ms":"1","purchase_date_pst":"2014"}],
            "edge":"\(edge)","long":"\(long)","request_date_ms":"2","flags":[1,true]}}
            """
        let result = try await Command.run("inspect", input: Data(response.utf8))
        #expect(result.status == 2 && result.errors.isEmpty, "\(result.errors)")
        let verdict = "its contents can't be verified; trust them only if you fetched the response from Apple yourself"
        let cut = String(repeating: "l", count: 120) + "… (161 characters)"
        let lines = [
            "response of verifyReceipt", "unsigned: \(verdict)", "", "  status       0", "  environment  Production",
            "  receipt", "    bundle_id        com.example.calculator", "    in_app (1)", "      [0]",
            "        product_id         a", "        purchase_date      2015-01-01", "    edge             \(edge)",
            "    long             \(cut)", "    request_date_ms  2", "    flags (2)", "      1", "      true", "",
        ]
        #expect(result.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) == lines)
    }
}
