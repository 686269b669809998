import CommandRunner
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// `tenure local-store`, with a service that uses it in place of Apple's App Store Server API.
@Suite struct AppStoreTests {
    private let folder: Folder
    private let store: RunningCommand
    private let storeURL: String

    init() async throws {
        folder = try Folder()
        try folder.write(
            """
            scenario: A calculator
            policy: policy.yaml
            begins: 2023-01-01
            app:
              bundleID: com.example.calculator
              appleID: 828838134
              releases: [{ platform: iOS, build: "12", version: "1.2", at: 2022-01-10 }]
              prices: [{ from: 2022-01-10, price: free }]
              products: { com.example.calculator.pro: { type: nonConsumable, price: 4.99 } }
            customers: { Zoe: {} }
            timeline: []
            """, to: "scenario.yaml")
        try folder.write(
            """
            app: { bundleID: com.example.calculator, appleID: 828838134 }
            eras: [{ name: freemium, model: free }]
            entitlements: { pro: { products: [com.example.calculator.pro] } }
            """, to: "policy.yaml")
        try #require(try await Command.run("admin-key", "generate", "--out", folder.url("admin.key").path).status == 0)
        store = try RunningCommand(
            [
                "local-store", "run", "--scenario", folder.url("scenario.yaml").path, "--folder",
                folder.url("store").path,
                "--port", "0",
            ])
        let port = try #require(try await store.port(), "\(store.errors)")
        storeURL = "http://127.0.0.1:\(port)"
    }

    /// The local App Store's key for the App Store Server API.
    private func serverAPIKey() throws -> (file: String, issuerID: String, keyID: String) {
        // "server API key PATH, issuer ID, key id ID"
        let line = try #require(store.output.split(separator: "\n").first { $0.hasPrefix("server API key ") })
        let words = line.replacingOccurrences(of: ",", with: "").split(separator: " ").map(String.init)
        try #require(words.count == 9)
        return (words[3], words[5], words[8])
    }

    /// A service with or without a key for the local App Store.
    private func service(asks: Bool) async throws -> (service: RunningCommand, url: String) {
        let key = try serverAPIKey()
        let asking = """
            appStore:
              issuerID: \(key.issuerID)
              keyID: \(key.keyID)
              privateKeyFile: \(key.file)
              hosts: { production: "\(storeURL)", sandbox: "\(storeURL)" }
            """
        let config = try folder.write(
            """
            policy: policy.yaml
            database: \(asks ? "asking" : "silent").sqlite
            port: 0
            adminKeyFile: admin.key
            trust: [store/authority/roots.pem]
            clock: store/clock
            \(asks ? asking : "")
            """, to: "tenure.yaml")
        let service = try RunningCommand(["serve", "--config", config])
        let port = try #require(try await service.port(), "\(service.errors)")
        return (service, "http://127.0.0.1:\(port)")
    }

    private func perform(_ words: String...) async throws -> Command.Result {
        try await Command.run(["local-store", "do"] + words + ["--store", storeURL])
    }

    private func order(_ id: String, at url: String, _ more: String...) async throws -> Command.Result {
        try await Command.run(
            ["app-store", "order", id, "--service", url, "--key-file", folder.url("admin.key").path] + more)
    }

