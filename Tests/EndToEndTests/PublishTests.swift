import CommandRunner
import Foundation
import PostgresServer
import TenureCore
import TestTransport
import Testing

/// A policy with a wrong boundary is published, found and rolled back.
@Suite(.serialized) struct `publishing by command line and HTTP` {
    private static let early = "704000000000000001"
    private static let between = "704000000000000002"
    private static let late = "704000000000000003"

    @Test func `commands never send a key for a service on this machine to a proxy`() async throws {
        let testBed = try await PublishingTestBed()
        let (service, port) = try await testBed.start()
        let proxy = try ClosingProxy()
        for noProxy in ["", "example.com"] {
            let versions = try await Command.run(
                ["policy", "versions"] + testBed.options(port),
                environment: [
                    "http_proxy": proxy.url, "HTTP_PROXY": proxy.url, "all_proxy": proxy.url, "no_proxy": noProxy,
                ])
            #expect(versions.status == 0, "\(versions.errors)")
        }
        #expect(await service.end(by: SIGTERM) == 0)
        // A command that finds no service doesn't ask the proxy either.
        let gone = try await Command.run(
            ["policy", "versions"] + testBed.options(port),
            environment: ["http_proxy": proxy.url, "HTTP_PROXY": proxy.url, "all_proxy": proxy.url])
        #expect(gone.status == 1 && gone.errors.contains("no service responds"), "\(gone.errors)")
        #expect(proxy.connections.withLock { $0 } == 0)
    }

    @Test func `commands use no proxy for the hosts in the environment variable no_proxy`() async throws {
        let testBed = try await PublishingTestBed()
        let key = try #require(testBed.options(0).last)
        let proxy = try ClosingProxy()
        for (noProxy, connections) in [("example.com,tenure.invalid", 0...0), ("example.com", 1...10)] {
            let versions = try await Command.run(
                ["policy", "versions", "--service", "https://tenure.invalid", "--key-file", key],
                environment: ["https_proxy": proxy.url, "HTTPS_PROXY": proxy.url, "no_proxy": noProxy])
            #expect(versions.errors.contains("no service responds"), "\(versions.errors)")
            #expect(connections.contains(proxy.connections.withLock { $0 }), "\(noProxy)")
        }
    }

    @Test
    func `a policy that takes a right away is published only with the number of losses, and can be rolled back`()
        async throws
    {
        let testBed = try await PublishingTestBed()
        let (service, port) = try await testBed.start()
        let options = testBed.options(port)
        var tokens: [String: String] = [:]
        for (id, version) in [(Self.early, "37"), (Self.between, "110"), (Self.late, "300")] {
            let answer = try await testBed.sync(try testBed.appTransaction(of: id, version: version), to: port)
            tokens[id] = (answer.json["accessToken"] as? [String: Any])?["value"] as? String
        }
        func outcomes() async throws -> [String?] {
            var all: [String?] = []
            for id in [Self.early, Self.between, Self.late] {
                all.append(try await testBed.send("GET", "/v1/customer", to: port, token: tokens[id]).outcome)
            }
            return all
        }
        #expect(try await outcomes() == ["granted", "granted", "denied"])

        // Under the published policy, build 110 belongs to the free era.
        let policy = try await testBed.acknowledgingLosses(PublishingTestBed.policy(boundary: "100"), on: port)
        let file = try testBed.write(policy)
        let rehearsed = try await Command.run(["policy", "publish", file, "--rehearse"] + options)
        #expect(rehearsed.status == 0, "\(rehearsed.errors)")
        #expect(rehearsed.output.contains("3 customers, against version 1"))
        #expect(rehearsed.output.contains("1 lose, 1 of whom were promised"))
        #expect(rehearsed.output.contains("loses [iOS, 110, 2014-05-01]: granted (eraHonored), then denied"))

        let publish = ["policy", "publish", file, "--reason", "110 was free", "--author", "ada"]
        let refused = try await Command.run(publish + options)
        #expect(refused.status == 2 && refused.errors.contains("refused: nothing was changed"))
        let shownID = try #require(refused.output.firstMatch(of: /rehearsal (reh_\w+):/)?.1)
        #expect(
            refused.errors.contains("--keep-promises")
                && refused.errors.contains("--take-from 1 --rehearsal \(shownID)"),
            "\(refused.output)\(refused.errors)")
        #expect(try await outcomes() == ["granted", "granted", "denied"])
        let body = ["policy": policy, "reason": "110 was free"]
        let overHTTP = try await testBed.send("POST", "/v1/admin/policies", to: port, body, token: try testBed.keyText)
        #expect(overHTTP.status == 409 && overHTTP.json["reason"] as? String == "takesRights")
        let id = try #require(overHTTP.json["rehearsal"] as? String)
        let wrong = try await Command.run(publish + ["--take-from", "0", "--rehearsal", id] + options)
        #expect(wrong.status == 1 && wrong.errors.contains("the number of customers who lose something is 1,"))
        #expect(try await Command.run(publish + ["--take-from", "1"] + options).status == 64)

