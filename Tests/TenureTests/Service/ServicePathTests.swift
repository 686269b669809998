import Foundation
import TenureCore
import TenureHTTP
import Testing

@testable import Tenure

/// Keeps the paths of requests, and has no network.
private struct PathRecorder: Transport {
    let paths = Locked<[String]>([])

    func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
        paths.withLock { $0.append(request.url.absoluteString) }
        throw .canceled
    }
}

@Suite struct ServicePathTests {
    /// The service answers 404 to an escaped letter, hyphen, period, underscore or tilde.
    @Test func `the URL of a trial session escapes only characters that a path can't contain`() async throws {
        let recorder = PathRecorder()
        let url = try #require(URL(string: "https://example.com"))
        let service = ServiceConnection(url: url, app: nil, timeout: 5, transport: recorder)
        for name in ["pro-plus_1.x~", "a b/c"] {
            _ = try? await service.beginTrial(of: name, session: "1", token: "t")
        }
        #expect(
            recorder.paths.withLock { $0 } == [
                "https://example.com/v1/trials/pro-plus_1.x~/sessions",
                "https://example.com/v1/trials/a%20b%2Fc/sessions",
            ])
    }
}
