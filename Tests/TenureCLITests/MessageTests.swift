import CommandRunner
import Foundation
import Testing

/// The messages about wrong arguments and files: each says what is wrong, and what to do next.
@Suite struct MessageTests {
    @Test(arguments: [
        ["mint", "authority", ""], ["policy", "check", ""], ["inspect", ""], ["decide", "--policy", "p", ""],
        ["policy", "compile", "p", "--out", ""], ["policy", "compile", "p", "--out="],
        ["database", "check", "--database", ""], ["database", "check", "--config="], ["demo", "--folder", ""],
        ["rehearse", "--policy", "p", "--evidence", ""], ["rehearse", "--policy", "p", "--evidence", "e", "--report="],
        ["mint", "app-transaction", "--authority", ""], ["content", "list", ""], ["signing-key", "list", "--keys", ""],
        ["serve", "--policy", "", "--check"], ["serve", "--policy=", "--check"], ["apps", "list", "--key-file", ""],
        ["local-store", "run", "--folder", ""], ["scenario", "run", ""], ["inspect", "--trust", "", "file"],
    ])
    func `an empty argument or value is wrong usage of every command`(_ arguments: [String]) async throws {
        let result = try await Command.run(arguments)
        #expect(result.status == 64 && result.output.isEmpty, "\(result.output)")
        #expect(result.errors.contains(" is empty; pass a value"), "\(result.errors)")
    }

    @Test func `the message about an empty value names its option`() async throws {
        for (arguments, start) in [
            (["--out", ""], "the argument after `--out` is empty"), (["--out="], "the value of `--out` is empty"),
            ([""], "an argument is empty"),
        ] {
            let result = try await Command.run(["policy", "compile", "policy.yaml"] + arguments)
            #expect(result.errors.contains(start), "\(result.errors)")
        }
    }

    @Test func `an option that ends with = is a path after --`() async throws {
        let path = try await Command.run("inspect", "--", "--x=")
        #expect(path.status == 1 && path.errors.contains("there is no file `--x=`"), "\(path.errors)")
        let empty = try await Command.run("inspect", "--", "")
        #expect(empty.status == 64 && empty.errors.contains(" is empty; pass a value"), "\(empty.errors)")
    }

    @Test func `an empty path after an environment of --trust is wrong usage`() async throws {
        let result = try await Command.run("inspect", "--trust", "sandbox=", "file")
        #expect(result.status == 64, "\(result.errors)")
        #expect(result.errors.contains("the path after `sandbox=` is empty"), "\(result.errors)")
    }

    @Test func `a shell's request for completions may have an empty word`() async throws {
        let result = try await Command.run("---completion", "inspect", "--", "--trust", "")
        #expect(!result.errors.contains(" is empty"), "\(result.errors)")
    }

    @Test func `an empty $TENURE_CONFIG is named in the message`() async throws {
        for command in [["serve", "--check"], ["database", "check"]] {
            let result = try await Command.run(command, environment: ["TENURE_CONFIG": ""])
            #expect(result.status == 1 && result.errors.contains("unset $TENURE_CONFIG"), "\(result.errors)")
        }
    }

