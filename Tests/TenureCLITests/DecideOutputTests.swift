import CommandRunner
import Foundation
import Testing

/// What `tenure decide` writes to standard output and standard error, and with which exit code it ends.
@Suite struct `the output of tenure decide` {
    private let testBed: TestBed
    private let owner: String
    private let newcomer: String
    /// A policy with an entitlement that only products give, and one that no product gives.
    private let policy: String

    init() async throws {
        testBed = try await TestBed()
        owner = try await testBed.mint(
            "app-transaction", "originalApplicationVersion=37", "originalPurchaseDate=2014-05-01")
        newcomer = try await testBed.mint(
            "app-transaction", "originalApplicationVersion=130", "originalPurchaseDate=2016-05-01")
        policy = try testBed.folder.write(
            TestBed.policy + """

                  cloud: { products: [com.example.calculator.cloud] }
                  badge: { honors: [paid] }
                """, to: "three.yaml")
    }

    private func decide(_ arguments: String...) async throws -> Command.Result {
        try await Command.run(["decide", "--policy", policy, "--trust", testBed.authority] + arguments)
    }

    @Test func `tenure decide exits with 3 if any entitlement is undetermined, otherwise with 2 if any is denied`()
        async throws
    {
        // The newcomer may have bought `everything` and `cloud`, and `badge` is denied.
        #expect(try await decide("--incomplete", newcomer).status == 3)
        #expect(try await decide(newcomer).status == 2)
        // The owner has `everything` and `badge`, and didn't buy `cloud`.
        #expect(try await decide(owner).status == 2)
        #expect(try await decide("--incomplete", owner).status == 3)
    }

    @Test func `tenure decide --entitlement shows only these entitlements, and the exit code is about them`()
        async throws
    {
        for (names, status) in [
            (["everything"], 0), (["cloud"], 2), (["badge", "everything"], 0), (["badge", "cloud"], 2),
        ] as [([String], Int32)] {
            let options = names.flatMap { ["--entitlement", $0] }
            let result = try await Command.run(
                ["decide", "--policy", policy, "--trust", testBed.authority, "--json"] + options + [owner])
            let decisions = try #require(try result.json()["decisions"] as? [[String: Any]])
            #expect(Set(decisions.compactMap { $0["entitlement"] as? String }) == Set(names))
            #expect(result.status == status, "\(names)")
        }
        let unknown = try await decide("--entitlement", "clouds", owner)
        #expect(unknown.status == 1 && unknown.output.isEmpty)
        #expect(unknown.errors.contains("no entitlement `clouds`; pass one of `everything`, `cloud`, `badge`"))
    }

    @Test func `tenure decide writes decisions to standard output, and warns of ignored files on standard error`()
        async throws
    {
        let damaged = try await testBed.mint("transaction", options: ["--defect", "foreignSignature"])
        let result = try await decide(owner, damaged, "--entitlement", "everything")
        #expect(result.status == 0)
        #expect(result.output.hasPrefix("everything: granted\n  “everything” is yours permanently"))
        #expect(result.output.contains("\n  - "))
        #expect(result.errors.hasPrefix("warning: `\(damaged)` is ignored: "), "\(result.errors)")
        #expect(result.errors.hasSuffix(" [badSignature]\n"), "\(result.errors)")
        #expect(result.errors.split(separator: "\n").count == 1 && !result.output.contains("warning"))
        // Without an ignored file, standard error stays empty.
        #expect(try await decide(owner).errors.isEmpty)
        let unreadable = try await decide(owner, testBed.folder.url("none").path)
        #expect(unreadable.status == 1 && unreadable.output.isEmpty)
        #expect(unreadable.errors.contains("there is no file"))
    }

    @Test func `tenure decide names the environment of sandbox artifacts, and not that of production`() async throws {
        let sandbox = try await testBed.mint("app-transaction", options: ["--environment", "sandbox"])
        #expect(try await decide(sandbox).output.hasPrefix("in Sandbox\n"))
        #expect(try await !decide(owner).output.contains("Production"))
        let json = try await decide("--json", sandbox).json()
        #expect(json["environment"] as? String == "Sandbox")
    }

    @Test(arguments: ["ProductionSandbox", "ProductionVPPSandbox", "Sandbox"])
    func `tenure decide rejects a receipt of the sandbox if only production is accepted`(type: String) async throws {
        let receipt = try await testBed.mint("receipt", "receipt_type=\(type)")
        #expect(try await decide(receipt).output.hasPrefix("in Sandbox\n"))
        let rejecting = try await decide("--json", "--environment", "production", "--entitlement", "badge", receipt)
        #expect(rejecting.status == 3, "\(rejecting.output)")
        let rejected = try #require(try rejecting.json()["rejected"] as? [[String: Any]])
        #expect(rejected.map { $0["code"] as? String } == ["wrongEnvironment"])
    }

