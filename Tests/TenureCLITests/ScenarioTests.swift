import CommandRunner
import Foundation
import Testing

private let examples = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().appendingPathComponent("../../Examples/scenarios").standardizedFileURL.path

/// The boundary of a developer who compares versions as strings: "9" comes after "13".
private let wrongPolicy = """
    app: { bundleID: com.example.sketch, appleID: 828838135 }
    eras:
      - { name: paid, model: paid }
      - { name: freemium, model: free, begins: { iOS: { build: "9", at: 2021-02-01T00:00:00Z } }, changeover: none }
    buildNumbers: increasing
    entitlements: { pro: { products: [com.example.sketch.pro], honors: [paid] } }
    """

@Test func `tenure scenario exits with 0 if all decisions are as expected, otherwise with 2`() async throws {
    let folder = try Folder()
    let story = "\(examples)/string-compared-majors.yaml"
    let good = try await Command.run("scenario", "run", story)
    #expect(good.status == 0)
    #expect(good.output == "String-compared majors: 4 checked, as expected\n")
    let policy = try folder.write(wrongPolicy, to: "wrong.yaml")
    // A second scenario, with which the wrong policy agrees, doesn't change the exit code.
    var agreeing = try String(contentsOfFile: story, encoding: .utf8)
        .replacing("scenario: String-compared majors", with: "scenario: Agreeing")
    for customer in ["Boris", "Chen"] {
        agreeing = agreeing.replacing("\(customer): { pro: granted }", with: "\(customer): { pro: denied }")
    }
    let second = try folder.write(agreeing, to: "agreeing.yaml")
    let bad = try await Command.run("scenario", "run", "--policy", policy, story, second)
    #expect(bad.status == 2)
    let lines = bad.output.split(separator: "\n")
    try #require(lines.count == 4, "\(bad.output)")
    #expect(lines[3] == "Agreeing: 4 checked, as expected")
    #expect(lines[0] == "String-compared majors: 4 checked, 2 differ")
    // Only the differences, in the order of the file.
    for (line, customer) in zip(lines[1...2], ["Boris", "Chen"]) {
        #expect(line.hasPrefix("  \(story):") && line.contains(": 2026-05-01T"), "\(line)")
        #expect(line.hasSuffix("Z, \(customer), pro: expected granted, got denied"), "\(line)")
    }
}

#if os(Linux)
    // On macOS, `TMPDIR` may not set the temporary folder.
    @Test func `tenure scenario leaves nothing in the temporary folder, with and without differences`() async throws {
        let (folder, temporary) = (try Folder(), try Folder())
        let story = "\(examples)/string-compared-majors.yaml"
        let policy = try folder.write(wrongPolicy, to: "wrong.yaml")
        let cases: [(arguments: [String], status: Int32)] = [([story], 0), (["--policy", policy, story], 2)]
        for (arguments, status) in cases {
            let result = try await Command.run(
                ["scenario", "run"] + arguments, environment: ["TMPDIR": temporary.path])
            #expect(result.status == status, "\(result.errors)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path) == [])
        }
        // The command does use this folder: it fails if it can't write there.
        let file = try folder.write("", to: "file")
        let refused = try await Command.run(["scenario", "run", story], environment: ["TMPDIR": file])
        #expect(refused.status == 1)
        #expect(refused.errors.hasPrefix("error: the folder `\(file)/tenure-rehearsal-"), "\(refused.errors)")
    }
#endif

@Test func `every scenario in Examples has the expected decisions with a service over HTTP`() async throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: examples).sorted()
        .filter { $0.hasSuffix(".yaml") && !$0.hasSuffix(".policy.yaml") }
    let result = try await Command.run(["scenario", "run", "--verbose"] + files.map { "\(examples)/\($0)" })
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    let lines = result.output.split(separator: "\n")
    let verdicts = lines.filter { $0.hasSuffix("checked, as expected") }
    #expect(verdicts.count == files.count)
    // Each expectation is printed with its position, and all were checked.
    let counts = verdicts.compactMap { $0.split(separator: " ").dropLast(3).last.flatMap { Int($0) } }
    for (file, count) in zip(files, counts) {
        #expect(count > 0 && lines.filter { $0.contains("/\(file):") }.count == count, "\(file)")
    }
    #expect(result.errors == "")
}

@Test func `tenure scenario reports each mistake of a scenario at its place`() async throws {
    let folder = try Folder()
    let file = try folder.write("scenario: Broken\nbegins: soon\n", to: "broken.yaml")
    let result = try await Command.run("scenario", "run", file)
    #expect(result.status == 1)
    #expect(result.errors.contains("\(file):2:9: `soon` isn't a date"))
    #expect(result.errors.contains("\(file):1:1: `app` is missing"))
}

