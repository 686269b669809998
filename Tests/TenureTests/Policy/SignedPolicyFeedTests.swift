import Foundation
import HTTPTypes
import Hummingbird
import LocalAppStore
import NIOCore
import TenureCore
import TenurePolicyFile
import Testing

@testable import Tenure

/// A web server with one file, or with the routes of a test.
private func withWebServer(
    _ answer: @escaping @Sendable (Request) throws -> Response, _ body: @escaping @Sendable (URL) async throws -> Void
) async throws {
    let router = Router()
    router.get("/policy.jws") { request, _ in try answer(request) }
    try await withServer { onServerRunning in
        Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { await onServerRunning($0.localAddress?.port ?? 0) })
    } _: { port in
        try await body(try #require(URL(string: "http://127.0.0.1:\(port)/policy.jws")))
    }
}

private func file(_ text: Data, tag: String) -> @Sendable (Request) -> Response {
    { request in
        request.headers[.ifNoneMatch] == tag
            ? Response(status: .notModified, headers: [.eTag: tag])
            : Response(
                status: .ok, headers: [.eTag: tag],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: text)))
    }
}

@Suite struct SignedPolicyFeedTests {
    private let signer = PolicySigner()
    private let folder = URL(fileURLWithPath: NSTemporaryDirectory() + "tenure-feed-\(UUID().uuidString)")

    private func feed(_ url: URL) throws -> SignedPolicyFeed {
        try SignedPolicyFeed(
            url: url, keys: [signer.pin], bundled: Data(PolicyFile.compile(PolicySigner.policy(build: "119"))),
            cache: PolicyCache(url: folder.appendingPathComponent("policy.json")))
    }

    @Test func `a signed policy is fetched once, then with its ETag, and is cached for the next start`() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let text = Data(try signer.sign(PolicySigner.policy(build: "120"), counter: 5).text.utf8)
        try await withWebServer(file(text, tag: "\"one\"")) { url in
            let feed = try feed(url)
            #expect(feed.bundledPolicy == (try PolicySigner.policy(build: "119")))
            #expect(await feed.refresh() == .updated(counter: 5))
            #expect(await feed.policy == (try PolicySigner.policy(build: "120")))
            #expect(await feed.refresh() == .unchanged)

            let next = try self.feed(url)
            #expect(next.bundledPolicy == (try PolicySigner.policy(build: "119")))
            #expect(await next.restore() == (try PolicySigner.policy(build: "120")))
            #expect(await next.refresh() == .unchanged)
        }
        // Without the server, the cached policy applies.
        let offline = try feed(try #require(URL(string: "http://127.0.0.1:1/policy.jws")))
        #expect(await offline.restore() == (try PolicySigner.policy(build: "120")))
        guard case .failed(let error) = await offline.refresh() else {
            Issue.record("there is no server")
            return
        }
        #expect(error.isRetryable && error.description.hasPrefix("the policy server didn't respond ("))
        #expect(await offline.counter == 5)
    }

    @Test func `an invalid response from the policy's web server changes nothing and is reported`() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let old = Data(try signer.sign(PolicySigner.policy(build: "100"), counter: 4).text.utf8)
        let new = Data(try signer.sign(PolicySigner.policy(build: "120"), counter: 5).text.utf8)
        let tooLong = [UInt8](repeating: 0x61, count: SignedPolicy.maximumTextSize + 1)
        try await withWebServer(file(new, tag: "\"new\"")) { url in
            let feed = try feed(url)
            _ = await feed.restore()
            let result = await feed.refresh()
            #expect(result == .updated(counter: 5))
        }
        try await withWebServer(file(old, tag: "\"old\"")) { url in
            let feed = try feed(url)
            _ = await feed.restore()
            let result = await feed.refresh()
            #expect(result == .refused(.older(counter: 4, known: 5)))
        }
        try await withWebServer(file(Data(tooLong), tag: "\"long\"")) { url in
            let feed = try feed(url)
            _ = await feed.restore()
            let result = await feed.refresh()
            #expect(result == .failed(.tooLarge(limit: SignedPolicy.maximumTextSize)))
        }
        // The same without a Content-Length.
        try await withWebServer({ _ in
            Response(
                status: .ok,
                body: ResponseBody { writer in
                    for _ in 0..<32 { try await writer.write(ByteBuffer(repeating: 0x61, count: 65_536)) }
                    try await writer.finish(nil)
                })
        }) { url in
            let feed = try feed(url)
            _ = await feed.restore()
            let result = await feed.refresh()
            #expect(result == .failed(.tooLarge(limit: SignedPolicy.maximumTextSize)))
        }
        try await withWebServer({ _ in Response(status: .notFound) }) { url in
            let feed = try feed(url)
            _ = await feed.restore()
            let result = await feed.refresh()
            #expect(result == .failed(.status(404)))
            guard case .failed(let error) = result else { return }
            #expect(!error.isRetryable && PolicyFetchError.status(503).isRetryable)
        }
        let last = try feed(try #require(URL(string: "http://127.0.0.1:1/")))
        #expect(await last.restore() == (try PolicySigner.policy(build: "120")))
    }

    @Test func `a damaged cache of a signed policy is read as empty`() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let cache = PolicyCache(url: folder.appendingPathComponent("policy.json"))
        #expect(cache.read() == nil)
        let cached = CachedPolicy(text: "a.b.c", tag: nil, highestCounter: 3)
        cache.write(cached)
        #expect(cache.read() == cached)
        let path = folder.appendingPathComponent("policy.json")
        for bytes in [Data(), Data("{".utf8), Data(repeating: 0x20, count: 3 << 20)] {
            try bytes.write(to: path)
            #expect(cache.read() == nil)
        }
    }
}