    @Test func `the local App Store refuses requests for another host, such as a web page sends by DNS rebinding`()
        async throws
    {
        let port = try #require(URL(string: storeURL)?.port)
        func status(_ request: String, host: String) async throws -> Substring? {
            let connection = try RawConnection(port: port)
            connection.send("\(request)\r\nHost: \(host)\r\nConnection: close\r\n")
            let body = #"{"operation":"customer","customer":"Eve"}"#
            connection.send("Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            return await connection.received()?.split(separator: " ").dropFirst().first
        }
        let foreign = ["example.com:\(port)", "127.0.0.1.example.com", "localhost.example.com", "[::2]"]
        for host in foreign {
            for request in ["GET /control/state HTTP/1.1", "POST /control/operations HTTP/1.1"] {
                #expect(try await status(request, host: host) == "421", "\(host)")
            }
        }
        let state = try await Command.run("local-store", "device", "Eve", "--store", storeURL)
        #expect(state.status != 0, "a page added a customer")
        for host in ["127.0.0.1:\(port)", "localhost:\(port)", "LOCALHOST", "[::1]:\(port)"] {
            #expect(try await status("GET /control/state HTTP/1.1", host: host) == "200", "\(host)")
        }
    }

    @Test func `tenure app-store order finds a customer by the order ID from Apple's e-mail receipt`() async throws {
        _ = try await perform("acquire", "customer=Zoe")
        let bought = try await perform("buy", "customer=Zoe", "product=com.example.calculator.pro")
        #expect(bought.status == 0, "\(bought.errors)")
        // "DATE ONE_TIME_CHARGE TRANSACTION order ID"
        let words = bought.output.split(whereSeparator: \.isWhitespace).map(String.init)
        let id = try #require(words.firstIndex(of: "order").flatMap { words.dropFirst($0 + 1).first })
        let (running, url) = try await service(asks: true)
        defer { running.signal(SIGTERM) }

        let early = try await order(id, at: url)
        #expect(early.status == 2, "\(early.errors)")
        #expect(early.output.contains("com.example.calculator.pro, transaction "))
        #expect(early.output.hasSuffix("no customer has this order; the app may not have synced it yet\n"))

        let device = try await Command.run("local-store", "device", "Zoe", "--store", storeURL)
        var request = URLRequest(url: try #require(URL(string: url + "/v1/sync")))
        request.httpMethod = "POST"
        request.httpBody = Data(device.output.utf8)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        let (data, response) = try await URLSession.shared.data(for: request)
        let answer = String(decoding: data, as: UTF8.self)
        #expect((response as? HTTPURLResponse)?.statusCode == 200, "\(answer)")
        let known = try await order(" \(id) ", at: url)
        #expect(known.status == 0, "\(known.errors)")
        let customer = try #require(known.output.split(separator: "\n").last?.split(separator: " ").dropFirst().first)
        #expect(customer.hasPrefix("cus_") && answer.contains(customer))
        let json = try await order(id, at: url, "--json").json()
        #expect((json["customers"] as? [[String: Any]])?.first?["id"] as? String == String(customer))

        let unknown = try await order("MZZZZZZZZZ", at: url)
        #expect(unknown.status == 2 && unknown.output == "the App Store has no such order of this app\n")
        let nothing = try await order("", at: url)
        #expect(nothing.status == 64 && nothing.errors.contains("an argument is empty"), "\(nothing.errors)")
    }

    @Test func `tenure app-store order names the missing setting if the service has no App Store key`() async throws {
        let (running, url) = try await service(asks: false)
        defer { running.signal(SIGTERM) }
        let result = try await order("M1", at: url)
        #expect(result.status == 1 && result.output.isEmpty)
        #expect(result.errors.contains("appStore.privateKeyFile"), "\(result.errors)")
    }

    @Test func `tenure app-store test-notification tests each of several apps, even if the test of one app fails`()
        async throws
    {
        try folder.write(
            """
            app: { bundleID: com.example.notes, appleID: 828838135 }
            eras: [{ name: freemium, model: free }]
            entitlements: { pro: { products: [com.example.notes.pro] } }
            """, to: "notes.yaml")
        let serverKey = try serverAPIKey()
        let key = """
            issuerID: \(serverKey.issuerID), keyID: \(serverKey.keyID), privateKeyFile: "\(serverKey.file)", \
            hosts: { production: "\(storeURL)", sandbox: "\(storeURL)" }
            """
        // The local App Store doesn't sell the second app.
        let config = try folder.write(
            """
            port: 0
            trust: [store/authority/roots.pem]
            clock: store/clock
            apps:
              keyless: { policy: notes.yaml, database: a.sqlite }
              unknown: { policy: notes.yaml, database: b.sqlite, appStore: { \(key) } }
              calculator: { policy: policy.yaml, database: c.sqlite, appStore: { \(key) } }
            """, to: "apps.yaml")
        let endpoint = try FixedAnswers("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        // Nothing answers at port 1.
        for (port, result) in [(endpoint.port, "SUCCESS"), (1, "NO_RESPONSE")] {
            let set = try await perform("notifyAt", "url=http://127.0.0.1:\(port)/")
            try #require(set.status == 0, "\(set.errors)")
            let test = try await Command.run("app-store", "test-notification", "--config", config)
            #expect(test.status == 1)
            #expect(test.output == "calculator: 2023-01-01T00:00:00Z \(result)\n")
            let errors = test.errors.split(separator: "\n")
            #expect(errors.count == 2, "\(test.errors)")
            #expect(errors.first?.hasPrefix("error: keyless: the App Store can't be called: ") == true)
            #expect(errors.last?.hasPrefix("error: unknown: ") == true, "\(test.errors)")
        }
    }

    @Test
    func `tenure local-store do refuses a platform that the App Store never signs, and lists the valid platforms`()
        async throws
    {
        let refused = try await perform("acquire", "customer=Zoe", "platform=watchOS")
        #expect(refused.status != 0 && refused.errors.contains("iOS, macOS, tvOS, visionOS"), "\(refused)")
        let done = try await perform("acquire", "customer=Zoe", "platform=tvOS")
        #expect(done.status == 0, "\(done.errors)")
    }

    @Test func `tenure local-store reports a wrong address, and a server that isn't a local App Store`() async throws {
        let spaces = try await Command.run("local-store", "device", "Zoe", "--store", "http://[")
        #expect(spaces.status == 1 && spaces.errors.contains("isn't the URL of a local App Store"), "\(spaces)")
        // The option overrides the environment.
        let environment = ["TENURE_LOCAL_STORE_URL": "http://127.0.0.1:9"]
        let none = try await Command.run(["local-store", "device", "Zoe"], environment: environment)
        let words = "no local App Store responds at `http://127.0.0.1:9`; start one with `tenure local-store run`"
        #expect(none.status == 1 && none.output.isEmpty && none.errors == "error: \(words)\n", "\(none)")
        let other = try await Command.run(
            ["local-store", "device", "Zoe", "--store", storeURL + "/inApps"], environment: environment)
        let message = "the server at `\(storeURL)/inApps` isn't a local App Store; check the address"
        #expect(other.status == 1 && other.errors == "error: \(message)\n", "\(other)")
    }

    @Test func `tenure local-store do refuses a parameter without a value, and prints its response with --json`()
        async throws
    {
        let refused = try await perform("advance", "1d")
        #expect(refused.status == 64 && refused.errors.contains("`1d` isn't a parameter; write name=value"))
        let incomplete = try await perform("buy", "customer=Zoe")
        #expect(incomplete.status == 64 && incomplete.errors.contains("`buy` needs `product`"), "\(incomplete)")
        let done = try await perform("advance", "by=1m", "--json")
        #expect(done.status == 0, "\(done.errors)")
        let answer = try done.json()
        #expect(answer["now"] is String && answer["notifications"] is [Any])
    }

    @Test func `tenure local-store fault prints how many requests will fail, or that the fault has ended`() async throws
    {
        for (requests, words) in [
            ("1", "the next 1 request will fail with 5000001 "), ("3", "the next 3 requests will fail with 5000001 "),
            ("0", "the fault has ended\n"),
        ] {
            let result = try await Command.run(
                "local-store", "fault", "5000001", "--requests", requests, "--store", storeURL)
            #expect(result.status == 0 && result.output.hasPrefix(words), "\(result.output)\(result.errors)")
        }
    }
}
