import CommandRunner
import Foundation
import HTTPTypes
import HummingbirdTesting
import Logging
import NIOCore
import TenureAPI
import TenureAppStore
import TenureContent
import TenureContentPublishing
import TenureCore
import TenureJSON
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(3))) struct `downloads in progress` {
    /// Begins a download and doesn't read it.
    private func begin(_ link: String, port: Int) throws -> RawConnection {
        let connection = try RawConnection(port: port, receiveBuffer: 4096)
        connection.send("GET \(link) HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return connection
    }

    private func head(of link: String, port: Int) async throws -> String {
        let connection = try begin(link, port: port)
        return try #require(await connection.received(until: "\r\n\r\n"))
    }

    private func inProgress(_ testBed: ContentTestBed) async throws -> Int {
        let metrics = String(buffer: try await testBed.client.get("/metrics").body)
        let line = metrics.split(separator: "\n").first { $0.hasPrefix("tenure_downloads_in_progress ") }
        return line?.split(separator: " ").last.flatMap { Int($0) } ?? -1
    }

    /// Publishes a file that is larger than all buffers between the service and a client.
    private func publishLarge(_ testBed: ContentTestBed) throws {
        try testBed.published.publish([
            testBed.published.pack("grand-piano", .entitlement("everything"), size: 16_000_000)
        ])
    }

    @Test func `a customer has at most 16 downloads in progress`() async throws {
        try await withContent(.live) { testBed in
            try publishLarge(testBed)
            let port = try #require(testBed.port)
            let link = try await testBed.links("grand-piano", try await testBed.owner()).archive
            var open = try (0..<16).map { _ in try begin(link, port: port) }
            while try await inProgress(testBed) < 16 { try await Task.sleep(for: .milliseconds(20)) }
            let rejected = try await head(of: link, port: port)
            #expect(rejected.hasPrefix("HTTP/1.1 429 ") && rejected.lowercased().contains("\r\nretry-after: "))
            // `HEAD`, requests without a body, and other customers aren't limited.
            #expect(try await testBed.get(link, method: .head).status == .ok)
            let other = try await testBed.links("grand-piano", try await testBed.owner("704000000000000005")).archive
            #expect(try await head(of: other, port: port).hasPrefix("HTTP/1.1 200 "))
            let metrics = String(buffer: try await testBed.client.get("/metrics").body)
            #expect(metrics.contains("tenure_downloads_rejected_total{reason=\"customer\"} 1\n"))
            open.removeLast()
            while try await inProgress(testBed) > 15 { try await Task.sleep(for: .milliseconds(20)) }
            #expect(try await head(of: link, port: port).hasPrefix("HTTP/1.1 200 "))
            open.removeAll()
            while try await inProgress(testBed) > 0 { try await Task.sleep(for: .milliseconds(20)) }
        }
    }

    @Test func `downloads in progress use at most half of the connections, and syncs continue`() async throws {
        try await withContent(.live, changing: { $0.limits.connections = 16 }) { testBed in
            try publishLarge(testBed)
            let port = try #require(testBed.port)
            var links: [String] = []
            for number in 10..<19 {
                links.append(
                    try await testBed.links("grand-piano", try await testBed.owner("7040000000000000\(number)")).archive
                )
            }
            let open = try links.prefix(8).map { try begin($0, port: port) }
            while try await inProgress(testBed) < 8 { try await Task.sleep(for: .milliseconds(20)) }
            let rejected = try await head(of: links[8], port: port)
            #expect(rejected.hasPrefix("HTTP/1.1 503 ") && rejected.lowercased().contains("\r\nretry-after: "))
            for number in 20..<40 {
                #expect(
                    try await testBed.names(try await testBed.owner("7040000000000000\(number)")) == ["grand-piano"])
                #expect(try await testBed.client.get("/health/ready").status == .ok)
            }
            withExtendedLifetime(open) {}
        }
    }

    #if os(Linux)
        /// The number of published files that this process has open, without the catalog.
        private func openFiles(_ testBed: ContentTestBed) throws -> Int {
            // The last two components of the path are unique, and symbolic links in the other ones don't matter.
            let folder = testBed.published.folder.split(separator: "/").suffix(2).joined(separator: "/")
            return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
                guard let target, target.contains("/\(folder)/") else { return false }
                return ContentDigest(target.split(separator: "/").last ?? "") != nil
            }
        }

        @Test func `a download keeps its file open only while it is in progress, whatever its response is`()
            async throws
        {
            try await withContent(.live) { testBed in
                try publishLarge(testBed)
                let port = try #require(testBed.port)
                let links = try await testBed.links("grand-piano", try await testBed.owner())
                var open = [try begin(links.archive, port: port)]
                while try await inProgress(testBed) < 1 { try await Task.sleep(for: .milliseconds(20)) }
                #expect(try openFiles(testBed) == 1)
                let responses: [TestResponse] = [
                    try await testBed.get(links.manifest),
                    try await testBed.get(links.archive, [(.range, "bytes=0-99")]),
                    try await testBed.get(links.archive, method: .head),
                    try await testBed.get(links.archive, [(.ifNoneMatch, "*")]),
                    try await testBed.get(links.archive, [(.ifMatch, "\"other\"")]),
                    try await testBed.get(links.archive, [(.range, "bytes=99999999-")]),
                ]
                #expect(responses.map(\.status.code) == [200, 206, 200, 304, 412, 416])
                open.removeAll()
                // The service closes a file shortly after the client has the response.
                while try openFiles(testBed) > 0 { try await Task.sleep(for: .milliseconds(20)) }
            }
        }

        @Test func `a download that finds a folder or a pipe instead of the file leaves nothing open`() async throws {
            try await withContent { testBed in
                try testBed.published.publishThree()
                let link = try await testBed.links("grand-piano", try await testBed.owner()).archive
                let path = "\(testBed.published.folder)/\(link.dropFirst("/v1/content/".count).prefix(64))"
                try FileManager.default.removeItem(atPath: path)
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
                #expect(try await testBed.code(of: link) == "notFound")
                #expect(try openFiles(testBed) == 0)
                try FileManager.default.removeItem(atPath: path)
                #expect(mkfifo(path, 0o600) == 0)
                #expect(try await testBed.code(of: link) == "notFound")
                #expect(try openFiles(testBed) == 0)
            }
        }
    #endif

    @Test func `downloads of one app's customer don't limit the downloads of another app's customer`()
        async throws
    {
        try await withFolder { folder in
            var apps: [AppConfiguration] = []
            for name in ["calculator", "notes"] {
                let (own, bundleID) = (folder + "/" + name, "com.example.\(name)")
                try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
                let published = try PublishedContent(in: own)
                try published.publish(
                    [published.pack("grand-piano", .entitlement("everything"), size: 16_000_000)], bundleID: bundleID)
                var configuration = try Calculator.configuration(
                    own, policy: try PublishedContent.policy(bundleID: bundleID))
                configuration.content = ContentSettings(folder: published.folder)
                apps.append(AppConfiguration(name: name, configuration: configuration))
            }
            try await buildApplication(AppsConfiguration(apps), logger: Calculator.logger).test(.live) { [apps] http in
                let port = try #require(http.port)
                var open: [RawConnection] = []
                // In each app's database, the customer has the number 1.
                for app in apps {
                    let client = Client(http: http, prefix: "/apps/\(app.name)")
                    let owner = SyncRequest(
                        appTransaction: try Calculator.minter(bundleID: app.configuration.policy.app.bundleID).text(
                            .appTransaction))
                    let response = try await client.get("/v1/content", token: try await client.sync(owner).token)
                    let content = try JSONDecoder().decode(ContentResponse.self, from: Data(buffer: response.body))
                    let link = try #require(content.packs["grand-piano"]?.archive)
                    for _ in 0..<16 { open.append(try begin(link, port: port)) }
                    let last = try #require(open.last)
                    #expect(try #require(await last.received(until: "\r\n\r\n")).hasPrefix("HTTP/1.1 200 "))
                }
                withExtendedLifetime(open) {}
            }
        }
    }

    @Test func `200 hanging downloads don't delay syncs`() async throws {
        try await withContent(.live, changing: { $0.limits.connections = 2048 }) { testBed in
            try publishLarge(testBed)
            let port = try #require(testBed.port)
            var open: [RawConnection] = []
            for number in 0..<13 {
                let link = try await testBed.links(
                    "grand-piano", try await testBed.owner("70400000000000\(1000 + number)")
                )
                .archive
                for _ in 0..<16 where open.count < 200 { open.append(try begin(link, port: port)) }
            }
            while try await inProgress(testBed) < 200 { try await Task.sleep(for: .milliseconds(20)) }
            let slowest = try await withThrowingTaskGroup(of: Swift.Duration.self) { group in
                for number in 0..<16 {
                    group.addTask {
                        try await ContinuousClock().measure {
                            let token = try await testBed.owner("70400000000000\(2000 + number)")
                            #expect(try await testBed.names(token) == ["grand-piano"])
                        }
                    }
                }
                return try await group.reduce(.zero) { max($0, $1) }
            }
            #expect(slowest < .seconds(20), "a sync waited for the hanging downloads")
            // A client that reads gets its download while all others hang.
            let reader = try await testBed.links("grand-piano", try await testBed.owner("704000000000002000")).archive
            #expect(try await testBed.get(reader).body.readableBytes > 16_000_000)
            #expect(try await inProgress(testBed) >= 200)
            withExtendedLifetime(open) {}
        }
    }

    @Test func `the service doesn't read a whole file into memory for a slow client`() async throws {
        try await withContent(.live, changing: { $0.downloadsPerCustomer = 64 }) { testBed in
            try publishLarge(testBed)
            let port = try #require(testBed.port)
            let link = try await testBed.links("grand-piano", try await testBed.owner()).archive
            let slow = try (0..<64).map { _ in try begin(link, port: port) }
            // Waits until each response has filled the system's buffers.
            var (before, now) = (-1, 0)
            while before != now || now == 0 {
                try await Task.sleep(for: .milliseconds(500))
                before = now
                let metrics = String(buffer: try await testBed.client.get("/metrics").body)
                let line = metrics.split(separator: "\n").first { $0.hasPrefix("tenure_download_bytes_total ") }
                now = line?.split(separator: " ").last.flatMap { Int($0) } ?? 0
            }
            // The system buffers up to 4 MB of each response; the file has 16 MB.
            #expect(now < 64 * 12_000_000)
            for connection in slow { #expect(await connection.receivedPart(1000) != nil) }
        }
    }

    /// Syncs a new owner with a service in a separate process. Returns the owner's link to the pack.
    private func link(of account: String, port: Int) async throws -> String {
        let minter = Calculator.minter(signed: Date().addingTimeInterval(-60))
        let sync = SyncRequest(
            appTransaction: try minter.text(.appTransaction, ["appTransactionId": .string(account)]), transactions: [],
            deviceVerificationID: Calculator.device.uuidString, nonce: "nonce")
        var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)/v1/sync")))
        request.httpMethod = "POST"
        request.httpBody = try JSONEncoder().encode(sync)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        let synced = try await URLSession.shared.data(for: request).0
        let token = try JSONDecoder().decode(CustomerResponse.self, from: synced).token
        request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)/v1/content")))
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        let content = try await URLSession.shared.data(for: request).0
        return try #require(try JSONDecoder().decode(ContentResponse.self, from: content).packs["grand-piano"]).archive
    }

    @Test func `64 slow downloads of a large file take little memory`() async throws {
        let folder = try Folder()
        let published = try PublishedContent(in: folder.path)
        try published.publish([published.pack("grand-piano", .entitlement("everything"), size: 16_000_000)])
        let policy = try folder.write(
            """
            app: { bundleID: com.example.calculator, appleID: 828838134 }
            eras: [{ name: paid, model: paid }]
            entitlements: { everything: { honors: [paid] } }
            """, to: "policy.yaml")
        try Calculator.authority.save(to: folder.url("authority"))
        let service = try RunningCommand([
            "serve", "--policy", policy, "--database", folder.url("tenure.sqlite").path, "--port", "0",
            "--log-level", "error", "--trust", folder.url("authority").path, "--content-folder", published.folder,
        ])
        let port = try #require(try await service.port(), "\(service.errors)")
        var links: [String] = []
        for number in 0..<4 { links.append(try await link(of: "70400000000000001\(number)", port: port)) }
        let before = try #require(service.residentMemory)
        let slow = try (0..<64).map { try begin(links[$0 % 4], port: port) }
        for connection in slow { #expect(await connection.receivedPart(1000) != nil) }
        // Waits until the service reads nothing more.
        var (memory, earlier) = (try #require(service.residentMemory), 0)
        while memory != earlier {
            earlier = memory
            try await Task.sleep(for: .seconds(2))
            memory = try #require(service.residentMemory)
        }
        // The files of 64 downloads have 1 GB. A chunk has 256 KB.
        #expect(memory - before < 128 << 20, "\((memory - before) >> 20) MB more")
        withExtendedLifetime(slow) {}
        #expect(await service.end(by: SIGTERM) == 0)
    }
}
