import CommandRunner
import Foundation
import Testing

/// The files, the exit codes and the selection of evidence of `tenure rehearse`.
@Suite struct `the output of a rehearsal` {
    private let testBed: RehearsalTestBed
    private let old: String
    /// A policy under which owners lose the entitlement.
    private let stricter: String

    init() async throws {
        testBed = try await RehearsalTestBed()
        old = try testBed.write(RehearsalTestBed.policy(), to: "old.yaml")
        stricter = try testBed.write(
            RehearsalTestBed.policy(
                entitlements: "  everything: { products: [com.example.calculator.everything] }"),
            to: "stricter.yaml")
    }

    private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    @Test
    func `a rehearsal writes its report even if a condition fails, and no file if it can't begin`()
        async throws
    {
        let evidence = try testBed.evidence([try await testBed.appTransaction("1"), "garbage"])
        let page = testBed.folder.url("report.html").path
        let rejected = testBed.folder.url("bad.ndjson").path
        let options = [
            "rehearse", "--policy", stricter, "--against", old, "--trust", testBed.authority,
            "--evidence", evidence,
            "--allow-rejected", "100", "--report", page, "--rejected", rejected,
        ]
        for (wrong, status) in [
            (["--fail-if", "loss>0"], 1), (["--allow-rejected", "101"], 64), (["--database", "x"], 64),
        ] as [([String], Int32)] {
            let result = try await Command.run(options + wrong)
            #expect(result.status == status && result.output.isEmpty, "\(wrong)")
            #expect(!exists(page) && !exists(rejected), "\(wrong)")
        }
        let failed = try await Command.run(options + ["--fail-if", "lost>0"])
        #expect(failed.status == 2 && failed.errors.isEmpty, "\(failed.errors)")
        #expect(failed.output.contains("fails: the condition `lost>0`"))
        #expect(try String(contentsOfFile: page, encoding: .utf8).contains("Do not ship"))
        #expect(try testBed.folder.text("bad.ndjson").hasPrefix("{\"line\":2,"))
        // Losses alone don't fail a rehearsal.
        #expect(try await Command.run(options + ["--force", "--fail-if", "lost>1"]).status == 0)
        #expect(try await Command.run(options + ["--force"]).status == 0)
    }

    @Test
    func
        `a rehearsal without rejected lines empties the list of an earlier rehearsal, but only with --force`()
        async throws
    {
        let evidence = try testBed.evidence([try await testBed.appTransaction("1")])
        let rejected = try testBed.write("old\n", to: "bad.ndjson")
        let kept = try await testBed.rehearse(old, "--evidence", evidence, "--rejected", rejected)
        #expect(
            kept.status == 1 && kept.output.isEmpty && kept.errors.contains("already exists"),
            "\(kept.errors)")
        #expect(try testBed.folder.text("bad.ndjson") == "old\n")
        #expect(
            try await testBed.rehearse(old, "--evidence", evidence, "--rejected", rejected, "--force")
                .status == 0)
        #expect(try testBed.folder.text("bad.ndjson").isEmpty)
        // Without `--rejected` and rejected lines, no list is made.
        #expect(try await testBed.rehearse(old, "--evidence", evidence).status == 0)
        #expect(!exists(evidence + ".rejected.ndjson"))
    }

    @Test func `a rehearsal decides as of the instant of --at`() async throws {
        let newcomer = try await testBed.appTransaction("1", build: "200", date: "2015-12-01")
        let subscription = try await testBed.mint(
            "transaction",
            [
                "transactionId=9", "originalTransactionId=9", "appTransactionId=1",
                "productId=com.example.calculator.everything", "type=Auto-Renewable Subscription",
                "purchaseDate=2016-01-01", "expiresDate=2017-01-01",
            ])
        let evidence = try testBed.evidence([try RehearsalTestBed.line(newcomer, [subscription])])
        for (date, granted) in [
            ("2016-01-01", 1), ("2016-12-31T23:59:59Z", 1), ("2017-01-01", 0), ("2030-01-01", 0),
        ] {
            let result = try await Command.run(
                "rehearse", "--policy", old, "--trust", testBed.authority, "--json", "--evidence", evidence,
                "--at", date)
            #expect(
                try result.entitlement("everything")["granted"] as? Int == granted,
                "\(date): \(result.errors)")
        }
        #expect(
            try await Command.run("rehearse", "--policy", old, "--evidence", evidence, "--at", "soon")
                .status == 64)
    }

    @Test func `a rehearsal accepts artifacts that are signed until an --at in the future`()
        async throws
    {
        let later = try await testBed.mint(
            "app-transaction",
            [
                "appTransactionId=1", "originalApplicationVersion=37", "originalPurchaseDate=2014-05-01",
                "receiptCreationDate=2040-01-01",
            ])
        let evidence = try testBed.evidence([later])
        for (date, customers) in [("2040-01-02", 1), ("2039-12-30", 0)] {
            let result = try await Command.run(
                "rehearse", "--policy", old, "--trust", testBed.authority, "--json", "--evidence", evidence,
                "--at",
                date, "--allow-rejected", "100")
            #expect(try result.customers("total") == customers, "\(date): \(result.errors)")
        }
    }

    @Test func `a rehearsal uses production artifacts only, unless --environment selects others`()
        async throws
    {
        let sandbox = try await Command.run(
            "mint", "app-transaction", "--authority", testBed.authority, "--environment", "sandbox",
            "--set",
            "appTransactionId=2"
        ).output.trimmingCharacters(in: .newlines)
        let evidence = try testBed.evidence([try await testBed.appTransaction("1"), sandbox])
        for (environments, customers, rejected) in [
            ([], 1, 1), (["production"], 1, 1), (["sandbox"], 1, 1), (["production", "sandbox"], 2, 0),
        ] as [([String], Int, Int)] {
            let result = try await Command.run(
                [
                    "rehearse", "--policy", old, "--trust", testBed.authority, "--json", "--evidence",
                    evidence,
                    "--allow-rejected", "100",
                ] + environments.flatMap { ["--environment", $0] })
            #expect(try result.customers("total") == customers, "\(environments): \(result.errors)")
            let input = try #require(try result.json()["input"] as? [String: Any])
            #expect(input["linesWithRejections"] as? Int == rejected, "\(environments)")
        }
    }
}
