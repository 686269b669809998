import CommandRunner
import Foundation
import TenureCore
import TenureJSON
import TestTransport
import Testing

/// The options of `tenure local-store run`, and what a customer's device has.
@Suite struct `a running local App Store` {
    private let folder: Folder
    private let store: String

    init() throws {
        folder = try Folder()
        store = folder.url("store").path
        let story = """
            scenario: A calculator
            begins: 2026-01-10
            app:
              bundleID: com.example.calculator
              appleID: 828838134
              releases: [{ platform: iOS, build: "37", version: "1.4", at: 2014-01-10 }]
              products:
                com.example.calculator.monthly: { type: autoRenewable, price: 1.99, group: plans, period: P1M }
            customers: { Ada: {} }
            """
        try folder.write(story, to: "story.yaml")
    }

    private func start(_ options: String...) async throws -> (command: RunningCommand, url: String) {
        let command = try RunningCommand(
            [
                "local-store", "run", "--scenario", folder.url("story.yaml").path, "--folder", store, "--port", "0",
            ] + options)
        let port = try #require(try await command.port(), "\(command.errors)")
        return (command, "http://127.0.0.1:\(port)")
    }

    private func perform(_ arguments: String..., at url: String) async throws -> Command.Result {
        try await Command.run(["local-store", "do"] + arguments + ["--store", url])
    }

    @Test func `tenure local-store device writes a customer's artifacts to one file and the receipt to another`()
        async throws
    {
        let (command, url) = try await start()
        for operation in [["acquire"], ["buy", "product=com.example.calculator.monthly"]] {
            let done = try await Command.run(["local-store", "do"] + operation + ["customer=Ada", "--store", url])
            #expect(done.status == 0, "\(done.errors)")
        }
        func device(_ arguments: String...) async throws -> Command.Result {
            try await Command.run(["local-store", "device"] + arguments + ["--store", url])
        }
        let printed = try await device("Ada").json()
        #expect(printed["customer"] as? String == "Ada" && (printed["receipt"] as? String)?.isEmpty == false)
        #expect((printed["transactions"] as? [String])?.count == 1)
        #expect((printed["renewalInfos"] as? [String])?.count == 1)

        let out = folder.url("ada.jws").path
        let written = try await device("Ada", "--out", out)
        #expect(written.status == 0 && written.output.isEmpty, "\(written.errors)")
        // The kinds of artifacts in their order, each with a field that only this kind has.
        let payloads = try folder.text("ada.jws").split(separator: "\n").map { jws in
            String(decoding: Base64.urlSafe.decode(Array(jws.split(separator: ".")[1].utf8)[...]) ?? [], as: UTF8.self)
        }
        try #require(payloads.count == 3)
        for (payload, field) in zip(payloads, ["receiptType", "transactionId", "autoRenewStatus"]) {
            #expect(payload.contains("\"\(field)\":"), "\(payload)")
        }
        let trust = ["--trust", store + "/authority"]
        #expect(try await Command.run(["inspect", out + ".receipt"] + trust).status == 0)
        // Neither file is replaced, and nothing is written if only one of them exists.
        let files = [try folder.text("ada.jws"), try folder.text("ada.jws.receipt")]
        #expect(try await device("Ada", "--out", out).status == 1)
        #expect([try folder.text("ada.jws"), try folder.text("ada.jws.receipt")] == files)
        try FileManager.default.removeItem(atPath: out)
        #expect(try await device("Ada", "--out", out).status == 1)
        #expect(!FileManager.default.fileExists(atPath: out))
        #expect(try await device("Ada", "--out", out, "--force").status == 0)

        let unknown = try await device("Zoe", "--out", folder.url("zoe.jws").path)
        #expect(unknown.status == 1 && unknown.errors.contains("there is no customer `Zoe`"), "\(unknown.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.url("zoe.jws").path))
        #expect(await command.end(by: SIGTERM) == 0)
    }

    @Test func `tenure local-store run prints the time, the files and the address, and keeps its secrets private`()
        async throws
    {
        let (command, url) = try await start()
        let lines = command.output.split(separator: "\n").map(String.init)
        try #require(lines.count == 5, "\(command.output)")
        #expect(lines[0] == "it is 2026-01-10T00:00:00Z in Production; 1 customer")
        #expect(lines[1] == "trust \(store)/authority/roots.pem" && lines[2] == "clock \(store)/clock")
        #expect(lines[3].hasPrefix("server API key \(store)/SubscriptionKey.p8, issuer "))
        #expect(lines[3].contains(/, issuer \S+, key ID \S+$/))
        #expect(lines[4] == "serving com.example.calculator on \(url)")
        #expect(try folder.text("store/clock") == "2026-01-10T00:00:00Z\n")
        for (name, mode) in [("", 0o700), ("/SubscriptionKey.p8", 0o600), ("/lock", 0o600)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: store + name)
            #expect(attributes[.posixPermissions] as? Int == mode, "\(name)")
        }
        #expect(try await perform("acquire", "customer=Ada", at: url).status == 0)
        let bought = try await perform("buy", "customer=Ada", "product=com.example.calculator.monthly", at: url)
        let printed = bought.output.split(separator: "\n")
        try #require(printed.count == 2, "\(bought.output)")
        #expect(printed[0].hasPrefix("it is 2026-01-10T"))
        #expect(printed[1].wholeMatch(of: /2026-01-10T\S+Z SUBSCRIBED INITIAL_BUY \d+ order \S+/) != nil)
        #expect(await command.end(by: SIGTERM) == 0)
    }

    @Test func `tenure local-store run --notify posts notifications to this URL, even after a restart without it`()
        async throws
    {
        let (listener, port) = try listenOnLoopback()
        let received = Locked(0)
        Thread.detachNewThread {
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                received.withLock { $0 += 1 }
                close(connection)
            }
        }
        defer { close(listener) }
        let (first, url) = try await start("--notify", "http://127.0.0.1:\(port)/hook")
        #expect(try await perform("acquire", "customer=Ada", at: url).status == 0)
        #expect(received.withLock { $0 } == 0)
        let buy = ["buy", "customer=Ada", "product=com.example.calculator.monthly"]
        let bought = try await Command.run(["local-store", "do"] + buy + ["--store", url])
        #expect(bought.status == 0 && bought.output.contains(" SUBSCRIBED INITIAL_BUY "), "\(bought.output)")
        let sent = received.withLock { $0 }
        #expect(sent > 0)
        #expect(await first.end(by: SIGTERM) == 0)
        // The folder keeps the URL.
        let (second, again) = try await start()
        #expect(
            try await perform("cancel", "customer=Ada", "product=com.example.calculator.monthly", at: again).status == 0
        )
        #expect(received.withLock { $0 } > sent)
        #expect(await second.end(by: SIGTERM) == 0)
    }

    @Test func `the clock of the local App Store runs with --speed, and otherwise only operations advance it`()
        async throws
    {
        let (still, url) = try await start()
        let now = try await perform("advance", "by=0s", at: url).output
        #expect(now == "it is 2026-01-10T00:00:00Z\n")
        #expect(await still.end(by: SIGTERM) == 0)
        let (running, fast) = try await start("--speed", "86400x")
        var later = now
        for _ in 0..<600 {
            later = try await perform("advance", "by=0s", at: fast).output
            if later != now { break }
        }
        #expect(later.hasPrefix("it is 2026-") && later > now, "\(later)")
        #expect(try folder.text("store/clock").contains("2026-"))
        #expect(await running.end(by: SIGTERM) == 0)
    }
}
