import ArgumentParser
import Foundation
import TenureAppStore
import TenureCore
import Testing

@testable import TenureCLI

/// Options that are refused before a command runs, the values at each limit, and the defaults.
@Suite struct `the command line` {
    /// Returns the message about wrong usage; nil if the command could run.
    private func problem(_ arguments: [String]) -> String? {
        do {
            _ = try Tenure.parseAsRoot(arguments)
            return nil
        } catch {
            #expect(Tenure.exitCode(for: error) == .validationFailure, "\(arguments)")
            return Tenure.message(for: error)
        }
    }

    private func expect(
        _ problem: String, about cases: [[String]], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for arguments in cases {
            #expect(self.problem(arguments) == problem, "\(arguments)", sourceLocation: sourceLocation)
        }
    }

    private static let id = String(repeating: "k", count: 43)

    @Test func `a number outside its range is wrong usage, and the message has the range and the number`() {
        let sign = ["signing-key", "root", "sign", "root.json", "--key", "key.json"]
        let revoke = ["signing-key", "root", "revoke", "root.json"]
        for days in [0, 731] {
            expect("`--days` must be a number from 1 to 730; found \(days)", about: [sign + ["--days", "\(days)"]])
        }
        let policy = ["policy", "sign", "policy.yaml", "--key", "key.pem"]
        let content = ["content", "publish", "content.yaml", "--key", "key.pem", "--to", "published"]
        for counter in ["0", "9007199254740993"] {
            expect(
                "`--counter` must be a whole number between 1 and 9007199254740992; found \(counter)",
                about: [policy, content].map { $0 + ["--counter", counter] })
        }
        for counter in ["0", "1000000001"] {
            expect(
                "`--counter` must be a whole number between 1 and 1000000000; found \(counter)",
                about: [revoke + [Self.id, "--counter", counter]])
        }
        let run = ["scenario", "run", "--service", "http://127.0.0.1:1", "--folder", "x", "story.yaml"]
        expect(
            "`--local-store-port` must be a port from 0 to 65535; found 65536",
            about: [run + ["--local-store-port", "65536"]])
        for port in ["0", "65536"] {
            expect(
                "`--local-store-port` must be a port from 1 to 65535; found \(port)",
                about: [["scenario", "settings", "--local-store-port", port]])
        }
        expect(
            "`--count` can't be negative; pass the number of lines",
            about: [["mint", "corpus", "--authority", "a", "--out", "o", "--count=-1"]])
        let valid = [
            sign + ["--days", "1"], sign + ["--days", "730"], policy + ["--counter", "1"],
            policy + ["--counter", "9007199254740992"], content + ["--counter", "9007199254740992"],
            revoke + [Self.id, Self.id, "--counter", "1"], revoke + [Self.id, "--counter", "1000000000"],
            run + ["--local-store-port", "0"], run + ["--local-store-port", "65535"],
            ["scenario", "settings", "--local-store-port", "65535"],
            ["mint", "corpus", "--authority", "a", "--out", "o", "--count", "0"],
        ]
        for arguments in valid { #expect(problem(arguments) == nil, "\(arguments)") }
    }

    @Test func `options that need or exclude each other are wrong usage, and the message says what to pass`() {
        let run = ["scenario", "run", "story.yaml"]
        let service = run + ["--service", "http://127.0.0.1:1"]
        expect(
            "a running service has its own policy; leave out `--policy`",
            about: [service + ["--folder", "x", "--policy", "p"]])
        expect(
            "`--service` needs the test authority that the service trusts; pass either `--folder` or `--authority`",
            about: [service, service + ["--folder", "x", "--authority", "y"]])
        expect(
            "`--folder` is the folder of a running service; pass the service's URL with `--service`",
            about: [run + ["--folder", "x"]])
        expect(
            "`--local-store-port` is for a running service; pass the service's URL with `--service`",
            about: [run + ["--local-store-port", "8090"]])
        expect(
            "no messages are selected; pass `--event` with an ID, or `--since` with a date",
            about: [["webhook", "replay"]])
        expect(
            "`--event` and `--since` exclude each other; pass one of them",
            about: ["log", "replay"].map { ["webhook", $0, "--event", "evt_1", "--since", "2020-01-01"] })
        expect(
            "`--defect` corrupts the usual receipt; leave out `--form ber`",
            about: [["mint", "receipt", "--authority", "a", "--defect", "d", "--form", "ber"]])
        expect(
            "`--defect` can't be combined with `--set` or `--payload`; remove one of them",
            about: [["--set", "a=b"], ["--payload", "p"]].map {
                ["mint", "receipt", "--authority", "a", "--defect", "d"] + $0
            })
        let valid = [
            run, run + ["--policy", "p", "--authority", "y"], service + ["--authority", "y"],
            service + ["--folder", "x"], ["webhook", "log"], ["webhook", "replay", "--since", "2020-01-01"],
            ["mint", "receipt", "--authority", "a", "--defect", "d", "--form", "der"],
            ["mint", "receipt", "--authority", "a", "--set", "a=", "--payload", "p", "--form", "ber"],
            ["content", "check", "-", "--policy", "p"], ["policy", "check", "p", "--releases", "-", "--against", "a"],
        ]
        for arguments in valid { #expect(problem(arguments) == nil, "\(arguments)") }
    }

    @Test(arguments: ["publish", "rollback"])
    func `a publication needs a reason, and a rehearsal's ID with its numbers`(command: String) {
        let publish = ["policy", command] + (command == "publish" ? ["policy.yaml"] : []) + ["--key-file", "key"]
        let reason = publish + ["--reason", "r"]
        expect("`--reason` is missing; write why you publish", about: [publish])
        let (taking, giving, rehearsal) = (["--take-from", "1"], ["--give-to", "1"], ["--rehearsal", "reh_1"])
        expect(
            "--take-from and --give-to need --rehearsal, and --rehearsal needs at least one of them; pass the numbers and the ID that a rehearsal printed",
            about: [taking, giving, taking + giving, rehearsal].map { reason + $0 })
        expect(
            "--take-from and --give-to can't be negative; pass a number of customers",
            about: [["--take-from=-1"], ["--give-to=-1"]].map { reason + $0 + rehearsal })
        let valid = [
            reason, publish + ["--rehearse"], reason + ["--take-from", "0"] + rehearsal, reason + giving + rehearsal,
            reason + taking + giving + rehearsal + ["--keep-promises"],
        ]
        for arguments in valid { #expect(problem(arguments) == nil, "\(arguments)") }
    }

    @Test func `an ID, a name or a value in the wrong form is wrong usage, and the message says which form it has`() {
        expect(
            "a key's ID has 43 characters; copy it from `tenure signing-key list`",
            about: [String(Self.id.dropLast()), Self.id + "k"].map {
                ["signing-key", "root", "revoke", "root.json", Self.id, $0]
            })
        let create = ["admin-key", "create", "--scope", "read", "--name"]
        expect(
            "`--name` must have 1 to 64 printable ASCII characters and no spaces",
            about: ["a b", "\u{E9}", "a\u{7F}", String(repeating: "n", count: 65)].map { create + [$0] })
        expect(
            "`--name` is a key or another secret; pass a name, which everybody may read",
            about: [create + ["postgres://ada:pa55@db"]])
        for name in ["command", "adminKey"] {
            expect("`\(name)` is reserved for the audit trail; choose another name", about: [create + [name]])
        }
        expect(
            "`my phone` isn't a UUID; pass the value of `AppStore.deviceVerificationID`",
            about: [["mint", "transaction", "--authority", "a"], ["decide", "--policy", "p"]].map {
                $0 + ["--device-id", "my phone"]
            })
        expect(
            "`a` isn't a field with a value; write one such as originalAppVersion=37",
            about: [["persona", "create", "--name", "x", "--key-file", "key", "--set", "a"]])
        expect("`1d` isn't a parameter; write name=value", about: [["local-store", "do", "advance", "1d"]])
        for name in ["!~", "Command", String(repeating: "n", count: 64)] {
            #expect(problem(create + [name]) == nil, "\(name)")
        }
    }

    @Test func `a certificate is trusted for one environment only if its path begins with the environment's name`()
        throws
    {
        func trust(_ options: String...) throws -> TrustOptions {
            try #require(try Tenure.parseAsRoot(["inspect"] + options + ["file"]) as? InspectCommand).trust
        }
        let several = try trust("--trust", "a=b.pem", "--trust", "SANDBOX=c.pem", "--trust", "xcode=d=e.pem")
        #expect(several.paths == ["a=b.pem", "c.pem", "d=e.pem"] && several.environments == [.production, .sandbox])
        #expect(try trust("--environment", "Sandbox").environments == [.sandbox])
        #expect(try trust("--environment", "xcode", "--trust", "a.pem").environments == [.xcode])
        let inspect = ["inspect", "file", "--environment", "xcode"]
        expect(
            "`--environment xcode` needs your Xcode's certificate: export it in Xcode (Editor, Save Public Certificate) and pass `--trust xcode=FILE`",
            about: [inspect, inspect + ["--trust", "production=a.pem"]])
        expect(
            "the environment of `a.pem` is ambiguous; write `--trust xcode=a.pem`, or the name of another environment",
            about: [
                inspect + ["--environment", "sandbox", "--trust", "xcode=b.pem", "--trust", "a.pem"],
                inspect + ["--trust", "a.pem", "--environment", "production"],
            ])
        for empty in ["sandbox=", "xcode="] {
            expect(
                "the path after `\(empty)` is empty; write a path, or leave out `--trust`",
                about: [["inspect", "file", "--trust", "a.pem", "--trust", empty]])
        }
        #expect(problem(inspect + ["--environment", "sandbox", "--trust", "xcode=b.pem"]) == nil)
    }

    @Test func `percentages and speeds are read with and without their unit`() throws {
        func percentage(_ text: String?) throws -> Double {
            let options = text.map { ["--allow-rejected", $0] } ?? []
            let arguments = ["rehearse", "--policy", "p", "--evidence", "e"] + options
            return try #require(try Tenure.parseAsRoot(arguments) as? RehearseCommand).allowRejected.value
        }
        #expect(try [nil, "7.5%", "7.5", "0", "100%"].map { try percentage($0) } == [5, 7.5, 7.5, 0, 100])
        func speed(_ text: String) throws -> Double? {
            try #require(try Tenure.parseAsRoot(["local-store", "run", "--speed", text]) as? LocalStoreRunCommand)
                .speed?.factor
        }
        #expect(try ["60x", "60", "0", "0.5x", "10000000x"].map { try speed($0) } == [60, 60, 0, 0.5, 10_000_000])
    }

    @Test func `a date is an instant, or the beginning of a day in UTC, in each command`() throws {
        func dates(_ text: String) throws -> [Date?] {
            let since = ["webhook", "log", "--since", text]
            let expires = ["persona", "ready-made", "--key-file", "k", "--expires", text]
            return [
                (try Tenure.parseAsRoot(["decide", "--policy", "p", "--at", text]) as? DecideCommand)?.at,
                (try Tenure.parseAsRoot(["policy", "check", "p", "--at", text]) as? PolicyCheckCommand)?.at,
                (try Tenure.parseAsRoot(["rehearse", "--policy", "p", "--evidence", "e", "--at", text])
                    as? RehearseCommand)?.at,
                (try Tenure.parseAsRoot(since) as? WebhookCommand.Log)?.selection.since,
                (try Tenure.parseAsRoot(expires) as? PersonaReadyMadeCommand)?.options.expires,
            ]
        }
        let day = Date(timeIntervalSince1970: 1_801_353_600)
        let instant = Date(timeIntervalSince1970: 1_801_420_200)
        #expect(try dates("2027-01-31") == Array(repeating: day, count: 5))
        for text in ["2027-01-31T18:30:00Z", "2027-01-31T20:30:00+02:00"] {
            #expect(try dates(text) == Array(repeating: instant, count: 5), "\(text)")
        }
    }

    @Test func `options that are left out have the defaults of the help`() throws {
        func parsed<Command: ParsableCommand>(_ arguments: String..., as type: Command.Type) throws -> Command {
            try #require(try Tenure.parseAsRoot(arguments) as? Command)
        }
        let store = try parsed("local-store", "run", as: LocalStoreRunCommand.self)
        #expect(store.folder == "var/local-store" && store.port == 8090 && store.speed == nil && store.notify == nil)
        let settings = try parsed("scenario", "settings", as: ScenarioSettingsCommand.self)
        #expect(settings.folder == "var/scenario" && settings.localStorePort == 8090)
        let demo = try parsed("demo", as: DemoCommand.self)
        #expect(demo.folder == "var" && demo.port == 8080 && !demo.once)
        let sign = try parsed("signing-key", "root", "sign", "f", "--key", "k", as: SigningKeyRootSignCommand.self)
        #expect(sign.days == 180)
        #expect(try parsed("webhook", "log", as: WebhookCommand.Log.self).limit == 100)
        #expect(try parsed("local-store", "fault", "7", as: LocalStoreFaultCommand.self).requests == 1)
        #expect(try parsed("signing-key", "list", as: SigningKeyListCommand.self).folder.keys == ".")
        let list = try parsed("apps", "list", "--key-file", "k", as: AppsListCommand.self)
        #expect(list.service.service == "http://127.0.0.1:8080")
        let corpus = ["mint", "corpus", "--authority", "a", "--out", "o", "--count", "1"]
        #expect((try Tenure.parseAsRoot(corpus) as? MintCorpusCommand)?.seed == 1)
        #expect(try parsed("inspect", as: InspectCommand.self).file == "-")
    }
}
