import CommandRunner
import Foundation
import Testing

/// The counts of a rehearsal, and the conditions under which it fails.
@Suite struct `the rules of a rehearsal` {
    private static let garbage = "e30.e30.AAAA"

    @Test func `a rehearsal without customers fails, and reports how many lines were rejected`() async throws {
        let testBed = try await RehearsalTestBed()
        let policy = try testBed.write(RehearsalTestBed.policy(), to: "policy.yaml")
        for lines in [[], ["", " "], [Self.garbage, "nonsense"]] {
            let result = try await testBed.rehearse(
                policy, "--evidence", try testBed.evidence(lines), "--allow-rejected", "100", "--force")
            #expect(result.status == 2, "\(result.errors)")
            #expect(try result.level == "stop")
            #expect(try result.sentence.contains("no customer was rehearsed"))
            #expect(try result.sentence.contains("2 of 2 lines") == (lines.first == Self.garbage))
            let failures = try #require(try result.json()["failures"] as? [[String: Any]])
            #expect(failures.map { $0["code"] as? String } == ["noCustomers"])
        }
        let database = testBed.folder.url("empty.sqlite").path
        try await createDatabase(database)
        let empty = try await testBed.rehearse(policy, "--database", database)
        #expect(try empty.customers("total") == 0 && empty.status == 2, "\(empty.errors)")
        let text = try await Command.run(["rehearse", "--policy", policy, "--database", database])
        #expect(text.status == 2 && text.output.contains("fails: no customer was rehearsed"))
    }

    @Test func `a rehearsal fails if over 5 percent of its lines have a rejected artifact, unless more are allowed`()
        async throws
    {
        let testBed = try await RehearsalTestBed()
        let policy = try testBed.write(RehearsalTestBed.policy(), to: "policy.yaml")
        let good = try await testBed.appTransaction("1")
        let partly = try RehearsalTestBed.line(try await testBed.appTransaction("2"), [Self.garbage])
        // 1 of 20 is 5 percent. Blank lines don't count.
        let few = try testBed.evidence([partly, "", ""] + Array(repeating: good, count: 19), named: "few")
        let accepted = try await testBed.rehearse(policy, "--evidence", few)
        #expect(accepted.status == 0, "\(accepted.errors)")
        #expect(try accepted.sentence.contains("1 of 20 lines (5.00%) was rejected"))
        let many = try testBed.evidence([partly] + Array(repeating: good, count: 18), named: "many")
        let refused = try await testBed.rehearse(policy, "--evidence", many)
        #expect(refused.status == 2)
        #expect(try refused.level == "stop" && refused.sentence.contains("1 of 19 lines (5.26%)"))
        #expect((try refused.json()["input"] as? [String: Any])?["linesWithRejections"] as? Int == 1)
        #expect(try await testBed.rehearse(policy, "--evidence", many, "--allow-rejected", "5.27%").status == 0)
        #expect(try await testBed.rehearse(policy, "--evidence", many, "--allow-rejected", "5.26").status == 2)
        #expect(try await testBed.rehearse(policy, "--evidence", few, "--allow-rejected", "0").status == 2)
        #expect(try await testBed.rehearse(policy, "--evidence", few, "--fail-if", "rejected>0").status == 2)
        for percent in ["-1", "101", "many"] {
            #expect(try await testBed.rehearse(policy, "--evidence", few, "--allow-rejected=\(percent)").status == 64)
        }
    }

