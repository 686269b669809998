import CommandRunner
import Foundation
import Testing

/// What `tenure policy publish` and `rollback` show and send, with a server that has fixed responses.
@Suite struct `publishing with fixed responses` {
    private let folder: Folder
    private let key: String
    private let policy: String

    init() async throws {
        folder = try Folder()
        key = folder.url("key").path
        try #require(try await Command.run("admin-key", "generate", "--out", key).status == 0)
        policy = try folder.write(PublishingTestBed.policy(), to: "policy.yaml")
    }

    private func run(_ command: [String], at server: FixedAnswers) async throws -> Command.Result {
        try await server.run(["policy"] + command, keyFile: key)
    }

    /// The response to a rehearsal in which four customers lose something, three of them a promise, and five gain.
    private func rehearsal(_ id: String, against version: Int = 3, losing: Int = 4, more: String? = nil) -> String {
        let rest = more ?? #""productsWithoutEntitlement":[],"entitlements":[],"findings":[]"#
        return FixedAnswers.json(
            """
            {"id":"\(id)","at":"2026-01-01T00:00:00Z","against":\(version),"customers":1234,"gaining":5,
            "losing":\(losing),"losingWithPromises":1,"contradicting":2,\(rest)}
            """)
    }

    private func refusal(_ reason: String) -> String {
        FixedAnswers.json(
            #"{"code":"conflict","detail":"no","reason":"\#(reason)","rehearsal":"reh_2"}"#, status: "409 Conflict")
    }

    private static func example(_ number: Int, _ facts: String, before: String, now: String) -> String {
        #"{"customer":"cus_\#(number)"\#(facts),"before":\#(before),"now":\#(now)}"#
    }

    @Test func `a rehearsal's text has the counts, five examples of each change, and the findings`() async throws {
        let facts = #","platform":"iOS","originalAppVersion":"150","originalPurchaseDate":"2016-01-01T09:00:00Z""#
        let denied = #"{"outcome":"denied","reason":"eraNotHonored"}"#
        let granted = #"{"outcome":"granted","reason":"subscription","until":"2027-01-01T00:00:00Z"}"#
        let gainers = (1...6).map { Self.example($0, facts, before: denied, now: granted) }.joined(separator: ",")
        let promise = #"{"outcome":"granted","reason":"promise"}"#
        let loser = Self.example(7, "", before: promise, now: denied)
        let counts = #""granted":1,"denied":2,"undetermined":3"#
        let entitlements = [
            #"{"name":"everything",\#(counts),"gains":5,"loses":0,"gainers":[\#(gainers)],"losers":[]}"#,
            #"{"name":"badge",\#(counts),"gains":0,"loses":0,"gainers":[],"losers":[]}"#,
            #"{"name":"cloud",\#(counts),"gains":0,"loses":4,"gainers":[],"losers":[\#(loser)]}"#,
        ]
        let findings = [
            #"{"code":"right-lost","severity":"error","message":"m1","at":"cloud","line":1,"column":1,"blocks":true}"#,
            #"{"code":"wide","severity":"warning","message":"m2","at":"eras","line":2,"column":1,"blocks":false}"#,
        ]
        let more = [
            #""productsWithoutEntitlement":[{"id":"com.example.x","customers":7}]"#,
            "\"entitlements\":[\(entitlements.joined(separator: ","))]",
            "\"findings\":[\(findings.joined(separator: ","))]",
        ]
        let server = try FixedAnswers(rehearsal("reh_1", more: more.joined(separator: ",")))
        let result = try await run(["publish", policy, "--rehearse"], at: server)
        #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
        let now = "granted until 2027-01-01T00:00:00Z (subscription)"
        let change = "[iOS, 150, 2016-01-01]: denied (eraNotHonored), then \(now)"
        var lines = [
            "rehearsal reh_1: 1,234 customers, against version 3", "  5 gain",
            "  4 lose, 3 of whom were promised what they lose",
            "  2 have contradicting proofs: version and date are of different eras",
            "  7 bought `com.example.x`, which no entitlement lists", "everything: 5 gain, 0 lose",
        ]
        for number in 1...5 { lines.append("  cus_\(number) gains \(change)") }
        lines += [
            "cloud: 0 gain, 4 lose", "  cus_7 loses: granted (promise), then denied (eraNotHonored)",
            "error: m1 [right-lost]", "  at: cloud", "warning: m2 [wide]",
        ]
        #expect(result.output.split(separator: "\n").map(String.init) == lines)
        #expect(server.requests.count == 1)
        #expect(server.requests.first?.hasPrefix("POST /v1/admin/policies/rehearsals HTTP/1.1\r\n") == true)
        let compiled = try await Command.run("policy", "compile", policy).output.trimmingCharacters(in: .newlines)
        #expect(try FixedAnswers.body(of: try #require(server.requests.first))["policy"] as? String == compiled)
    }

    @Test(arguments: ["takesRights", "takesMore", "givesRights", "givesMore"])
    func `a refused publication shows the service's rehearsal only if it differs from the command's own`(
        reason: String
    ) async throws {
        func advice(_ losing: Int, _ id: String) -> String {
            """
            refused: nothing was changed
              \(losing - 1) lose something that was promised to them: with `--keep-promises` they keep it; \
            for the other losses, also pass `--take-from 1 --rehearsal \(id)`
              to publish anyway, repeat the command with `--take-from \(losing) --give-to 5 --rehearsal \(id)`

            """
        }
        for (second, shown, errors) in [
            (rehearsal("reh_2"), ["reh_1"], advice(4, "reh_1")),
            (rehearsal("reh_2", against: 4), ["reh_1", "reh_2"], advice(4, "reh_2")),
            (rehearsal("reh_2", losing: 5), ["reh_1", "reh_2"], advice(5, "reh_2")),
        ] {
            let server = try FixedAnswers(rehearsal("reh_1"), refusal(reason), second)
            let result = try await run(["publish", policy, "--reason", "r"], at: server)
            #expect(result.status == 2 && result.errors == errors, "\(result.errors)")
            let ids = result.output.matches(of: /rehearsal (reh_\d):/).map { String($0.1) }
            #expect(ids == shown, "\(result.output)")
            #expect(server.requests.last?.hasPrefix("GET /v1/admin/policies/rehearsals/reh_2 HTTP/1.1\r\n") == true)
        }
        // With --json, standard output has only a publication.
        let server = try FixedAnswers(rehearsal("reh_1"), refusal(reason), rehearsal("reh_2", against: 4))
        let json = try await run(["publish", policy, "--reason", "r", "--json"], at: server)
        #expect(json.status == 2 && json.output.isEmpty && json.errors == advice(4, "reh_2"), "\(json)")
    }

    @Test func `the advice after a refusal is about what the command asked for`() async throws {
        let keeping = try FixedAnswers(rehearsal("reh_1"), refusal("takesRights"), rehearsal("reh_2"))
        let kept = try await run(["publish", policy, "--reason", "r", "--keep-promises"], at: keeping)
        let options = "`--keep-promises --take-from 1 --give-to 5 --rehearsal reh_1`"
        let start = "refused: nothing was changed\n"
        #expect(kept.errors == "\(start)  to publish anyway, repeat the command with \(options)\n")
        #expect(try FixedAnswers.body(of: keeping.requests[1])["keepPromises"] as? Bool == true)
        // A rollback needs no permission for gains.
        let back = try FixedAnswers(rehearsal("reh_1"), refusal("takesRights"), rehearsal("reh_2"))
        let rollback = try await run(["rollback", "--to", "2", "--reason", "r"], at: back)
        #expect(rollback.status == 2)
        #expect(rollback.errors.hasSuffix("repeat the command with `--take-from 4 --rehearsal reh_1`\n"))
        #expect(try back.requests.prefix(2).map { try FixedAnswers.body(of: $0)["version"] as? Int } == [2, 2])
        #expect(back.requests[1].hasPrefix("POST /v1/admin/policies/rollback HTTP/1.1\r\n"))
        // Other refusals have their own exit codes.
        for (reason, status, words) in [
            ("policyErrors", 2, "refused: no\n"), ("stalePolicy", 1, "error: no\n"),
        ] as [(String, Int32, String)] {
            let server = try FixedAnswers(rehearsal("reh_1"), refusal(reason))
            let result = try await run(["publish", policy, "--reason", "r"], at: server)
            #expect(result.status == status && result.errors == words, "\(reason)")
        }
    }

    @Test func `a publication sends the options, and rehearses only if no rehearsal is named`() async throws {
        func publication(_ counts: String) -> String {
            FixedAnswers.json(
                """
                {"publication":8,"version":5,"action":"publish","at":"2026-01-01T00:00:00Z","actor":"k","customers":9,
                \(counts)}
                """)
        }
        let server = try FixedAnswers(
            publication(#""gaining":1,"losing":2,"ended":1,"restored":3"#),
            publication(#""gaining":1,"losing":0,"ended":1,"restored":0"#),
            publication(#""gaining":0,"losing":1,"ended":0,"restored":1"#))
        let numbers = ["--take-from", "12", "--give-to", "0", "--rehearsal", "reh_x"]
        let publish = ["publish", policy, "--reason", "r"] + numbers
        let first = try await run(publish + ["--author", "ada"], at: server)
        #expect(first.status == 0, "\(first.errors)")
        #expect(
            first.output == """
                version 5 is in effect (publication 8)
                  2 customers lost something; 1 promise ended
                  3 promises apply again

                """)
        #expect(try await run(publish, at: server).output == "version 5 is in effect (publication 8)\n")
        #expect(
            try await run(publish, at: server).output == """
                version 5 is in effect (publication 8)
                  1 customer lost something; 0 promises ended
                  1 promise applies again

                """)
        #expect(server.requests.count == 3)
        #expect(server.requests[0].hasPrefix("POST /v1/admin/policies HTTP/1.1\r\n"))
        let sent = try FixedAnswers.body(of: server.requests[0])
        #expect(sent["reason"] as? String == "r" && sent["author"] as? String == "ada")
        #expect(sent["takeFrom"] as? Int == 12 && sent["giveTo"] as? Int == 0)
        #expect(sent["rehearsal"] as? String == "reh_x" && sent["keepPromises"] == nil)
    }
}
