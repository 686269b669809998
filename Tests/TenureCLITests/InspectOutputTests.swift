import CommandRunner
import Foundation
import Testing

/// The verdict and the fields that `tenure inspect` shows as text, and the options that select an app.
@Suite struct `the output of tenure inspect` {
    @Test func `tenure inspect --app-apple-id rejects artifacts of another app in production, but not in the sandbox`()
        async throws
    {
        let testBed = try await TestBed()
        for kind in ["app-transaction", "notification"] {
            let file = try await testBed.mint(kind)
            let right = try await Command.run(
                "inspect", "--trust", testBed.authority, "--app-apple-id", "828838134", file)
            #expect(right.status == 0, "\(right.output)")
            let wrong = try await Command.run(
                "inspect", "--trust", testBed.authority, "--app-apple-id", "828838135", "--json", file)
            #expect(wrong.status == 2)
            let verification = try #require(try wrong.json()["verification"] as? [String: Any])
            #expect(verification["reason"] as? String == "wrongApp")
            let sandbox = try await testBed.mint(kind, options: ["--environment", "sandbox"])
            let accepted = try await Command.run(
                "inspect", "--trust", testBed.authority, "--app-apple-id", "1", sandbox)
            #expect(accepted.status == 0, "\(accepted.output)")
        }
    }

    @Test func `tenure inspect prints the kind, the verdict, dates and certificates to standard output`() async throws {
        let testBed = try await TestBed()
        let file = try await testBed.mint(
            "app-transaction", "originalPurchaseDate=2014-05-01T10:00:00Z", "originalApplicationVersion=37")
        let shown = try await Command.run("inspect", "--trust", testBed.authority, file)
        #expect(shown.status == 0 && shown.errors.isEmpty)
        let lines = shown.output.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.prefix(3) == ["app transaction", "verified: Production, under a root that you trust", ""])
        #expect(lines.contains { $0.hasPrefix("  originalPurchaseDate ") && $0.hasSuffix("  2014-05-01T10:00:00Z") })
        #expect(lines.contains("certificates"))
        #expect(lines.count { $0.hasPrefix("    SHA-256 ") } == 3)
        let rejected = try await Command.run("inspect", file)
        #expect(rejected.status == 2 && rejected.errors.isEmpty)
        #expect(rejected.output.hasPrefix("app transaction\nrejected: no trusted root has the name "))
        #expect(rejected.output.split(separator: "\n")[1].hasSuffix(" [untrustedChain]"))
        // The fields of a rejected artifact are shown, too.
        #expect(rejected.output.contains("2014-05-01T10:00:00Z"))
    }

    @Test func `tenure inspect shows the artifacts in a notification, and rejects it for a defect of one of them`()
        async throws
    {
        let testBed = try await TestBed()
        let file = try await testBed.mint("notification")
        let json = try await Command.run("inspect", "--json", "--trust", testBed.authority, file).json()
        let nested = try #require(json["nested"] as? [String: [String: Any]])
        #expect(Set(nested.keys) == ["data.signedTransactionInfo", "data.signedRenewalInfo"], "\(nested.keys)")
        #expect(nested["data.signedTransactionInfo"]?["transactionId"] as? String == "410000000000022")
        let text = try await Command.run("inspect", "--trust", testBed.authority, file).output
        #expect(text.contains("\ndata.signedTransactionInfo\n") && text.contains("\ndata.signedRenewalInfo\n"))
        #expect(text.hasPrefix("notification\nverified: Production, under a root that you trust\n\n"), "\(text)")
        for (defect, code) in [("nestedUnsigned", "unsupportedAlgorithm"), ("nestedOtherSubscription", "malformed")] {
            let wrong = try await testBed.mint("notification", options: ["--defect", defect])
            let result = try await Command.run("inspect", "--json", "--trust", testBed.authority, wrong)
            #expect(result.status == 2, "\(defect)")
            let verification = try #require(try result.json()["verification"] as? [String: Any])
            #expect(verification["reason"] as? String == code, "\(defect)")
        }
    }

    @Test func `--trust names a file with certificates or the folder of a test authority`() async throws {
        let testBed = try await TestBed()
        let file = try await testBed.mint("transaction")
        let roots = testBed.authority + "/roots.pem"
        for path in [testBed.authority, roots, "production=" + roots] {
            #expect(try await Command.run("inspect", "--trust", path, file).status == 0, "\(path)")
        }
        let empty = try testBed.folder.write("no certificate", to: "empty.pem")
        for (path, words) in [
            (testBed.folder.url("none").path, "there is no file"), (empty, "has no certificates that can be trusted"),
            (testBed.folder.path, "roots.pem"),
        ] {
            let result = try await Command.run("inspect", "--trust", path, file)
            #expect(result.status == 1 && result.output.isEmpty && result.errors.contains(words), "\(result.errors)")
        }
    }

    @Test(arguments: [
        ("wrongBundle", "wrongApp"), ("noBundle", "wrongApp"), ("wrongAppAppleID", "wrongApp"),
        ("noAppAppleID", "wrongApp"), ("wrongEnvironment", "wrongEnvironment"), ("noEnvironment", "wrongEnvironment"),
    ])
    func `a minted notification with a defect about its app or environment is rejected for this defect`(
        defect: String, code: String
    ) async throws {
        let testBed = try await TestBed()
        let file = try await testBed.mint("notification", options: ["--defect", defect])
        let result = try await Command.run(
            "inspect", "--json", "--trust", testBed.authority, "--bundle-id", "com.example.calculator",
            "--app-apple-id", "828838134", "--environment", "production", file)
        #expect(result.status == 2, "\(result.output)")
        let verification = try #require(try result.json()["verification"] as? [String: Any])
        #expect(verification["reason"] as? String == code)
    }
}
