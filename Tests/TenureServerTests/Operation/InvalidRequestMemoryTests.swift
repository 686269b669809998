import AsyncHTTPClient
import CommandRunner
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import Testing

@testable import TenureServer

/// The built service in a separate process, so that the system reports its memory.
@Suite(.serialized) struct `memory after invalid requests` {
    private static let isSoak = ProcessInfo.processInfo.environment["TENURE_SOAK"] != nil
    /// The number of requests until caches are full: verified chains, pages of the database, the heaps of threads.
    private static let first = isSoak ? 4_000 : 1_500
    private static let rest = isSoak ? 20_000 : 1_500

    @Test(.timeLimit(.minutes(60)))
    func `a service that received many invalid requests needs no more memory afterward`() async throws {
        let folder = try Folder()
        let policy = try folder.write(
            """
            app: { bundleID: com.example.calculator, appleID: 828838134 }
            eras: [{ name: paid, model: paid }]
            entitlements: { everything: { honors: [paid], trial: { sessions: 5 } } }
            """, to: "policy.yaml")
        let key = AdminClient.adminKey
        let service = try RunningCommand([
            "serve", "--policy", policy, "--database", folder.url("tenure.sqlite").path, "--port", "0",
            "--log-level", "error", "--admin-key-file", try folder.writeSecret(key, to: "admin-key"),
        ])
        let port = try #require(try await service.port(), "\(service.errors)")
        var invalidRequests = InvalidRequests(seed: .random(in: .min ... .max))
        try await throwAway(Self.first, at: port, key, &invalidRequests)
        let before = try #require(service.residentMemory)
        try await throwAway(Self.rest, at: port, key, &invalidRequests)
        let after = try #require(service.residentMemory)
        let peak = try #require(service.peakMemory)
        // The limit allows for fragmented heaps and cached pages of SQLite. A leak of 850 bytes for each of 20,000
        // requests would exceed it, and their bodies have 20,000 bytes on average.
        #expect(after - before < 16 << 20, "\(before >> 10) KB before, \(after >> 10) KB after")
        // The peak includes the bodies and responses of the few requests that run at once.
        #expect(peak - before < 64 << 20, "\(peak >> 10) KB at most, \(before >> 10) KB before")
        #expect(await service.end(by: SIGTERM) == 0)
        #expect(service.errors == "")
    }

    /// Sends invalid requests to all routes in turn, a few at a time.
    private func throwAway(_ count: Int, at port: Int, _ key: String, _ invalidRequests: inout InvalidRequests)
        async throws
    {
        let document = try InterfaceDocument()
        let client = HTTPClient.shared
        try await withThrowingTaskGroup(of: UInt.self) { group in
            var underWay = 0
            for number in 0..<count {
                if underWay == 8 {
                    let status = try await group.next() ?? 0
                    #expect(status < 500)
                    underWay -= 1
                }
                let operation = document.operations[number % document.operations.count]
                // Without a key for the App Store, this route always answers 503 `misconfigured`.
                guard !operation.path.contains("/orders/") else { continue }
                // Ten wrong keys would lock this address out of all routes that need a key.
                let isBehindKey = operation.path.contains("/admin/") || operation.path == "/v1/link"
                let (path, headers, body) = invalidRequests.request(
                    for: operation, in: document, key: isBehindKey ? key : nil)
                let url = "http://127.0.0.1:\(port)\(path)"
                guard URL(string: url) != nil else { continue }
                var request = HTTPClientRequest(url: url)
                request.method = HTTPMethod(rawValue: operation.method)
                for field in headers where field.name != .contentLength {
                    // The HTTP client refuses to send such a header.
                    guard field.value.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else { continue }
                    request.headers.add(name: field.name.rawName, value: field.value)
                }
                if let body { request.body = .bytes(body) }
                underWay += 1
                group.addTask { [request] in
                    let response = try await client.execute(request, timeout: .seconds(60))
                    _ = try await response.body.collect(upTo: 1 << 24)
                    return response.status.code
                }
            }
            for try await status in group { #expect(status < 500) }
        }
    }
}