@Test func `tenure local-store runs, lists events, and continues after a restart`() async throws {
    let folder = try Folder()
    let store = folder.url("store").path
    let arguments = ["local-store", "run", "--folder", store, "--port", "0"]
    let first = try RunningCommand(arguments + ["--scenario", "\(examples)/calculator-disaster.yaml"])
    let port = try #require(try await first.port(), "\(first.errors)")
    func perform(_ arguments: String..., port: Int) async throws -> Command.Result {
        try await Command.run(["local-store", "do"] + arguments + ["--store", "http://127.0.0.1:\(port)"])
    }
    #expect(try await perform("customer", "customer=Zoe", port: port).status == 0)
    #expect(try await perform("acquire", "customer=Zoe", port: port).status == 0)
    let bought = try await perform("buy", "customer=Zoe", "product=com.example.calculator.yearly", port: port)
    #expect(bought.output.contains("SUBSCRIBED INITIAL_BUY"))
    let refused = try await perform("acquire", "customer=Zoe", port: port)
    #expect(refused.status == 1)
    #expect(refused.errors == "error: `Zoe` has `com.example.calculator` already; use `update` for a newer release\n")
    #expect(try await perform("fly", port: port).status == 64)
    #expect(await first.end(by: SIGTERM) == 0)

    let second = try RunningCommand(arguments)
    let again = try #require(try await second.port(), "\(second.errors)")
    #expect(try await perform("advance", "by=366d", port: again).output.contains("DID_RENEW"))
    let file = folder.url("zoe.jws").path
    let device = try await Command.run(
        "local-store", "device", "Zoe", "--out", file, "--store", "http://127.0.0.1:\(again)")
    #expect(device.status == 0)
    let decided = try await Command.run(
        "decide", "--policy", "\(examples)/calculator.policy.yaml", "--trust", "\(store)/authority", "--at",
        "2027-12-01",
        file)
    #expect(decided.status == 0, "\(decided.output)\(decided.errors)")
    #expect(await second.end(by: SIGTERM) == 0)
}

@Test func `only one process at a time can use a local App Store's folder, even after a kill`() async throws {
    let folder = try Folder()
    let store = folder.url("store").path
    let arguments = ["local-store", "run", "--folder", store, "--port", "0"]
    // An earlier process was stopped while it created the journal.
    try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
    try Data("half a journal".utf8).write(to: URL(fileURLWithPath: "\(store)/journal.sqlite.part"))
    let first = try RunningCommand(arguments + ["--scenario", "\(examples)/calculator-disaster.yaml"])
    let port = try #require(try await first.port(), "\(first.errors)")
    let bought = try await Command.run(
        "local-store", "do", "customer", "customer=Zoe", "--store", "http://127.0.0.1:\(port)")
    #expect(bought.status == 0)

    let other = try await Command.run(arguments)
    #expect(other.status == 1)
    #expect(
        other.errors
            == "error: another local App Store runs in `\(store)`; stop it, or choose another folder with --folder\n")

    let elsewhere = try await Command.run(
        "local-store", "run", "--folder", folder.url("other").path, "--scenario",
        "\(examples)/calculator-disaster.yaml",
        "--port", "\(port)")
    #expect(elsewhere.status == 1)
    #expect(
        elsewhere.errors
            == "error: the port \(port) of this machine is in use; stop the process that listens there, or choose "
            + "another port\n")

    _ = await first.end(by: SIGKILL)
    let second = try RunningCommand(arguments)
    let again = try #require(try await second.port(), "\(second.errors)")
    let known = try await Command.run(
        "local-store", "do", "customer", "customer=Zoe", "--store", "http://127.0.0.1:\(again)")
    #expect(known.errors.contains("there already is a customer `Zoe`"))
    #expect(await second.end(by: SIGTERM) == 0)
}

@Test func `tenure local-store reports a journal file that is empty or isn't a database`() async throws {
    let folder = try Folder()
    for (contents, complaint) in [
        ("no database", "file is not a database"), ("", "is empty; delete it"),
    ] {
        let store = folder.url("store \(contents)")
        try FileManager.default.createDirectory(at: store, withIntermediateDirectories: true)
        let file = store.appendingPathComponent("journal.sqlite")
        try Data(contents.utf8).write(to: file)
        let result = try await Command.run("local-store", "run", "--folder", store.path, "--port", "0")
        #expect(result.status == 1)
        #expect(result.errors.contains(complaint), "\(result.errors)")
        #expect(result.errors.contains(file.path) && result.errors.split(separator: "\n").count == 1)
    }
}

