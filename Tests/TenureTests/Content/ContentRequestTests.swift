import Foundation
import TenureContent
import Testing

@testable import Tenure
@testable import TenureHTTP

@Suite struct `Requests to a content server` {
    private let recorder = RequestRecorder()

    private var http: HTTPContent { HTTPContent(recorder, servers: RangeServers(), log: .silent) }

    private func request(_ range: Range<Int64>, isExpensive: Bool) -> Tenure.ContentRequest {
        Tenure.ContentRequest(
            pack: "piano", digest: "d", size: 10, range: range, timeout: 5, allowsExpensiveNetwork: isExpensive,
            allowsConstrainedNetwork: !isExpensive)
    }

    @Test func `a part of a file is requested as a range, and a whole file is not, both without compression`()
        async throws
    {
        let url = try #require(URL(string: "https://content.example.com/piano"))
        for (range, isExpensive) in [(2..<6, true), (0..<9, false), (0..<10, true)] as [(Range<Int64>, Bool)] {
            await #expect(throws: CancellationError.self) {
                try await http.fetch(url, request(range, isExpensive: isExpensive)) { _ in }
            }
        }
        let requests = recorder.requests
        #expect(requests.map { $0.headers["Range"] } == ["bytes=2-5", "bytes=0-8", nil])
        #expect(requests.allSatisfy { $0.headers["Accept-Encoding"] == "identity" && $0.timeout == 5 })
        #expect(requests.map(\.bodyLimit) == [4, 9, 10])
        #expect(requests.map(\.allowsExpensiveNetwork) == [true, false, true])
        #expect(requests.map(\.allowsConstrainedNetwork) == [false, true, false])
    }

    @Test func `the catalog and the files of a web server are in its folder`() async throws {
        let url = try #require(URL(string: "https://content.example.com/packs"))
        let server = WebServerContent(url: url, http: http, timeout: 7)
        await #expect(throws: TransportFailure.canceled) { try await server.list() }
        let requests = recorder.requests
        #expect(requests.map(\.url.absoluteString) == ["https://content.example.com/packs/catalog.jws"])
        #expect(requests.map(\.timeout) == [7] && requests.map(\.bodyLimit) == [SignedCatalog.maximumTextSize])
        let link = server.link(to: request(0..<10, isExpensive: true))
        #expect(link.absoluteString == "https://content.example.com/packs/d")
    }
}
