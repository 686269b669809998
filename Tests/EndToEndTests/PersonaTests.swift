import CommandRunner
import Foundation
import Testing

/// A developer checks what an early buyer will see.
@Suite(.serialized) struct `personas by command line and HTTP` {
    @Test func `tenure persona creates, lists and revokes personas, and a sandbox build can use them`() async throws {
        let testBed = try await PublishingTestBed()
        let (service, port) = try await testBed.start()
        let options = testBed.options(port)
        let early = try await Command.run(
            [
                "persona", "create", "--name", "early-buyer", "--platform", "iOS", "--set", "originalAppVersion=37",
                "--set", "originalPurchaseDate=2014-05-01",
            ] + options)
        #expect(early.status == 0, "\(early.errors)")
        let token = early.output.trimmingCharacters(in: .newlines)
        #expect(token.split(separator: ".").count == 3)
        #expect(early.errors.contains("everything granted"))

        let build = try await testBed.appTransaction(of: "704000000000000009", version: "1.0", environment: "sandbox")
        #expect(try await testBed.sync(build, to: port).outcome == "denied")
        let met = try await testBed.sync(build, persona: token, to: port)
        #expect(met.outcome == "granted" && met.json["persona"] as? String == "early-buyer")
        let access = try #require((met.json["accessToken"] as? [String: Any])?["value"] as? String)
        #expect(try await testBed.send("GET", "/v1/customer", to: port, token: access).outcome == "granted")
        let production = try await testBed.appTransaction(of: "704000000000000008", version: "300", date: "2020-09-13")
        let refused = try await testBed.sync(production, persona: token, to: port)
        #expect(refused.outcome == "denied")
        #expect((refused.json["problems"] as? [[String: Any]])?.first?["code"] as? String == "personaRefused")

        let set = try await Command.run(["persona", "ready-made", "--json"] + options)
        #expect(set.status == 0, "\(set.errors)")
        let personas = try #require(try set.json()["personas"] as? [[String: Any]])
        for persona in personas {
            let expected = (persona["entitlements"] as? [String: String])?["everything"]
            let token = try #require(persona["token"] as? String)
            #expect(try await testBed.sync(build, persona: token, to: port).outcome == expected)
        }
        #expect(personas.compactMap { $0["name"] as? String }.contains("last-paid-build"))
        let again = try await Command.run(["persona", "ready-made"] + options)
        #expect(again.status == 1 && again.errors.hasSuffix("; revoke them, or pass --replace\n"), "\(again.errors)")
        let past = try await Command.run(["persona", "ready-made", "--expires", "2020-01-01"] + options)
        #expect(past.errors == "error: --expires must be in the future and within 366 days\n")
        #expect(try await Command.run(["persona", "ready-made", "--replace"] + options).status == 0)

        // A service with one app has no list of apps.
        let apps = try await Command.run(["apps", "list"] + options)
        #expect(apps.status == 1 && apps.errors.hasPrefix("error: the command is for a service with several apps; "))
        #expect(try await Command.run(["persona", "list"] + options).output.contains("early-buyer  valid until"))
        let revoked = try await Command.run(["persona", "revoke", "early-buyer"] + options)
        #expect(revoked.status == 0 && revoked.output == "revoked `early-buyer`\n")
        let gone = try await Command.run(["persona", "revoke", "early-buyer"] + options)
        #expect(
            gone.status == 1
                && gone.errors
                    == "error: there is no active persona `early-buyer`; list them with `tenure persona list`\n"
        )
        #expect(try await testBed.send("GET", "/v1/customer", to: port, token: access).status == 401)
        #expect(try await testBed.sync(build, persona: token, to: port).outcome == "denied")
        #expect(await service.end(by: SIGTERM) == 0)
    }

    @Test func `tenure persona reports wrong usage, and a wrong key or an unreachable service in one line`()
        async throws
    {
        let testBed = try await PublishingTestBed()
        let (service, port) = try await testBed.start()
        let options = testBed.options(port)
        for wrong in [["--set", "x"], ["--set", "originalAppVersion=1", "--set", "originalAppVersion=2"]] {
            #expect(try await Command.run(["persona", "create", "--name", "x"] + wrong + options).status == 64)
        }
        func isOneLine(_ result: Command.Result) -> Bool {
            result.output.isEmpty && result.errors.hasPrefix("error: ") && result.errors.count { $0 == "\n" } == 1
                && result.errors.hasSuffix("\n")
        }
        let unknown = try await Command.run(["persona", "create", "--name", "x", "--set", "build=37"] + options)
        #expect(unknown.status == 1 && unknown.errors.contains("`build`") && isOneLine(unknown))
        let url = ["--service", "http://127.0.0.1:\(port)"]
        #expect(try await Command.run(["persona", "list"] + url).status == 64)
        let torn = try await Command.run(["persona", "list", "--key", "tenure_key_x"] + url)
        #expect(torn.status == 1 && torn.errors.contains("invalid or incomplete") && isOneLine(torn))
        let other = try await Command.run("admin-key", "generate").output.trimmingCharacters(in: .newlines)
        let stranger = try await Command.run(["persona", "list", "--key", other] + url)
        #expect(
            stranger.status == 1 && stranger.errors.contains("the admin key is wrong or revoked") && isOneLine(stranger)
        )
        #expect(!torn.errors.contains("tenure_key_x") && !stranger.errors.contains(other))
        // None of these commands created a persona.
        #expect(try await !Command.run(["persona", "list"] + options).output.contains("valid until"))
        #expect(await service.end(by: SIGTERM) == 0)
        let gone = try await Command.run(["persona", "list"] + options)
        #expect(gone.status == 1 && gone.errors.contains("no service responds") && isOneLine(gone))
    }
}
