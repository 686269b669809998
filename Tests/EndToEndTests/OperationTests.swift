import CommandRunner
import Foundation
import PostgresServer
import TenureServer
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The built service, as operators run it.
@Suite(.serialized) struct OperationTests {
    private static let policy = """
        app: { bundleID: com.example.calculator, appleID: 828838134 }
        eras:
          - { name: paid, model: paid }
          - { name: freemium, model: free, begins: { iOS: { build: "120", at: 2015-06-10T18:00:00Z } }, changeover: none }
        buildNumbers: increasing
        entitlements: { everything: { honors: [paid] } }
        """

    private let folder: Folder
    private let policy: String

    init() throws {
        folder = try Folder()
        policy = try folder.write(Self.policy, to: "policy.yaml")
    }

    private func start(_ more: String...) async throws -> (service: RunningCommand, port: Int) {
        let service = try RunningCommand(
            ["serve", "--policy", policy, "--database", folder.url("tenure.sqlite").path, "--port", "0"] + more)
        return (service, try #require(try await service.port(), "\(service.errors)"))
    }

    private func check(_ arguments: [String], _ environment: [String: String] = [:]) async throws -> Command.Result {
        // Removes the variables of `make soak`, which aren't settings of the service.
        let names = ProcessInfo.processInfo.environment.keys.filter { $0.hasPrefix("TENURE_") }
        return try await Command.run(
            ["serve", "--check"] + arguments, environment: environment, removing: names)
    }

    private func metric(_ name: String, port: Int) async throws -> Double? {
        let connection = try RawConnection(port: port)
        connection.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        let line = await connection.received()?.split(separator: "\n").first { $0.hasPrefix(name + " ") }
        return line?.split(separator: " ").last.flatMap { Double($0.trimmingCharacters(in: .whitespaces)) }
    }

    @Test func `metrics show how the connections to PostgreSQL are used`() async throws {
        let server = try PostgresServer.shared()
        let schema = "e2e_\(UInt32.random(in: .min ... .max))"
        let service = try RunningCommand([
            "serve", "--policy", policy, "--database", server.url("schema=\(schema)&connections=7"),
            "--keys", folder.url("").path, "--port", "0",
        ])
        let port = try #require(try await service.port(), "\(service.errors)")
        for (purpose, limit) in [("transactions", 7.0), ("lookups", 2)] {
            #expect(
                try await metric(#"tenure_database_connection_limit{purpose="\#(purpose)"}"#, port: port) == limit)
            #expect(try await metric(#"tenure_database_operations_waiting{purpose="\#(purpose)"}"#, port: port) == 0)
        }
        let open = try await metric(#"tenure_database_connections{purpose="transactions"}"#, port: port)
        #expect((1...7).contains(try #require(open)))
        #expect(await service.end(by: SIGTERM) == 0)
    }

    // MARK: Configuration

    @Test func `serve --check prints what the service would do, and creates nothing`() async throws {
        let database = folder.url("new.sqlite").path
        let result = try await check(["--policy", policy, "--database", database], ["TENURE_PORT": "4711"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.hasPrefix("would serve com.example.calculator on http://127.0.0.1:4711\n"))
        #expect(result.output.contains("\(database) (would be created)"))
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(left == ["policy.yaml"])
    }

    @Test func `serve --check reports all mistakes at once, one line each, with their places`() async throws {
        let file = try folder.write(
            """
            policy: nowhere.yaml
            database: no/such/folder/tenure.sqlite
            host: 0.0.0.0
            port: 99999
            hots: x
            tls: { certificate: here.pem, keys: x }
            behindProxy: true
            rateLimits:
              perAddress: many
            """, to: "tenure.yaml")
        let result = try await check(
            ["--config", file, "--metrics", "some"], ["TENURE_PROT": "1", "TENURE_LOG_LEVEL": "loud"])
        #expect(result.status == 1)
        #expect(result.output.isEmpty)
        let lines = result.errors.split(separator: "\n").map(String.init)
        #expect(lines.allSatisfy { $0.hasPrefix("error: ") })
        for (place, words) in [
            ("\(file):4:7:", "`99999`"), ("\(file):5:1:", "`hots`"), ("\(file):6:31:", "`tls.keys`"),
            ("\(file):9:15:", "`many`"), ("$TENURE_LOG_LEVEL:", "`loud`"), ("--metrics:", "`some`"),
            ("nowhere.yaml", "can't be read"), ("`behindProxy`", "`true`"),
            ("`tls.certificate` needs its key", "`tls.key`"),
            ("there is no folder", "no/such/folder"), ("0.0.0.0", "admin key"), ("0.0.0.0", "there is no TLS"),
            ("`TENURE_PROT`", "there is no setting"),
        ] {
            #expect(
                lines.count { $0.contains(place) && $0.contains(words) } == 1, "\(place) \(words)\n\(result.errors)")
        }
        #expect(lines.count == 13, "\(result.errors)")
    }

    // With only one of them, the service would serve plain HTTP.
    @Test(arguments: [("certificate", "key"), ("key", "certificate")])
    func `serve --check reports a TLS certificate without a key, and a key without a certificate`(
        given: String, missing: String
    ) async throws {
        let file = try folder.write("policy: policy.yaml\ntls: { \(given): x.pem }\n", to: "tls-\(given).yaml")
        let result = try await check(["--config", file, "--database", folder.url("x.sqlite").path])
        #expect(result.status == 1)
        #expect(result.errors.contains("`tls.\(given)` needs its \(missing)"), "\(result.errors)")
    }

    @Test func `serve --check reports that an App Store host has no effect without a key`() async throws {
        let file = try folder.write(
            "policy: policy.yaml\nappStore: { hosts: { sandbox: 'http://127.0.0.1:9' } }\n", to: "tenure.yaml")
        let result = try await check(["--config", file, "--database", folder.url("x.sqlite").path])
        #expect(result.status == 1)
        #expect(result.errors.contains("`appStore.hosts.sandbox` has no effect without a key"), "\(result.errors)")
    }

    @Test func `options of tenure serve override the environment, which overrides the configuration file`() async throws
    {
        let file = try folder.write("policy: policy.yaml\nhost: 127.0.0.2\nport: 1\nmetrics: off\n", to: "tenure.yaml")
        let environment = ["TENURE_CONFIG": file, "TENURE_HOST": "127.0.0.3", "TENURE_PORT": "2"]
        let result = try await check(["--port=3", "--database", folder.url("x.sqlite").path], environment)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("on http://127.0.0.3:3\n"))
        #expect(result.output.contains("metrics: off\n"))
    }

    @Test func `tenure serve reports wrong usage, and its help lists every setting`() async throws {
        #expect(try await Command.run("serve", "--prot", "1").status == 64)
        #expect(try await Command.run("serve", "--port").status == 64)
        let help = try await Command.run("serve", "--help")
        #expect(help.status == 0)
        for word in ["--policy <file>", "TENURE_RATE_LIMITS_PER_ADDRESS", "default: 8080", "--check"] {
            #expect(help.output.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains(word), "\(word)")
        }
        let words = Set(help.output.split { " \n();,".contains($0) })
        for setting in Setting.all where setting.kind != .structure {
            #expect(words.contains(setting.flag[...]), "\(setting.name)")
        }
        for setting in Setting.configurable where setting.kind != .structure {
            #expect(words.contains(setting.variable[...]), "\(setting.name)")
        }
        #expect(try await Command.run("help", "serve").output == help.output)
    }

    // MARK: Stopping

    private static let request = "POST /v1/sync HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"

    @Test func `the service completes accepted requests before it stops`() async throws {
        let (service, port) = try await start("--timeouts-body", "60")
        let slow = try RawConnection(port: port)
        slow.send(Self.request + "Content-Length: 25\r\n\r\n{\"appTransaction\":")
        // The other request in flight is the one that reads the metric.
        while try await metric("tenure_requests_in_flight", port: port) != 2 { await Task.yield() }
        service.signal(SIGTERM)
        // The service accepts no new connections.
        while let late = try? RawConnection(port: port) {
            _ = late
            await Task.yield()
        }
        slow.send("\"x\"   }")
        let answer = try #require(await slow.received())
        #expect(answer.hasPrefix("HTTP/1.1 422 "), "\(answer)")
        #expect(answer.contains("nothingVerified"))
        #expect(await service.ended() == 0)
    }

    @Test func `the service stops even if a client never finishes its request`() async throws {
        let (service, port) = try await start("--timeouts-shutdown", "1")
        let slow = try RawConnection(port: port)
        slow.send(Self.request + "Content-Length: 25\r\n\r\n{\"appTransaction\":")
        while try await metric("tenure_requests_in_flight", port: port) != 2 { await Task.yield() }
        service.signal(SIGTERM)
        #expect(await service.ended() == 0)
        #expect(await slow.received()?.contains("200 OK") == false)
        #expect(service.errors.contains("were aborted"))
    }

    // MARK: Load

    private static let isSoak = ProcessInfo.processInfo.environment["TENURE_SOAK"] != nil

    @Test(.enabled(if: RawConnection.maximumFiles >= 2048, "the hard limit of open files is below 2,048"))
    func `the limit of open files leaves room for 128 other files and for a download of every other connection`()
        async throws
    {
        // 2,048 files are enough for 300 connections and for the files that other tests of this process have open.
        RawConnection.raiseLimit()
        // The service raises its limit of open files to the maximum that the system allows, here from 256 to 512.
        let script = #"ulimit -S -n 256 && ulimit -H -n 512 && exec "$0" "$@""#
        let service = try RunningCommand(
            [
                "-c", script, Command.executable.path, "serve", "--policy", policy, "--database",
                folder.url("tenure.sqlite").path, "--port", "0",
                // So that no connection is closed because the machine is slow.
                "--timeouts-idle", "3600",
            ], executable: URL(fileURLWithPath: "/bin/sh"))
        let port = try #require(try await service.port(), "\(service.errors)")
        var idle: [RawConnection] = []
        for _ in 0..<300 {
            let connection = try RawConnection(port: port)
            connection.send("GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
            let answer = await connection.received(until: "{\"status\":\"ok\"}")
            #expect(answer?.contains("200 OK") == true)
            idle.append(connection)
        }
        // Two thirds of the remaining 384 files are 256 connections. One of them reads the metric.
        let closed = try await metric(#"tenure_connections_closed_for_room_total{phase="idle"}"#, port: port)
        let expected: Double = 300 + 1 - 256
        #expect(closed == expected)
        withExtendedLifetime(idle) {}
        #expect(await service.end(by: SIGTERM) == 0)
    }

    @Test func `slow clients and endless request bodies increase the service's memory only a little`() async throws {
        let count = Self.isSoak ? 10_000 : 500
        RawConnection.raiseLimit()
        let timeout = Self.isSoak ? "60" : "5"
        let (service, port) = try await start(
            "--timeouts-head", timeout, "--timeouts-body", timeout, "--log-level", "error")
        _ = try await metric("tenure_requests_in_flight", port: port)
        let before = try #require(service.residentMemory)
        var slow: [RawConnection] = []
        for index in 0..<count {
            let connection = try RawConnection(port: port)
            connection.send(
                index.isMultiple(of: 2)
                    ? "GET /health/live HTTP/1.1\r\nX-Slow: "
                    : Self.request + "Content-Length: 1000000\r\n\r\n{\"receipt\": \"")
            slow.append(connection)
        }
        #expect(try await metric("tenure_requests_in_flight", port: port) != nil, "others are served")
        let endless = try RawConnection(port: port)
        endless.send(Self.request + "Transfer-Encoding: chunked\r\n\r\n")
        let chunk = "100000\r\n" + String(repeating: "A", count: 1 << 20) + "\r\n"
        var megabytes = 0
        while megabytes < 1024, await endless.sent(chunk) { megabytes += 1 }
        #expect(await endless.received() != nil)
        #expect(megabytes < 64, "it is cut off")
        let grown = try #require(service.residentMemory) - before
        // A connection costs its buffers and a task. The service keeps nothing that a client sends.
        #expect(grown < (64 << 20) + count * (48 << 10), "\(grown >> 20) MB for \(count) clients")
        for connection in slow { #expect(await connection.received()?.contains("200 OK") == false) }
        // The service notices a closed connection later than the client. The remaining one reads the metric.
        while try await metric("tenure_requests_in_flight", port: port) != 1 { await Task.yield() }
        service.signal(SIGTERM)
        #expect(await service.ended() == 0)
    }
}