@Test func `tenure scenario plays a scenario against a running service`() async throws {
    let folder = try Folder()
    let authority = folder.url("authority").path
    try #require(try await Command.run("mint", "authority", authority).status == 0)
    let service = try RunningCommand([
        "serve", "--policy", "\(examples)/universal-purchase.policy.yaml", "--trust", authority, "--port", "0",
        "--database", folder.url("tenure.sqlite").path,
    ])
    let port = try #require(try await service.port(), "\(service.errors)")
    let result = try await Command.run(
        "scenario", "run", "--service", "http://127.0.0.1:\(port)", "--authority", authority,
        "\(examples)/universal-purchase.yaml")
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output == "Universal purchase: 5 checked, as expected\n")
    #expect(await service.end(by: SIGTERM) == 0)
}

/// A free port: a listener has just released it.
private func freePort() async throws -> Int {
    let folder = try Folder()
    let store = try RunningCommand([
        "local-store", "run", "--folder", folder.url("store").path, "--port", "0", "--scenario",
        "\(examples)/string-compared-majors.yaml",
    ])
    let port = try #require(try await store.port(), "\(store.errors)")
    #expect(await store.end(by: SIGTERM) == 0)
    return port
}

@Test(arguments: [
    ["settings", "--local-store-port", "0"], ["settings", "--local-store-port", "65536"],
    ["run", "--local-store-port", "8090", "story.yaml"],
    ["run", "--service", "http://127.0.0.1:1", "--folder", "x", "--local-store-port", "65536", "story.yaml"],
])
func `an invalid or unused port of the local App Store is refused`(_ arguments: [String]) async throws {
    let result = try await Command.run(["scenario"] + arguments)
    #expect(result.status == 64)
    #expect(result.errors.contains("Error: `--local-store-port` "))
}

@Test func `tenure scenario settings writes secrets for their owner only, and keeps the admin key`() async throws {
    let folder = try Folder()
    let place = folder.url("scenario").path
    let store = "http://127.0.0.1:8090"
    let values = [
        ("trust", "\(place)/authority"), ("clock", "\(place)/clock"), ("admin-key-file", "\(place)/admin-key"),
        ("app-store-issuer-id", ""), ("app-store-key-id", ""),
        ("app-store-private-key-file", "\(place)/SubscriptionKey.p8"), ("app-store-hosts-production", store),
        ("app-store-hosts-sandbox", store),
    ]
    var keys: [String] = []
    var roots: Set<String> = []
    for _ in 0..<2 {
        let result = try await Command.run("scenario", "settings", "--folder", place)
        #expect(result.status == 0, "\(result.errors)")
        keys.append(try folder.text("scenario/admin-key"))
        roots.insert(try folder.text("scenario/authority/roots.pem"))
        let lines = result.output.split(separator: "\n")
        try #require(lines.count == values.count, "\(result.output)")
        for (line, (option, value)) in zip(lines, values) {
            #expect(line.hasPrefix("--\(option) ") && line.hasSuffix(" \(value)") == !value.isEmpty, "\(line)")
        }
        for (path, mode) in [(place, 0o700), (place + "/admin-key", 0o600), (place + "/SubscriptionKey.p8", 0o600)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == mode, "\(path)")
        }
    }
    #expect(keys[0] == keys[1] && roots.count == 1)
}

/// Plays an example scenario against a separate service, with the local App Store's clock and Server API.
private func playWithSeparateService(_ name: String) async throws {
    let folder = try Folder()
    let place = folder.url("scenario").path
    let localStorePort = "\(try await freePort())"
    let settings = try await Command.run(
        "scenario", "settings", "--folder", place, "--local-store-port", localStorePort)
    try #require(settings.status == 0, "\(settings.errors)")
    let options = settings.output.split(separator: "\n").flatMap { $0.split(separator: " ", maxSplits: 1) }.map(
        String.init)
    let service = try RunningCommand(
        [
            "serve", "--policy", "\(examples)/calculator.policy.yaml", "--port", "0", "--database",
            folder.url("tenure.sqlite").path,
        ] + options)
    let port = try #require(try await service.port(), "\(service.errors)")
    let result = try await Command.run(
        "scenario", "run", "--service", "http://127.0.0.1:\(port)", "--folder", place, "--local-store-port",
        localStorePort,
        "\(examples)/\(name).yaml")
    #expect(result.status == 0, "\(result.output)\(result.errors)\(service.errors)")
    #expect(await service.end(by: SIGTERM) == 0)
}

@Test(arguments: ["subscription-life", "app-refund"])
func `a separate service uses the local App Store's clock and Server API`(_ name: String) async throws {
    try await playWithSeparateService(name)
}

@Test func `a separate service gets lost notifications again when a scenario says catchesUp`() async throws {
    try await playWithSeparateService("lost-notifications")
}