    @Test func `an untrusted artifact's message names --trust, and ends with the code`() async throws {
        let testBed = try await TestBed()
        let file = try await testBed.mint("app-transaction", "originalApplicationVersion=37")
        for arguments in [["decide", "--policy", testBed.policy, file], ["inspect", file]] {
            let result = try await Command.run(arguments)
            let text = result.errors + result.output
            #expect(text.contains("no trusted root has the name"), "\(text)")
            #expect(
                text.contains(
                    "; if it's from your test authority, pass that authority's folder with --trust [untrustedChain]\n"
                ), "\(text)")
        }
    }

    @Test func `the message about an untrusted artifact names the option for its kind of signer`() async throws {
        let testBed = try await TestBed()
        let file = try await testBed.mint("transaction")
        let local = try await testBed.mint("transaction", options: ["--environment", "xcode"])
        let xcodeOnly = ["--environment", "xcode", "--trust", testBed.authority]
        let other = testBed.folder.url("other").path
        try #require(try await Command.run("mint", "authority", other).status == 0)
        let testAuthority = "if it's from your test authority, pass that authority's folder with --trust"
        let xcode =
            "if it's from your Xcode, pass `--environment xcode --trust xcode=FILE` with your Xcode's certificate"
        let appStore = "if it's from the App Store, pass `--environment production` or `--environment sandbox`"
        for (options, file, advice) in [
            (["--trust", "sandbox=" + testBed.authority], file, testAuthority), ([], local, xcode),
            (["--environment", "xcode", "--trust", other], local, xcode), (xcodeOnly, file, appStore),
        ] {
            for command in [["decide", "--policy", testBed.policy], ["inspect"]] {
                let result = try await Command.run(command + options + [file])
                let text = result.errors + result.output
                #expect(text.contains("; \(advice) [untrustedChain]\n"), "\(text)")
            }
        }
    }

    @Test(arguments: ["noX5C", "twoCertificates", "namesakeRoot", "unknownCriticalExtension"])
    func `the message about a forged artifact doesn't advise to trust its signer`(_ defect: String) async throws {
        let testBed = try await TestBed()
        let file = try await testBed.mint("transaction", options: ["--defect", defect])
        for command in [["decide", "--policy", testBed.policy], ["inspect"]] {
            let result = try await Command.run(command + ["--trust", testBed.authority, file])
            let text = result.errors + result.output
            #expect(text.contains(" [untrustedChain]\n"), "\(text)")
            #expect(!text.contains("--trust") && !text.contains("--environment"), "\(text)")
        }
    }

    @Test(arguments: ["hello", "test", "hello, text", "everything", "12345"])
    func `tenure decide says that a text isn't an artifact`(_ text: String) async throws {
        let testBed = try await TestBed()
        let result = try await testBed.decide(try testBed.folder.write(text + "\n", to: "text"))
        let rejected = try #require(try result.json()["rejected"] as? [[String: Any]])
        let detail = try #require(rejected.first?["detail"] as? String)
        #expect(rejected.first?["code"] as? String == "malformed" && !detail.contains("canonical"), "\(detail)")
    }

    @Test func `tenure decide without files says that it decided without artifacts`() async throws {
        let testBed = try await TestBed()
        let nothing = try await testBed.decide()
        #expect(nothing.status == 3)
        #expect(
            nothing.errors
                == "warning: no file was passed, so this is the answer for a customer without artifacts; pass the customer's files, or - for standard input\n"
        )
    }

    @Test func `an artifact in place of a file's path is shown only in part`() async throws {
        let testBed = try await TestBed()
        for kind in ["app-transaction", "receipt"] {
            let file = try await testBed.mint(kind, options: kind == "receipt" ? ["--form", "base64"] : [])
            let artifact = String(decoding: try Data(contentsOf: URL(fileURLWithPath: file)), as: UTF8.self)
                .filter { !$0.isWhitespace }
            for arguments in [["decide", "--policy", testBed.policy, artifact], ["inspect", artifact]] {
                let result = try await Command.run(arguments)
                #expect(result.status == 1 && result.errors.utf8.count < 300, "\(result.errors)")
                #expect(result.errors.contains("is an artifact, and not the path of a file"), "\(result.errors)")
            }
            // A statement of an offline root begins like an artifact.
            let installation = try await Command.run("signing-key", "install", artifact)
            #expect(installation.status == 1 && installation.errors.utf8.count < 300, "\(installation.errors)")
            #expect(installation.errors.contains(artifact.prefix(10)), "\(installation.errors)")
            let rehearsal = try await Command.run("rehearse", "--policy", testBed.policy, "--evidence", artifact)
            #expect(rehearsal.status == 1 && rehearsal.errors.utf8.count < 300, "\(rehearsal.errors)")
        }
    }

    @Test func `the message about an invalid date has an example`() async throws {
        for arguments in [
            ["decide", "--policy", "p", "--at", "tomorrow"], ["policy", "check", "p", "--at", "tomorrow"],
            ["rehearse", "--policy", "p", "--evidence", "e", "--at", "tomorrow"],
            ["webhook", "log", "--since", "tomorrow"],
            ["persona", "ready-made", "--key-file", "k", "--expires", "tomorrow"],
        ] {
            let result = try await Command.run(arguments)
            #expect(result.status == 64 && result.errors.contains("write a day such as 2027-01-31"), "\(result.errors)")
        }
    }

    @Test func `an unknown setting's message doesn't call it an option of another command`() async throws {
        for command in [["serve"], ["app-store", "test-notification"]] {
            let result = try await Command.run(command + ["--service", "http://127.0.0.1:1"])
            #expect(result.status == 64, "\(result.errors)")
            let message = "there is no setting `--service`; `tenure serve --help` lists all settings"
            #expect(result.errors.contains(message), "\(result.errors)")
        }
    }

    @Test func `tenure decide and tenure inspect both read a file with the same JWS on two lines`() async throws {
        let testBed = try await TestBed()
        let file = try await testBed.mint(
            "app-transaction", "originalApplicationVersion=37", "originalPurchaseDate=2014-05-01")
        let jws = String(decoding: try Data(contentsOf: URL(fileURLWithPath: file)), as: UTF8.self)
            .filter { !$0.isWhitespace }
        let twice = try testBed.folder.write("\(jws)\r\n\(jws)\n", to: "twice.jws")
        #expect(try await testBed.decide(twice).status == 0)
        let text = try await Command.run("inspect", "--trust", testBed.authority, twice)
        #expect(text.status == 0, "\(text.errors)")
        #expect(text.output.hasPrefix("\(twice):1:\napp transaction\n"), "\(text.output)")
        #expect(text.output.contains("\n\n\(twice):2:\napp transaction\n"), "\(text.output)")
        let json = try await Command.run("inspect", "--json", "--trust", testBed.authority, twice)
        let files = try json.output.split(separator: "\n").map { line in
            try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        }
        #expect(files.map { $0?["file"] as? String } == ["\(twice):1", "\(twice):2"])
    }
}
