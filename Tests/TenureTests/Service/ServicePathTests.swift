import Foundation
import TenureAPI
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

/// Keeps the `Accept-Language` of requests, and has no network.
private struct HeaderRecorder: Transport {
    let languages = Locked<[String?]>([])

    func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
        languages.withLock { $0.append(request.headers["Accept-Language"]) }
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

    @Test func `the Accept-Language header of a sync has at most nine languages, with decreasing weights`() async throws
    {
        let recorder = HeaderRecorder()
        let url = try #require(URL(string: "https://example.com"))
        let service = ServiceConnection(url: url, app: nil, timeout: 5, transport: recorder)
        let all = ["de-AT", "e\u{301}n", "en", "fr", "it", "es", "pt-BR", "nl", "sv", "da", "fi"]
        for languages in [[], ["de-AT"], ["", "ü", "de, *", "en"], all] {
            _ = try? await service.sync(SyncRequest(transactions: []), languages: languages)
        }
        #expect(
            recorder.languages.withLock { $0 } == [
                nil, "de-AT", "de, en;q=0.9",
                "de-AT, n;q=0.9, en;q=0.8, fr;q=0.7, it;q=0.6, es;q=0.5, pt-BR;q=0.4, nl;q=0.3, sv;q=0.2",
            ])
    }
}