        let published = try await Command.run(publish + ["--take-from", "1", "--rehearsal", id] + options)
        #expect(published.status == 0, "\(published.errors)")
        #expect(published.output.contains("version 2 is in effect"))
        #expect(published.output.contains("1 customer lost something; 1 promise ended"))
        #expect(try await outcomes() == ["granted", "denied", "denied"])

        let back = try await Command.run(["policy", "rollback", "--reason", "they keep it"] + options)
        #expect(back.status == 0 && back.output.contains("1 promise applies again"), "\(back.errors)")
        #expect(try await outcomes() == ["granted", "granted", "denied"])
        let kept = try await Command.run(publish + ["--keep-promises"] + options)
        #expect(kept.status == 0, "\(kept.errors)")
        #expect(try await outcomes() == ["granted", "granted", "denied"])
        #expect(
            try await testBed.send("GET", "/v1/customer", to: port, token: tokens[Self.between]).reason == "promise")

        let versions = try await Command.run(["policy", "versions"] + options)
        #expect(versions.status == 0 && versions.output.contains("version 2 is in effect"))
        // Messages of the service name routes; the command names commands.
        for unknown in [["show", "99"], ["rollback", "--to", "99", "--reason", "r"]] {
            let result = try await Command.run(["policy"] + unknown + options)
            #expect(result.status == 1 && result.errors.contains("`tenure policy versions`"), "\(result.errors)")
        }
        #expect(versions.output.contains("by ada, key publisher") && versions.output.contains("“they keep it”"))
        let shown = try await Command.run(["policy", "show", "2"] + options)
        let compiled = try await Command.run("policy", "compile", file)
        #expect(shown.status == 0 && shown.output == compiled.output)
        #expect(await service.end(by: SIGTERM) == 0)

        // The service uses the published policy, whatever policy file it starts with.
        let (again, newPort) = try await testBed.start()
        #expect(try await again.says("isn't the policy in effect"))
        let read = try await testBed.send("GET", "/v1/customer", to: newPort, token: tokens[Self.between])
        #expect(read.outcome == "granted" && read.reason == "promise")
        #expect(await again.end(by: SIGTERM) == 0)
    }

    @Test func `tenure rehearse and tenure policy publish --rehearse give the same numbers`() async throws {
        let testBed = try await PublishingTestBed()
        let (service, port) = try await testBed.start()
        for (id, version) in [(Self.early, "37"), (Self.between, "110"), (Self.late, "300")] {
            _ = try await testBed.sync(try testBed.appTransaction(of: id, version: version), to: port)
        }
        // A device sends an artifact that isn't bound to it, which doesn't count as a customer.
        let shown = try await testBed.appTransaction(of: Self.between, version: "110")
        #expect(try await testBed.send("POST", "/v1/sync", to: port, ["appTransaction": shown]).status == 200)
        let old = try testBed.write(PublishingTestBed.policy(), to: "old.yaml")
        for boundary in ["100", "400"] {
            let new = try testBed.write(PublishingTestBed.policy(boundary: boundary), to: "new-\(boundary).yaml")
            let published = try await Command.run(
                ["policy", "publish", new, "--rehearse", "--json"] + testBed.options(port)
            ).json()
            let rehearsed = try await Command.run(
                ["rehearse", "--policy", new, "--against", old, "--database", testBed.database, "--json"]
                    + testBed.trust)
            let customers = try #require(try rehearsed.json()["customers"] as? [String: Int], "\(rehearsed.errors)")
            #expect(customers["total"] == 3 && published["customers"] as? Int == 3)
            for name in ["losing", "losingWithPromises", "gaining", "contradicting"] {
                #expect(customers[name] == published[name] as? Int, "\(name)")
            }
            #expect(customers["losing"] == (boundary == "100" ? 1 : 0))
            #expect(customers["losingWithPromises"] == 0)
            #expect(customers["gaining"] == (boundary == "100" ? 0 : 1))
        }
        let generous = testBed.folder.url("new-400.yaml").path
        let publish = ["policy", "publish", generous, "--reason", "r"] + testBed.options(port)
        let refused = try await Command.run(publish)
        #expect(refused.status == 2 && refused.errors.contains("`--give-to 1 --rehearsal reh_"), "\(refused.errors)")
        let id = try #require(refused.errors.components(separatedBy: "--rehearsal ").last?.split(separator: "`").first)
        #expect(try await Command.run(publish + ["--give-to", "1"]).status == 64)
        #expect(try await Command.run(publish + ["--give-to", "0", "--rehearsal", String(id)]).status == 1)
        let given = try await Command.run(publish + ["--give-to", "1", "--rehearsal", String(id)])
        #expect(given.status == 0, "\(given.errors)")
        #expect(await service.end(by: SIGTERM) == 0)
    }

    @Test func `a rollback needs a confirmation of its losses, but not of its gains`() async throws {
        let testBed = try await PublishingTestBed()
        let (service, port) = try await testBed.start()
        for (id, version) in [(Self.early, "37"), (Self.between, "110")] {
            _ = try await testBed.sync(try testBed.appTransaction(of: id, version: version), to: port)
        }
        // The owner of build 37 gains `badge`, and that of build 110 loses `everything`.
        let mixed = PublishingTestBed.policy(boundary: "100") + "\n  badge: { honors: [paid] }"
        let file = try testBed.write(try await testBed.acknowledgingLosses(mixed, on: port))
        let publish = ["policy", "publish", file, "--reason", "r"] + testBed.options(port)
        let refused = try await Command.run(publish)
        #expect(refused.errors.contains("--take-from 1 --give-to 1 --rehearsal reh_"), "\(refused.errors)")
        // The owner of build 110 keeps the promise, so only the gain is to be allowed.
        let keeping = try await Command.run(publish + ["--keep-promises"])
        #expect(keeping.status == 2, "\(keeping.errors)")
        #expect(keeping.errors.contains("`--keep-promises --give-to 1 --rehearsal reh_"), "\(keeping.errors)")
        func rehearsal(in text: String) throws -> String {
            String(try #require(text.components(separatedBy: "--rehearsal ").last?.split(separator: "`").first))
        }
        let allowed = ["--take-from", "1", "--give-to", "1", "--rehearsal", try rehearsal(in: refused.errors)]
        let published = try await Command.run(publish + allowed)
        #expect(published.status == 0, "\(published.errors)")
        let rollback = ["policy", "rollback", "--reason", "r"] + testBed.options(port)
        let stopped = try await Command.run(rollback)
        #expect(stopped.status == 2 && stopped.errors.contains("`--take-from 1 --rehearsal reh_"), "\(stopped.errors)")
        let back = try await Command.run(
            rollback + ["--take-from", "1", "--rehearsal", try rehearsal(in: stopped.errors)])
        #expect(back.status == 0 && back.output.contains("1 promise applies again"), "\(back.errors)")
        #expect(await service.end(by: SIGTERM) == 0)
    }

    @Test func `a policy that takes a right away can't be published after a rehearsal without customers`() async throws
    {
        let testBed = try await PublishingTestBed()
        let (service, port) = try await testBed.start()
        let file = try testBed.write(PublishingTestBed.policy(boundary: "100"))
        let result = try await Command.run(["policy", "publish", file, "--rehearse"] + testBed.options(port))
        #expect(result.status == 2 && result.errors.contains("no customer was rehearsed"), "\(result.errors)")
        let refused = try await Command.run(["policy", "publish", file, "--reason", "r"] + testBed.options(port))
        #expect(refused.status == 2 && refused.errors.contains("right-lost"), "\(refused.errors)")
        #expect(refused.output.contains("  at: "))
        let versions = try await Command.run(["policy", "versions"] + testBed.options(port))
        #expect(versions.output.contains("version 1 is in effect"), "\(versions.output)")
        #expect(await service.end(by: SIGTERM) == 0)
    }

    @Test func `two services that share a PostgreSQL database follow one policy`() async throws {
        let server = try PostgresServer()
        let testBed = try await PublishingTestBed(database: server.url())
        let (one, port) = try await testBed.start()
        let (two, otherPort) = try await testBed.start()
        let synced = try await testBed.sync(try testBed.appTransaction(of: Self.between, version: "110"), to: otherPort)
        #expect(synced.outcome == "granted")
        let token = try #require((synced.json["accessToken"] as? [String: Any])?["value"] as? String)
        let file = try testBed.write(PublishingTestBed.policy(boundary: "100"))
        let options = testBed.options(port)
        let rehearsed = try await Command.run(["policy", "publish", file, "--rehearse", "--json"] + options)
        let id = try #require(try rehearsed.json()["id"] as? String)
        let published = try await Command.run(
            ["policy", "publish", file, "--reason", "r", "--take-from", "1", "--rehearsal", id] + options)
        #expect(published.status == 0, "\(published.errors)")

        // The other service writes under the new policy from now on.
        let new = try await testBed.sync(try testBed.appTransaction(of: Self.late, version: "105"), to: otherPort)
        #expect(new.outcome == "denied")
        // It also reads under the new policy, within a second.
        var read: String?
        for _ in 0..<200 where read != "denied" {
            read = try await testBed.send("GET", "/v1/customer", to: otherPort, token: token).outcome
            if read != "denied" { try await Task.sleep(for: .milliseconds(50)) }
        }
        #expect(read == "denied")
        for process in [one, two] { #expect(await process.end(by: SIGTERM) == 0) }
    }
}

/// A proxy that counts its connections and closes each of them.
private struct ClosingProxy {
    let connections = Locked(0)
    let url: String

    init() throws {
        let (listener, port) = try listenOnLoopback()
        url = "http://127.0.0.1:\(port)"
        let connections = connections
        Thread.detachNewThread {
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                connections.withLock { $0 += 1 }
                close(connection)
            }
        }
    }
}