    @Test func `tenure decide uses each line of a file of JWS, and names the line of a rejected one`() async throws {
        let bought = try await testBed.mint("transaction", "productId=com.example.calculator.cloud")
        let damaged = try await testBed.mint("transaction", options: ["--defect", "flippedSignatureBit"])
        let lines = try [newcomer, damaged, bought].map {
            try String(contentsOfFile: $0, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
        }
        let file = try testBed.folder.write(lines.joined(separator: "\r\n") + "\n", to: "all.jws")
        let result = try await decide("--json", "--entitlement", "cloud", file)
        #expect(result.status == 0, "\(result.output)")
        let rejected = try #require(try result.json()["rejected"] as? [[String: Any]])
        #expect(rejected.map { $0["file"] as? String } == ["\(file):2"])
        #expect(rejected.first?["code"] as? String == "badSignature")
    }

    @Test func `tenure decide denies nothing that a rejected file may have proven`() async throws {
        let bought = try await testBed.mint("transaction", "productId=com.example.calculator.cloud")
        let jws = try String(contentsOfFile: bought, encoding: .utf8)
        let cut = try testBed.folder.write(String(jws.prefix(900)), to: "cut.jws")
        let damaged = try await testBed.mint("transaction", options: ["--defect", "foreignSignature"])
        let receipt = try await testBed.mint("receipt", options: ["--defect", "tamperedContent"])
        let response = try testBed.folder.write(
            #"{"status":0,"receipt":{"bundle_id":"com.example.calculator","in_app":[]}}"#, to: "response.json")
        for rejected in [cut, damaged, receipt, response] {
            let result = try await decide("--json", "--entitlement", "cloud", newcomer, rejected)
            #expect(result.status == 3, "\(result.output)")
            let decisions = try #require(try result.json()["decisions"] as? [[String: Any]])
            #expect(decisions.first?["nextSteps"] as? [String] == ["purchases"], "\(result.output)")
        }
        // These files can't contain a purchase.
        let app = try await testBed.mint("app-transaction", options: ["--defect", "foreignSignature"])
        let renewal = try await testBed.mint("renewal-info", options: ["--defect", "foreignSignature"])
        let test = try await testBed.mint(
            "notification", "notificationType=TEST", "data.signedTransactionInfo=", "data.signedRenewalInfo=")
        for rejected in [app, renewal, test] {
            let result = try await decide("--json", "--entitlement", "cloud", newcomer, rejected)
            #expect(result.status == 2, "\(result.output)")
            #expect((try result.json()["rejected"] as? [Any])?.count == 1, "\(result.output)")
        }
    }

    @Test func `tenure decide --at in the future accepts artifacts that are signed until then`() async throws {
        let later = try await testBed.mint(
            "app-transaction", "originalApplicationVersion=37", "originalPurchaseDate=2014-05-01",
            "receiptCreationDate=2040-01-01")
        for (date, code) in [
            ("2040-01-02", nil), ("2039-12-30", "outsideValidityPeriod"), ("2016-01-01", "outsideValidityPeriod"),
        ]
            as [(String, String?)]
        {
            let result = try await decide("--json", "--entitlement", "badge", "--at", date, later)
            let rejected = try #require(try result.json()["rejected"] as? [[String: Any]])
            #expect(rejected.first?["code"] as? String == code, "\(date)")
            #expect(result.status == (code == nil ? 0 : 3), "\(date): \(result.output)")
        }
        // An --at in the past doesn't reject what was signed since.
        #expect(try await decide("--at", "2015-01-01", "--entitlement", "badge", owner).status == 0)
    }

    @Test func `tenure decide ignores a response of verifyReceipt, which has no signature`() async throws {
        let response = try testBed.folder.write(
            #"{"status":0,"receipt":{"bundle_id":"com.example.calculator","original_application_version":"37"}}"#,
            to: "response.json")
        let result = try await decide("--json", response)
        #expect(result.status == 3)
        let rejected = try #require(try result.json()["rejected"] as? [[String: Any]])
        #expect(rejected.map { $0["code"] as? String } == ["unsigned"])
        let detail = "a response of verifyReceipt has no signature, so it proves nothing"
        #expect(rejected.first?["detail"] as? String == detail)
    }

    @Test func `tenure decide with a policy with mistakes prints them, and decides nothing`() async throws {
        let wrong = try testBed.folder.write(
            TestBed.policy.replacingOccurrences(of: "honors: [paid]", with: "honors: [payed]"), to: "wrong.yaml")
        let result = try await Command.run("decide", "--policy", wrong, "--trust", testBed.authority, owner)
        #expect(result.status == 1 && result.output.isEmpty)
        #expect(result.errors.contains("wrong.yaml:") && result.errors.contains("payed"), "\(result.errors)")
    }
}
