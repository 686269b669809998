import CommandRunner
import Foundation
import Testing

/// Options that contradict each other, and values outside their limits: what is wrong, and what to do.
@Suite struct `refused options` {
    private static let sameField = "--platform and --set originalPlatform set the same field; keep one"
    private static let oneSource =
        "`--evidence` can't be combined with `--database` or `--config`; keep one source of customers"
    private static let onlyEvidence = "`--incomplete` and `--rejected` apply only to `--evidence`; remove them"

    private static let cases: [([String], String)] = [
        (["persona", "create", "--name", "x", "--platform", "iOS", "--set", "originalPlatform=iOS"], sameField),
        (
            ["persona", "create", "--name", "x", "--set", "=1"],
            "`=1` isn't a field with a value; write one such as originalAppVersion=37"
        ),
        (
            ["persona", "create", "--name", "x", "--set", "originalAppVersion=1", "--set", "originalAppVersion=1"],
            "`originalAppVersion` is set twice; keep one"
        ),
        (
            ["content", "check", "-", "--policy", "-"],
            "standard input can be read only once; pass the policy's file by name"
        ),
        (
            ["policy", "check", "-", "--releases", "-"],
            "standard input can be read only once; pass the other files by name"
        ),
        (
            ["policy", "check", "p", "--releases", "-", "--against", "-"],
            "standard input can be read only once; pass the other files by name"
        ),
        (
            ["policy", "check", "p", "--map", "Day=model"],
            "--map describes the columns of --releases; pass that file too"
        ),
        (
            ["policy", "check", "p", "--json", "--format", "text"],
            "--json and --format text contradict each other; keep one"
        ),
        (
            ["policy", "check", "p", "--releases", "r", "--map", "=model"],
            "`=model` isn't a mapping; write `column=field` with one of the fields `platform`"
        ),
        (
            ["policy", "sign", "p", "--key", "k", "--counter", "0"],
            "`--counter` must be a whole number between 1 and "
        ),
        (
            ["content", "publish", "c", "--key", "k", "--to", "t", "--counter", "0"],
            "`--counter` must be a whole number between 1 and "
        ),
        (
            ["rehearse", "--policy", "p"],
            "no customers are selected; pass `--evidence FILE`, `--database` or `--config`"
        ),
        (["rehearse", "--policy", "p", "--evidence", "e", "--database", "d"], oneSource),
        (["rehearse", "--policy", "p", "--evidence", "e", "--config", "c"], oneSource),
        (["rehearse", "--policy", "p", "--database", "d", "--incomplete"], onlyEvidence),
        (["rehearse", "--policy", "p", "--config", "c", "--rejected", "r"], onlyEvidence),
        (["rehearse", "--policy", "p", "--evidence", "e", "--allow-rejected", "100.1"], "100.1"),
        (["rehearse", "--policy", "p", "--evidence", "e", "--allow-rejected=-0.1"], "-0.1"),
        (["rehearse", "--policy", "p", "--evidence", "e", "--allow-rejected", "nan"], "nan"),
        (
            ["app-store", "test-notification", "moon", "--policy", "p"],
            "the environment must be `production` or `sandbox`; found `moon`"
        ),
        (
            ["admin-key", "create", "--scope", "read", "--name", "command"],
            "`command` is reserved for the audit trail; choose another name"
        ),
        (
            ["admin-key", "create", "--scope", "read", "--name", "adminKey"],
            "`adminKey` is reserved for the audit trail; choose another name"
        ),
        (
            ["mint", "transaction", "--authority", "a", "--defect", "audience", "--payload", "p"],
            "`--defect` can't be combined with `--set` or `--payload`; remove one of them"
        ),
        (
            ["mint", "transaction", "--authority", "a", "--set", "price"],
            "`price` isn't a field with a value; write field=value"
        ),
    ]

    @Test(arguments: cases) func `wrong usage exits with 64, names the mistake and writes nothing`(
        arguments: [String], words: String
    ) async throws {
        let key = arguments[0] == "persona" ? ["--key-file", "k"] : []
        let result = try await Command.run(arguments + key, removing: ["TENURE_CONFIG"])
        #expect(result.status == 64 && result.output.isEmpty, "\(result)")
        #expect(result.errors.hasPrefix("Error: ") && result.errors.contains(words), "\(result.errors)")
    }

    @Test func `a rehearsal fails if more than the allowed percentage of its lines is rejected`() async throws {
        let testBed = try await TestBed()
        let owner = try await testBed.mint(
            "app-transaction", "originalApplicationVersion=37", "originalPurchaseDate=2014-05-01")
        let jws = try String(contentsOfFile: owner, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
        // Half of the lines are rejected.
        let lines = try testBed.folder.write("\(jws)\nrejected\n", to: "lines")
        for (percentage, status) in [("50", 0), ("50%", 0), ("100", 0), ("49.9", 2), ("0", 2)] as [(String, Int32)] {
            let result = try await Command.run(
                "rehearse", "--policy", testBed.policy, "--trust", testBed.authority, "--evidence", lines,
                "--allow-rejected", percentage, "--rejected", testBed.folder.url("rejected-\(percentage)").path)
            #expect(result.status == status, "\(percentage): \(result.output)\(result.errors)")
        }
    }

    @Test func `a message about a file or a folder names it, and what to do`() async throws {
        let folder = try Folder()
        let published = folder.url("published").path
        try FileManager.default.createDirectory(atPath: published, withIntermediateDirectories: false)
        try folder.write("x", to: "published/catalog.jws")
        let database = try folder.write("", to: "tenure.sqlite")
        let cases = [
            (
                ["content", "list", published, "--key", "nonsense"],
                "`nonsense` is neither a file nor a public key; pass the 86 characters that `tenure policy signing-key` prints"
            ),
            (
                ["database", "check", "--database", database, "--app", "notes"],
                "`--app` is for a configuration file with several apps; leave it out"
            ),
            (
                ["demo", "--folder", folder.path],
                "`\(database)` isn't the database of a demonstration (there is no `\(folder.path)/policy.yaml`); choose another folder with --folder"
            ),
            (
                ["decide", "--policy", folder.url("none.yaml").path],
                "there is no file `\(folder.path)/none.yaml`; check the path"
            ),
        ]
        let before = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        for (arguments, words) in cases {
            let result = try await Command.run(arguments, removing: ["TENURE_CONFIG", "TENURE_DATABASE"])
            #expect(result.status == 1 && result.output.isEmpty && result.errors == "error: \(words)\n", "\(result)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == before)
    }
}
