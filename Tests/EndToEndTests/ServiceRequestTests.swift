import CommandRunner
import Foundation
import TenureAPI
import Testing

@testable import TenureCLI

/// The requests of commands, and the rarer responses of a service. The responses are fixed texts.
@Suite struct `requests of commands to a service` {
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

    @Test func `tenure persona create sends all fields, and prints the token alone`() async throws {
        let persona = """
            {"name":"early","state":"valid","set":{"originalPlatform":"iOS","originalAppVersion":"37"},
            "createdAt":"2026-01-01T00:00:00Z","expiresAt":"2026-12-31T00:00:00Z",
            "entitlements":{"everything":"granted"},"token":"a.b.c"}
            """
        let one = FixedAnswers.json("{\"personas\":[\(persona)]}")
        let server = try FixedAnswers(one, one, FixedAnswers.json(#"{"personas":[]}"#))
        let create = [
            "persona", "create", "--name", "early", "--platform", "iOS", "--set", "originalAppVersion=37", "--set",
            "preorderDate=2014-05-01=", "--expires", "2026-12-31",
        ]
        let made = try await run(create, at: server)
        #expect(made.status == 0 && made.output == "a.b.c\n")
        let facts = "everything granted  (originalAppVersion 37, originalPlatform iOS)"
        #expect(made.errors == "early  valid until 2026-12-31T00:00:00Z  \(facts)\n")
        let json = try await run(create + ["--json", "--replace"], at: server)
        #expect(json.status == 0 && json.errors.isEmpty)
        #expect((try json.json()["personas"] as? [[String: Any]])?.first?["token"] as? String == "a.b.c")
        let none = try await run(create, at: server)
        #expect(none.status == 1 && none.output.isEmpty)
        #expect(none.errors == "error: the service created no persona; check its log\n")
        let bodies = try server.requests.map { try FixedAnswers.body(of: $0) }
        try #require(bodies.count == 3)
        let fields = ["originalPlatform": "iOS", "originalAppVersion": "37", "preorderDate": "2014-05-01="]
        #expect(bodies[0]["name"] as? String == "early" && bodies[0]["set"] as? [String: String] == fields)
        #expect(bodies[0]["expires"] as? String == "2026-12-31T00:00:00Z")
        #expect(bodies.map { $0["replace"] as? Bool } == [false, true, false])
    }

    @Test func `a reload of apps that all run exits with 0, and --json doesn't change the exit code`() async throws {
        let calculator = #"{"name":"calculator","bundleID":"com.example.calculator","status":"ok"}"#
        let notes = #"{"name":"notes","bundleID":"com.example.notes","status":"failing","reason":"appNotRunning"}"#
        let server = try FixedAnswers(
            FixedAnswers.json("{\"apps\":[\(calculator)],\"reloaded\":[\"calculator\"],\"warnings\":[]}"),
            FixedAnswers.json("{\"apps\":[\(calculator),\(notes)],\"warnings\":[\"w1\"]}"))
        let good = try await run(["apps", "reload"], at: server)
        #expect(good.status == 0 && good.errors.isEmpty)
        #expect(good.output == "reloaded: calculator\ncalculator  ok  com.example.calculator\n")
        let failing = try await run(["apps", "reload", "--json"], at: server)
        #expect(failing.status == 1 && failing.errors.isEmpty)
        #expect((try failing.json()["apps"] as? [[String: Any]])?.count == 2)
    }

    @Test func `an order without customers exits with 2, as text and as JSON`() async throws {
        let nothing = #""purchases":[],"problems":[],"customers":[]}"#
        let server = try FixedAnswers(
            FixedAnswers.json("{\"isValid\":false,\(nothing)"), FixedAnswers.json("{\"isValid\":true,\(nothing)"),
            FixedAnswers.json("{\"isValid\":true,\(nothing)"))
        let unknown = try await run(["app-store", "order", "M1"], at: server)
        #expect(unknown.status == 2 && unknown.output == "the App Store has no such order of this app\n")
        let unsynced = try await run(["app-store", "order", "M1"], at: server)
        #expect(unsynced.status == 2)
        #expect(unsynced.output == "no customer has this order; the app may not have synced it yet\n")
        let json = try await run(["app-store", "order", "M1", "--json"], at: server)
        #expect(json.status == 2 && json.errors.isEmpty)
        #expect(try json.json()["isValid"] as? Bool == true)
    }

    @Test func `a scenario finds its customer with the admin key, and reports two customers or a refusal`() async throws
    {
        let customer = #"{"id":"cus_1","environment":"Production"}"#
        let server = try FixedAnswers(
            FixedAnswers.json("{\"customers\":[]}"), FixedAnswers.json("{\"customers\":[\(customer),\(customer)]}"),
            FixedAnswers.json(#"{"code":"notFound","detail":"it is gone"}"#, status: "404 Not Found"),
            "HTTP/1.1 500 Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        let url = "http://127.0.0.1:\(server.port)/apps/notes"
        let service = ServiceUnderTest(url: url + "/", adminKey: "secret")
        #expect(service.notificationURL == url + "/v1/notifications/apple")
        #expect(try await service.customer("7") == nil)
        for words in [
            "the service has 2 customers with the ID `7`; use a service with an empty database",
            "the service at `\(url)` refused a request: it is gone",
            "the service at `\(url)` refused a request: status 500",
        ] {
            let error = await #expect(throws: CommandError.self) { try await service.customer("7") }
            #expect(error?.description == words)
        }
        #expect(server.requests.count == 4)
        for request in server.requests {
            #expect(request.hasPrefix("GET /apps/notes/v1/admin/customers?id=7 HTTP/1.1\r\n"), "\(request)")
            #expect(request.lowercased().contains("authorization: bearer secret\r\n"), "\(request)")
        }
    }

    @Test func `a refusal names commands and options in place of routes and fields, and a path has no reserved bytes`()
    {
        #expect(ServiceClient.escaped("a/b c?d#e%\u{FC}") == "a%2Fb%20c%3Fd%23e%25%C3%BC")
        for (detail, words) in [
            (#"it exists; send `"replace": true`"#, "it exists; pass --replace"),
            ("list them with `GET /v1/admin/personas`", "list them with `tenure persona list`"),
            ("`GET /v1/admin/policies` lists them", "`tenure policy versions` lists them"),
            ("`expires` is in the past", "--expires is in the past"), ("nothing to replace", "nothing to replace"),
            (
                "this route exists only if `apps` is configured; call it without `/apps/NAME`",
                "the command is for a service with several apps; if the configuration has `apps`, pass --service without /apps/NAME"
            ),
        ] {
            #expect(ServiceClient.Refusal(problem: Problem(.notFound, detail)).description == words)
        }
    }
}