    @Test func `a rehearsal counts customers with contradicting proofs, and --fail-if can use the count`() async throws
    {
        let testBed = try await RehearsalTestBed()
        let policy = try testBed.write(RehearsalTestBed.policy(), to: "policy.yaml")
        // The build is of the paid era, and the date is of the free era. A purchase or the version decides.
        let bought = try RehearsalTestBed.line(
            try await testBed.appTransaction("1", build: "37", date: "2015-12-01"),
            [try await testBed.transaction("9", of: "1")])
        let early = try await testBed.appTransaction("2", build: "200", date: "2014-05-01")
        let plain = try await testBed.appTransaction("3")
        let file = try testBed.evidence([bought, early, plain])
        let result = try await testBed.rehearse(policy, "--evidence", file)
        #expect(try result.customers("contradicting") == 2 && result.status == 0, "\(result.errors)")
        #expect(try result.level == "check")
        #expect(try await testBed.rehearse(policy, "--evidence", file, "--fail-if", "contradicting>1").status == 2)
        #expect(try await testBed.rehearse(policy, "--evidence", file, "--fail-if", "contradicting>2").status == 0)
        #expect(try await testBed.rehearse(policy, "--evidence", file, "--fail-if", "contradicting>66%").status == 2)
        #expect(
            try await testBed.rehearse(policy, "--evidence", file, "--fail-if", "everything.contradicting>0").status
                == 1)
        let text = try await Command.run(
            ["rehearse", "--policy", policy, "--trust", testBed.authority, "--evidence", file])
        #expect(text.output.contains("2 customers (66.7%) have contradicting proofs"))
    }

    @Test func `tenure decide and tenure rehearse agree about an owner who bought the app again after a refund`()
        async throws
    {
        let testBed = try await RehearsalTestBed()
        let policy = try testBed.write(RehearsalTestBed.policy(), to: "policy.yaml")
        func signed(_ date: String, _ more: [String] = []) async throws -> String {
            try await testBed.mint(
                "app-transaction",
                [
                    "appTransactionId=704", "originalApplicationVersion=37", "originalPurchaseDate=2014-05-01",
                    "originalPlatform=iOS", "receiptCreationDate=\(date)",
                ] + more)
        }
        // The second artifact has the refund, and the third artifact proves the new purchase. Two later artifacts
        // follow.
        let artifacts = [
            try await signed("2015-05-01"), try await signed("2015-05-11", ["revocationDate=2015-05-10"]),
            try await signed("2015-05-20"), try await signed("2015-06-30"), try await signed("2015-07-01"),
        ]
        let files = try artifacts.enumerated().map { try testBed.write($0.element, to: "\($0.offset).jws") }
        let decided = try await Command.run(
            ["decide", "--policy", policy, "--trust", testBed.authority, "--at", "2016-01-01", "--json"] + files)
        let decisions = try #require(try decided.json()["decisions"] as? [[String: Any]])
        let reasons = try #require(decisions.first?["reasons"] as? [[String: Any]])
        #expect(decisions.first?["outcome"] as? String == "granted")
        #expect(reasons.first?["code"] as? String == "boughtAgain")
        for lines in [artifacts, artifacts.reversed()] {
            let file = try testBed.evidence(
                try lines.map { try RehearsalTestBed.line(id: "1", $0) }, named: UUID().uuidString)
            let rehearsed = try await testBed.rehearse(policy, "--evidence", file)
            #expect(try rehearsed.customers("total") == 1, "\(rehearsed.errors)")
            #expect(try rehearsed.entitlement("everything")["granted"] as? Int == 1)
        }
    }

    @Test func `evidence lines with the same ID are one customer, unless the ID has more than ten accounts`()
        async throws
    {
        let testBed = try await RehearsalTestBed()
        let policy = try testBed.write(RehearsalTestBed.policy(), to: "policy.yaml")
        func lines(_ accounts: Int, id: String) async throws -> [String] {
            var lines: [String] = []
            for number in 1...accounts {
                // The first account has paid. The best account of a customer counts.
                let proof = try await testBed.appTransaction(
                    "\(number)", build: number == 1 ? "37" : "300", date: number == 1 ? "2014-05-01" : "2015-12-01")
                lines.append(try RehearsalTestBed.line(id: id, proof))
            }
            lines.append(
                try RehearsalTestBed.line(
                    id: id, nil, [try await testBed.transaction("90", of: nil, product: "com.example.calculator.coins")]
                ))
            return lines
        }
        let ten = try await testBed.rehearse(
            policy, "--evidence", try testBed.evidence(try await lines(10, id: "ada"), named: "ten"))
        #expect(try ten.customers("total") == 1)
        #expect(try ten.entitlement("everything")["granted"] as? Int == 1)
        #expect(((try ten.json()["input"] as? [String: Any])?["anonymousIDs"] as? [Any])?.isEmpty == true)

        let crowd = try testBed.evidence(try await lines(11, id: "anonymous"), named: "eleven")
        let eleven = try await testBed.rehearse(policy, "--evidence", crowd, "--identify")
        #expect(try eleven.customers("total") == 12)
        #expect(try eleven.entitlement("everything")["granted"] as? Int == 1)
        let anonymous = (try eleven.json()["input"] as? [String: Any])?["anonymousIDs"] as? [[String: Any]]
        #expect(anonymous?.count == 1 && anonymous?.first?["accounts"] as? Int == 11)
        #expect(anonymous?.first?["id"] as? String == "anonymous")
        // Without --identify, no report shows an ID.
        #expect(!(try await testBed.rehearse(policy, "--evidence", crowd).output.contains("\"anonymous\"")))
    }

    @Test func `two IDs in the input that name one Apple Account are one customer`() async throws {
        let testBed = try await RehearsalTestBed()
        let policy = try testBed.write(RehearsalTestBed.policy(), to: "policy.yaml")
        var lines: [String] = []
        for (id, account) in [("a", "1"), ("a", "2"), ("b", "2"), ("b", "3"), ("c", "4")] {
            lines.append(try RehearsalTestBed.line(id: id, try await testBed.appTransaction(account)))
        }
        // This line has only a purchase of the third account.
        lines.append(try RehearsalTestBed.line(nil, [try await testBed.transaction("7", of: "3")]))
        for lines in [lines, lines.reversed()] {
            let result = try await testBed.rehearse(policy, "--evidence", try testBed.evidence(lines))
            #expect(try result.customers("total") == 2)
        }
    }

    @Test func `a rehearsal reports a product that no entitlement lists, unless it is a consumable`() async throws {
        let testBed = try await RehearsalTestBed()
        let policy = try testBed.write(RehearsalTestBed.policy(), to: "policy.yaml")
        let line = try RehearsalTestBed.line(
            try await testBed.appTransaction("1"),
            [
                try await testBed.transaction("7", of: "1", product: "com.example.calculator.forgotten"),
                try await testBed.transaction("8", of: "1"),
                try await testBed.transaction(
                    "9", of: "1", product: "com.example.calculator.coins", type: "Consumable"),
            ])
        let page = testBed.folder.url("report.html").path
        let result = try await testBed.rehearse(policy, "--evidence", try testBed.evidence([line]), "--report", page)
        #expect(
            try result.json()["productsWithoutEntitlement"] as? [String: Int] == ["com.example.calculator.forgotten": 1]
        )
        #expect(try String(contentsOfFile: page, encoding: .utf8).contains("com.example.calculator.forgotten"))
    }

    @Test func `a customer with two evidence lines has complete purchases if either has purchasesAreComplete: true`()
        async throws
    {
        let testBed = try await RehearsalTestBed()
        let policy = try testBed.write(RehearsalTestBed.policy(), to: "policy.yaml")
        let newcomer = try await testBed.appTransaction("1", build: "300", date: "2015-12-01")
        let partial = try RehearsalTestBed.line(newcomer)
        let complete = try RehearsalTestBed.line(newcomer, isComplete: true)
        func denied(_ lines: [String], _ more: String...) async throws -> Int? {
            let result = try await Command.run(
                [
                    "rehearse", "--policy", policy, "--at", "2016-01-01", "--trust", testBed.authority, "--json",
                    "--evidence", try testBed.evidence(lines),
                ] + more)
            #expect(try result.customers("total") == 1)
            return try result.entitlement("everything")["denied"] as? Int
        }
        #expect(try await denied([partial, complete], "--incomplete") == 1)
        #expect(try await denied([complete, partial], "--incomplete") == 1)
        #expect(try await denied([partial, partial], "--incomplete") == 0)
        #expect(try await denied([partial]) == 1)
        #expect(try await denied([try RehearsalTestBed.line(newcomer, isComplete: false)]) == 0)
    }

    @Test func `a customer who gains one entitlement and loses another is counted in gains and in losses`() async throws
    {
        let testBed = try await RehearsalTestBed()
        let old = try testBed.write(
            RehearsalTestBed.policy(entitlements: "  printing: { honors: [paid] }"), to: "old.yaml")
        let new = try testBed.write(
            RehearsalTestBed.policy(entitlements: "  themes: { honors: [paid] }"), to: "new.yaml")
        let file = try testBed.evidence([try await testBed.appTransaction("1")])
        let result = try await testBed.rehearse(new, "--against", old, "--evidence", file, "--fail-if", "lost>0")
        #expect(result.status == 2)
        #expect(try result.customers("losing") == 1 && result.customers("gaining") == 1)
        #expect(try result.customers("changed") == 1 && result.customers("unchanged") == 0)
        #expect(try result.sentence.hasPrefix("Do not ship: 1 customer of build 37 on iOS would lose `printing`"))
    }

    @Test(arguments: [(1, 0, "loses"), (2, 1, "loses"), (0, 1, "gains"), (1, 2, "gains"), (1, 1, "same")])
    func `a right that ends earlier than under the old policy is a loss, and a right that ends later is a gain`(
        new: Int, old: Int, change: String
    ) async throws {
        let testBed = try await RehearsalTestBed()
        let ends = [nil, "2016-09-01T00:00:00Z", "2016-03-01T00:00:00Z"]
        func policy(_ end: String?, _ name: String) throws -> String {
            let honor = end.map { "{ era: paid, until: \($0) }" } ?? "paid"
            return try testBed.write(RehearsalTestBed.policy(entitlements: "  cloud: { honors: [\(honor)] }"), to: name)
        }
        func answer(until end: String?) -> [String: String] {
            var answer = ["outcome": "granted", "reason": "eraHonored"]
            answer["until"] = end
            return answer
        }
        let file = try testBed.evidence([try await testBed.appTransaction("1")])
        let result = try await testBed.rehearse(
            policy(ends[new], "new.yaml"), "--against", policy(ends[old], "old.yaml"), "--evidence", file,
            "--fail-if", "lost>0")
        #expect(result.status == (change == "loses" ? 2 : 0), "\(result.errors)")
        #expect(try result.customers("losing") == (change == "loses" ? 1 : 0))
        #expect(try result.customers("gaining") == (change == "gains" ? 1 : 0))
        #expect(try result.customers("unchanged") == (change == "same" ? 1 : 0))
        let cloud = try result.entitlement("cloud")
        #expect(cloud["granted"] as? Int == 1 && cloud[change] as? Int == 1)
        let examples = (cloud["examples"] as? [String: Any])?["granted"] as? [[String: Any]]
        #expect(examples?.first?["before"] as? [String: String] == answer(until: ends[old]))
        #expect(examples?.first?["now"] as? [String: String] == answer(until: ends[new]))
    }

    @Test func `without an entitlement, lost and changed in --fail-if count the customers of all entitlements`()
        async throws
    {
        let testBed = try await RehearsalTestBed()
        // Under the old policy, each of the two customers has a different entitlement.
        let old = """
              early: { honors: [{ era: paid, boughtBefore: 2014-01-01 }] }
              late: { honors: [{ era: paid, boughtSince: 2014-01-01 }] }
            """
        let new = """
              early: { products: [com.example.calculator.early] }
              late: { products: [com.example.calculator.late] }
            """
        let policies = try (
            testBed.write(RehearsalTestBed.policy(entitlements: old), to: "old.yaml"),
            testBed.write(RehearsalTestBed.policy(entitlements: new), to: "new.yaml")
        )
        let file = try testBed.evidence([
            try await testBed.appTransaction("1", date: "2013-05-01"), try await testBed.appTransaction("2"),
            try await testBed.appTransaction("3", build: "300", date: "2015-12-01"),
        ])
        func status(_ condition: String) async throws -> Int32 {
            try await testBed.rehearse(
                policies.1, "--against", policies.0, "--evidence", file, "--fail-if", condition
            ).status
        }
        // One customer loses each entitlement, so two customers lose something.
        #expect(try await status("lost>1") == 2)
        #expect(try await status("lost>2") == 0)
        #expect(try await status("early.lost>1") == 0)
        #expect(try await status("changed>1") == 2)
        #expect(try await status("changed>2") == 0)
        #expect(try await status("changesReason>0") == 2)
    }

    @Test
    func `in --fail-if, changed counts customers with a new outcome, but not with only a new reason`()
        async throws
    {
        let testBed = try await RehearsalTestBed()
        let doubtful = RehearsalTestBed.policy() + "\ninDoubt: undetermined\n"
        // In the changeover window both eras are possible.
        let old = try testBed.write(doubtful, to: "old.yaml")
        let new = try testBed.write(
            doubtful.replacingOccurrences(of: "honors: [paid]", with: ""), to: "new.yaml")
        let file = try testBed.evidence([
            try await testBed.appTransaction("1", build: "120", date: "2015-06-10"),
            try await testBed.appTransaction("2", build: "300", date: "2015-12-01"),
        ])
        let result = try await testBed.rehearse(new, "--against", old, "--evidence", file, "--fail-if", "changed>0")
        #expect(result.status == 2, "\(result.errors)")
        #expect(try result.customers("changed") == 1 && result.customers("changingReason") == 1)
        #expect(try result.customers("losing") == 0 && result.customers("gaining") == 0)
        #expect(try result.entitlement("everything")["changesOutcome"] as? Int == 1)
    }
}
