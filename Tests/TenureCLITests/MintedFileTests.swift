import CommandRunner
import Foundation
import Testing

/// The files and the standard output of `tenure mint`.
@Suite struct `the files of tenure mint` {
    private func bytes(_ file: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: file))) }

    @Test func `a receipt is DER in a file, Base64 on standard output, and otherwise in the form of --form`()
        async throws
    {
        let testBed = try await TestBed()
        let printed = try await Command.run("mint", "receipt", "--authority", testBed.authority)
        #expect(printed.status == 0 && printed.errors.isEmpty)
        #expect(Data(base64Encoded: printed.output.trimmingCharacters(in: .newlines))?.first == 0x30)
        let forms: [(options: [String], start: [UInt8])] = [
            ([], [0x30, 0x82]), (["--form", "der"], [0x30, 0x82]), (["--form", "ber"], [0x30, 0x80]),
            (["--form", "base64"], Array("MI".utf8)),
        ]
        for (options, start) in forms {
            let file = try await testBed.mint("receipt", options: options)
            #expect(try bytes(file).starts(with: start), "\(options)")
            #expect(try await Command.run("inspect", "--trust", testBed.authority, file).status == 0, "\(options)")
        }
        #expect(
            try await Command.run("mint", "receipt", "--authority", testBed.authority, "--form", "pem").status == 64)
    }

    @Test func `--environment and --device-id of tenure mint are in the artifact`() async throws {
        let testBed = try await TestBed()
        let device = "5f1c36a4-7d0b-4d0e-9d3f-0a3a2f6f1c11"
        for (kind, name) in [("app-transaction", "receiptType"), ("transaction", "environment")] {
            let file = try await testBed.mint(kind, options: ["--environment", "sandbox", "--device-id", device])
            let json = try await Command.run("inspect", "--json", "--trust", testBed.authority, file).json()
            let payload = try #require(json["payload"] as? [String: Any])
            #expect(payload[name] as? String == "Sandbox")
            #expect((json["verification"] as? [String: Any])?["status"] as? String == "verified")
        }
        let receipt = try await testBed.mint("receipt", options: ["--environment", "sandbox"])
        let json = try await Command.run("inspect", "--json", "--trust", testBed.authority, receipt).json()
        #expect((json["payload"] as? [String: Any])?["receipt_type"] as? String == "ProductionSandbox")
    }

    @Test
    func `--set accepts an instant as a day, in RFC 3339 and in milliseconds, and an empty value removes a field`()
        async throws
    {
        let testBed = try await TestBed()
        for text in ["2014-05-01", "2014-05-01T00:00:00Z", "1398902400000"] {
            let file = try await testBed.mint("app-transaction", "originalPurchaseDate=\(text)", "preorderDate=")
            let json = try await Command.run("inspect", "--json", file).json()
            let payload = try #require(json["payload"] as? [String: Any])
            #expect(payload["originalPurchaseDate"] as? Int == 1_398_902_400_000, "\(text)")
            #expect(payload["preorderDate"] == nil)
        }
        let wrong = try await Command.run(
            "mint", "app-transaction", "--authority", testBed.authority, "--set", "originalPurchaseDate=May")
        #expect(wrong.status == 1 && wrong.output.isEmpty && wrong.errors.contains("`May`"), "\(wrong.errors)")
    }

    @Test func `tenure mint authority --force replaces an authority, and its earlier artifacts become invalid`()
        async throws
    {
        let testBed = try await TestBed()
        let file = try await testBed.mint("transaction")
        #expect(try await Command.run("inspect", "--trust", testBed.authority, file).status == 0)
        let roots = try bytes(testBed.authority + "/roots.pem")
        let kept = try await Command.run("mint", "authority", testBed.authority)
        #expect(kept.status == 1)
        #expect(try bytes(testBed.authority + "/roots.pem") == roots)
        let replaced = try await Command.run("mint", "authority", testBed.authority, "--force")
        #expect(replaced.status == 0 && replaced.output == "to trust it, pass `--trust \(testBed.authority)`\n")
        #expect(try bytes(testBed.authority + "/roots.pem") != roots)
        #expect(try await Command.run("inspect", "--trust", testBed.authority, file).status == 2)
        let new = try await testBed.mint("transaction")
        #expect(try await Command.run("inspect", "--trust", testBed.authority, new).status == 0)
    }

    @Test func `tenure mint corpus makes the same customers from the same seed, and others from another seed`()
        async throws
    {
        let testBed = try await TestBed()
        func truth(_ name: String, _ options: String...) async throws -> String {
            let result = try await Command.run(
                [
                    "mint", "corpus", "--authority", testBed.authority, "--count", "100", "--out",
                    testBed.folder.url(name).path, "--truth", testBed.folder.url(name + ".json").path,
                ] + options)
            #expect(result.status == 0 && result.output.isEmpty, "\(result.errors)")
            #expect(try testBed.folder.text(name).utf8.count { $0 == UInt8(ascii: "\n") } == 100)
            return try testBed.folder.text(name + ".json")
        }
        let first = try await truth("a", "--seed", "7")
        #expect(try await truth("b", "--seed", "7") == first)
        #expect(try await truth("c", "--seed", "8") != first)
        // The default seed is 1.
        #expect(try await truth("d") == (try await truth("e", "--seed", "1")))
    }

    @Test
    func `tenure mint corpus writes to standard output for -, makes no line for 0, and refuses a negative number`()
        async throws
    {
        let testBed = try await TestBed()
        func corpus(_ count: String, _ out: String) async throws -> Command.Result {
            try await Command.run(
                "mint", "corpus", "--authority", testBed.authority, "--count=\(count)", "--out", out)
        }
        let printed = try await corpus("3", "-")
        #expect(printed.status == 0 && printed.output.split(separator: "\n").count <= 3 && !printed.output.isEmpty)
        let none = testBed.folder.url("none.ndjson").path
        #expect(try await corpus("0", none).status == 0)
        #expect(try bytes(none).isEmpty)
        // The file exists, and stays as it is.
        #expect(try await corpus("3", none).status == 1)
        #expect(try bytes(none).isEmpty)
        let negative = try await corpus("-1", testBed.folder.url("negative").path)
        #expect(negative.status == 64 && negative.errors.contains("can't be negative"))
        #expect(!FileManager.default.fileExists(atPath: testBed.folder.url("negative").path))
        let truth = try await Command.run(
            "mint", "corpus", "--authority", testBed.authority, "--count", "3", "--out", none, "--truth", none,
            "--force")
        #expect(truth.status == 1 && truth.errors.contains("would be written twice"), "\(truth.errors)")
    }
}
