import Foundation
import TenureCore
import TenureHTTP
import Testing

@testable import Tenure

@Suite struct `Responses of a content server` {
    private let lines = Locked<[String]>([])
    private let servers = RangeServers()

    private func http(_ transport: FixedTransport) -> HTTPContent {
        let lines = lines
        let log = Tenure.Log { level, line in lines.withLock { $0.append("\(level.rawValue): \(line)") } }
        return HTTPContent(transport, servers: servers, log: log)
    }

    /// Fetches a range of a file with 10 bytes.
    private func fetch(
        _ range: Range<Int64>, from address: String = "https://content.example.com/piano", _ http: HTTPContent
    ) async throws -> String {
        let request = Tenure.ContentRequest(
            pack: "piano", digest: "d", size: 10, range: range, timeout: 5, allowsExpensiveNetwork: true,
            allowsConstrainedNetwork: true)
        var received = Data()
        try await http.fetch(try #require(URL(string: address)), request) { delivery in
            if case .bytes(let piece) = delivery { received += piece }
        }
        return String(decoding: received, as: UTF8.self)
    }

    @Test func `a range is accepted only with status 206, its own Content-Range and all of its bytes`() async throws {
        let fitting = http(FixedTransport(206, "abcd", headers: ["Content-Range": "bytes 2-5/10"]))
        #expect(try await fetch(2..<6, fitting) == "abcd")
        for (body, contentRange) in [
            ("abc", "bytes 2-5/10"), ("abcd", "bytes 2-6/10"), ("abcd", "bytes 1-4/10"), ("abcd", "bytes 2-5/11"),
            ("abcd", "bytes 2-5/*"),
        ] {
            let other = http(FixedTransport(206, body, headers: ["Content-Range": contentRange]))
            await #expect(throws: Tenure.ContentSourceError.unavailable(), "\(body) \(contentRange)") {
                try await fetch(2..<6, other)
            }
        }
        #expect(try await fetch(0..<10, http(FixedTransport(200, "0123456789"))) == "0123456789")
        let part = http(FixedTransport(206, "0123456789", headers: ["Content-Range": "bytes 0-9/10"]))
        await #expect(throws: Tenure.ContentSourceError.unavailable()) { try await fetch(0..<10, part) }
        #expect(lines.withLock { $0.isEmpty })
    }

    @Test(
        arguments: [
            (400, .unavailable()), (401, .refused), (402, .unavailable()), (403, .refused), (404, .missing),
            (405, .unavailable()), (410, .missing), (411, .unavailable()), (503, .unavailable(retryAfter: 7)),
        ] as [(Int, Tenure.ContentSourceError)])
    func `the status of a content server says whether a link is refused, a file is missing or the server is busy`(
        status: Int, error: Tenure.ContentSourceError
    ) async {
        let server = http(FixedTransport(status, headers: status == 503 ? ["Retry-After": "7"] : [:]))
        await #expect(throws: error) { try await fetch(2..<6, server) }
        #expect(lines.withLock { $0.isEmpty })
    }

    @Test(
        arguments: [
            (200, "answers a range request with the whole file; use a server that supports HTTP range requests"),
            (302, "redirects downloads, which Tenure doesn't follow; use the URL of the server that has the files"),
        ])
    func `the log says once for each content server why downloads wait`(status: Int, problem: String) async throws {
        let server = http(FixedTransport(status, "0123456789"))
        for address in ["https://a.example.com/x", "https://a.example.com/y", "https://b.example.com:8443/x"] {
            await #expect(throws: Tenure.ContentSourceError.unavailable()) {
                try await fetch(2..<6, from: address, server)
            }
            let url = try #require(URL(string: address))
            #expect(!servers.servesRanges(url))
        }
        #expect(
            lines.withLock { $0 } == [
                "error: https://a.example.com:0 \(problem)", "error: https://b.example.com:8443 \(problem)",
            ])
    }

    @Test(
        arguments: [
            (404, .missing), (410, .missing), (401, .unavailable()), (403, .unavailable()), (405, .unavailable()),
            (409, .unavailable()), (500, .unavailable()),
        ] as [(Int, Tenure.ContentSourceError)])
    func `a web server has no catalog only if it says that the file is missing`(
        status: Int, error: Tenure.ContentSourceError
    ) async throws {
        let url = try #require(URL(string: "https://content.example.com/packs"))
        let server = WebServerContent(url: url, http: http(FixedTransport(status, "catalog")), timeout: 5)
        await #expect(throws: error) { try await server.list() }
        let sound = WebServerContent(url: url, http: http(FixedTransport(200, "catalog")), timeout: 5)
        #expect(try await sound.list() == [.catalog(Data("catalog".utf8))])
        #expect(sound.identifier == "https://content.example.com/packs")
    }
}
