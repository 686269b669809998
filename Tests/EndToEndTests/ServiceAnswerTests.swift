import CommandRunner
import Foundation
import Testing

/// How commands show a service's responses, and how they send their requests. The responses are fixed texts.
@Suite struct `commands that show a service's responses` {
    private let folder: Folder
    private let key: String

    init() async throws {
        folder = try Folder()
        key = folder.url("key").path
        try #require(try await Command.run("admin-key", "generate", "--out", key).status == 0)
    }

    private func run(_ arguments: [String], at server: FixedAnswers) async throws -> Command.Result {
        try await server.run(arguments, keyFile: key)
    }

    @Test func `a request has the path, the key and the JSON, also if the service's URL ends with a slash`()
        async throws
    {
        let personas = FixedAnswers.json(#"{"personas":[]}"#)
        let server = try FixedAnswers(personas, personas, personas)
        let service = ["--service", "http://127.0.0.1:\(server.port)/apps/notes/", "--key-file", key]
        for command in [["list"], ["revoke", "a/b c"], ["ready-made", "--expires", "2026-12-31", "--replace"]] {
            #expect(try await Command.run(["persona"] + command + service).status == 0)
        }
        let requests = server.requests
        try #require(requests.count == 3)
        #expect(requests[0].hasPrefix("GET /apps/notes/v1/admin/personas HTTP/1.1\r\n"), "\(requests)")
        #expect(requests[1].hasPrefix("DELETE /apps/notes/v1/admin/personas/a%2Fb%20c HTTP/1.1\r\n"), "\(requests)")
        #expect(requests[2].hasPrefix("POST /apps/notes/v1/admin/personas/ready-made HTTP/1.1\r\n"), "\(requests)")
        let secret = try folder.text("key").trimmingCharacters(in: .newlines)
        #expect(requests.allSatisfy { $0.contains("Authorization: Bearer \(secret)\r\n") })
        #expect(requests[2].contains("Content-Type: application/json\r\n"))
        let fields = try FixedAnswers.body(of: requests[2])
        #expect(fields["expires"] as? String == "2026-12-31T00:00:00Z" && fields["replace"] as? Bool == true)
    }

    @Test func `a command says whether the server isn't a service, or is a service of another release`() async throws {
        for (answer, words) in [
            (
                "HTTP/1.1 404 Not Found\r\nContent-Length: 6\r\nConnection: close\r\n\r\n<html>",
                "the server at `URL` isn't a Tenure service; pass the right URL with --service"
            ),
            (
                FixedAnswers.json(#"{"people":[]}"#),
                "this release can't read the response of the service at `URL`; use the command of the service's release"
            ),
            (
                FixedAnswers.json(
                    #"{"code":"notFound","detail":"the date is missing; write `expires`"}"#, status: "404 Not Found"),
                "the date is missing; write --expires"
            ),
        ] {
            let server = try FixedAnswers(answer)
            let result = try await run(["persona", "list"], at: server)
            #expect(result.status == 1 && result.output.isEmpty)
            let message = words.replacingOccurrences(of: "URL`", with: "http://127.0.0.1:\(server.port)`")
            #expect(result.errors == "error: \(message)\n")
        }
        for (url, words) in [
            ("nonsense", "`nonsense` isn't a URL; pass the service's, such as `http://127.0.0.1:8080`"),
            (
                "http://ada:x@127.0.0.1:1",
                "the URL of the service contains a user or a password; remove them, and pass a key with --key-file"
            ),
        ] {
            let result = try await Command.run("persona", "list", "--service", url, "--key-file", key)
            #expect(result.status == 1 && result.errors == "error: \(words)\n", "\(result.errors)")
        }
        for (options, words) in [
            ([], "the admin key is missing; pass --key-file or --key"),
            (["--key", "x", "--key-file", key], "--key-file and --key exclude each other; pass one of them"),
        ] as [([String], String)] {
            let result = try await Command.run(["persona", "list"] + options)
            #expect(result.status == 64 && result.errors.contains(words), "\(result.errors)")
        }
    }

    @Test func `tenure policy versions shows who published what, and its effect`() async throws {
        let server = try FixedAnswers(
            FixedAnswers.json(
                """
                {"versions":[{"version":1,"sha256":"aa","recordedAt":"2026-01-01T00:00:00Z","isCurrent":false},
                {"version":2,"sha256":"bb","recordedAt":"2026-02-01T00:00:00Z","isCurrent":true}],
                "publications":[{"publication":1,"version":1,"action":"start","at":"2026-01-01T00:00:00Z",
                "actor":"service","customers":0,"gaining":0,"losing":0,"ended":0,"restored":0},
                {"publication":2,"version":2,"action":"publish","at":"2026-02-01T00:00:00Z","actor":"publisher",
                "author":"ada","reason":"free now","customers":9,"gaining":3,"losing":2,"ended":4,"restored":0}]}
                """))
        let result = try await run(["policy", "versions"], at: server)
        #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
        let lines = [
            "1  2026-01-01T00:00:00Z  version 1  start  key service",
            "2  2026-02-01T00:00:00Z  version 2  publish  by ada, key publisher  3 gained, 2 lost, 4 promises ended  “free now”",
            "version 2 is in effect",
        ]
        #expect(result.output.split(separator: "\n").map(String.init) == lines)
        #expect(server.requests.first?.hasPrefix("GET /v1/admin/policies HTTP/1.1\r\n") == true)
    }

    @Test func `tenure persona shows each persona's state, and why some ready-made ones were left out`() async throws {
        func persona(_ name: String, _ state: String, _ more: String) -> String {
            """
            {"name":"\(name)","state":"\(state)","set":{"originalPlatform":"iOS","originalAppVersion":"37"},
            "createdAt":"2026-01-01T00:00:00Z","expiresAt":"2026-02-01T00:00:00Z",
            "entitlements":{"everything":"granted","cloud":"denied"}\(more)}
            """
        }
        let revocation = #","revokedAt":"2026-01-05T00:00:00Z""#
        let personas = [
            persona("early", "valid", ""), persona("old", "expired", ""), persona("gone", "revoked", revocation),
        ]
        let server = try FixedAnswers(
            FixedAnswers.json("{\"personas\":[\(personas.joined(separator: ","))]}"),
            FixedAnswers.json(
                """
                {"personas":[\(persona("first", "valid", #","what":"the first buyer","token":"a.b.c""#))],
                "omitted":[{"name":"mac-buyer","why":"the app isn't sold for macOS"}]}
                """))
        let facts = "  cloud denied, everything granted  (originalAppVersion 37, originalPlatform iOS)\n"
        let listed = try await run(["persona", "list"], at: server)
        let valid = "valid until 2026-02-01T00:00:00Z"
        let lines = [
            "early  \(valid)\(facts)", "old  expired 2026-02-01T00:00:00Z\(facts)",
            "gone  revoked 2026-01-05T00:00:00Z\(facts)",
        ]
        #expect(listed.output == lines.joined())
        let made = try await run(["persona", "ready-made"], at: server)
        let omitted = "mac-buyer: left out, because the app isn't sold for macOS\n"
        #expect(made.output == "first  \(valid)\(facts)  the first buyer\n  a.b.c\n\(omitted)", "\(made.errors)")
    }

    @Test func `tenure app-store order shows purchases, rejected artifacts and customers`() async throws {
        let server = try FixedAnswers(
            FixedAnswers.json(
                """
                {"isValid":true,"purchases":[
                {"transactionID":"1","originalTransactionID":"9","productID":"a","purchaseDate":"2026-01-01T00:00:00Z",
                "expiresDate":"2026-01-02T00:00:00Z","revocationDate":"2026-01-03T00:00:00Z"},
                {"transactionID":"2","originalTransactionID":"9","productID":"b"}],
                "problems":[{"artifact":"transactions[1]","code":"badSignature","detail":"it is forged"}],
                "customers":[{"id":"cus_1","environment":"Production"},{"id":"cus_2","environment":"Sandbox"}]}
                """))
        let result = try await run(["app-store", "order", " MV/W "], at: server)
        #expect(result.status == 0, "\(result.errors)")
        let lines = [
            "a, transaction 1, bought 2026-01-01T00:00:00Z, revoked 2026-01-03T00:00:00Z", "b, transaction 2",
            "rejected: transactions[1]: it is forged", "customer cus_1 (Production)", "customer cus_2 (Sandbox)",
        ]
        #expect(result.output.split(separator: "\n").map(String.init) == lines)
        #expect(server.requests.first?.hasPrefix("GET /v1/admin/orders/MV%2FW HTTP/1.1\r\n") == true)
    }

    @Test func `tenure apps shows why an app fails; a reload then exits with 1, and a list with 0`() async throws {
        let apps = """
            "apps":[{"name":"notes","bundleID":"com.example.notes","status":"failing","reason":"appNotRunning",
            "detail":"the policy is missing"},{"name":"calculator","bundleID":"com.example.calculator","status":"ok"}],
            "default":"calculator"
            """
        let list = [
            "notes       failing  com.example.notes  appNotRunning: the policy is missing",
            "calculator  ok  com.example.calculator  (default)",
        ]
        let server = try FixedAnswers(
            FixedAnswers.json("{\(apps)}"),
            FixedAnswers.json(
                "{" + apps
                    + #","added":["notes"],"removed":["pages","keys"],"reloaded":[],"warnings":["w1"]}"#))
        let listed = try await run(["apps", "list"], at: server)
        #expect(listed.status == 0 && listed.errors.isEmpty, "\(listed.errors)")
        #expect(listed.output.split(separator: "\n").map(String.init) == list)
        let reloaded = try await run(["apps", "reload"], at: server)
        #expect(reloaded.status == 1 && reloaded.errors == "warning: w1\n", "\(reloaded.errors)")
        let changes = ["added: notes", "removed: pages, keys"]
        #expect(reloaded.output.split(separator: "\n").map(String.init) == changes + list)
        #expect(server.requests.map { $0.prefix(24) } == ["GET /v1/admin/apps HTTP/", "POST /v1/admin/apps/relo"])
    }
}
