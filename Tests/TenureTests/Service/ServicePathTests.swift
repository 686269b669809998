import Foundation
import TenureAPI
import TenureCore
import Testing

@testable import Tenure
@testable import TenureHTTP

@Suite struct ServicePathTests {
    private let recorder = RequestRecorder()

    private func service(_ address: String = "https://example.com", app: String? = nil) throws -> ServiceConnection {
        ServiceConnection(url: try #require(URL(string: address)), app: app, timeout: 5, transport: recorder)
    }

    /// The service answers 404 to an escaped letter, hyphen, period, underscore or tilde.
    @Test func `the URL of a trial session escapes only characters that a path can't contain`() async throws {
        let service = try service()
        for name in ["pro-plus_1.x~", "a b/c"] {
            _ = try? await service.beginTrial(of: name, session: "1", token: "t")
        }
        #expect(
            recorder.requests.map(\.url.absoluteString) == [
                "https://example.com/v1/trials/pro-plus_1.x~/sessions",
                "https://example.com/v1/trials/a%20b%2Fc/sessions",
            ])
    }

    @Test(
        arguments: [
            ("https://example.com", nil, "https://example.com/v1/products"),
            ("https://example.com/", nil, "https://example.com/v1/products"),
            ("https://example.com/tenure", nil, "https://example.com/tenure/v1/products"),
            ("https://example.com/tenure/", "notes", "https://example.com/tenure/apps/notes/v1/products"),
            ("https://example.com", "a b/c", "https://example.com/apps/a%20b%2Fc/v1/products"),
        ] as [(String, String?, String)])
    func `requests keep the path of the service's address, which the name of the app follows`(
        address: String, app: String?, url: String
    ) async throws {
        _ = try? await service(address, app: app).products(unlessTagged: nil)
        #expect(recorder.requests.map(\.url.absoluteString) == [url])
    }

    @Test func `only requests for a trial or for content have the access token, and each request has the limits`()
        async throws
    {
        let service = try service()
        _ = try? await service.sync(SyncRequest(transactions: []), languages: [])
        _ = try? await service.products(unlessTagged: "\"one\"")
        _ = try? await service.beginTrial(of: "pro", session: "1", token: "t")
        _ = try? await service.content(appVersion: AppVersion("3.1"), token: "u")
        _ = try? await service.content(appVersion: nil, token: "u")
        let requests = recorder.requests
        #expect(
            requests.map(\.url.absoluteString) == [
                "https://example.com/v1/sync", "https://example.com/v1/products",
                "https://example.com/v1/trials/pro/sessions", "https://example.com/v1/content?appVersion=3.1",
                "https://example.com/v1/content",
            ])
        #expect(requests.map(\.method) == ["POST", "GET", "POST", "GET", "GET"])
        #expect(requests.map { $0.headers["Authorization"] } == [nil, nil, "Bearer t", "Bearer u", "Bearer u"])
        #expect(requests.map { $0.headers["If-None-Match"] } == [nil, "\"one\"", nil, nil, nil])
        #expect(requests.allSatisfy { $0.timeout == 5 && $0.bodyLimit == 4 << 20 })
    }

    @Test func `the Accept-Language header of a sync has at most nine languages, with decreasing weights`() async throws
    {
        let service = try service()
        let all = ["de-AT", "e\u{301}n", "en", "fr", "it", "es", "pt-BR", "nl", "sv", "da", "fi"]
        for languages in [[], ["de-AT"], ["", "ü", "de, *", "en"], all] {
            _ = try? await service.sync(SyncRequest(transactions: []), languages: languages)
        }
        #expect(
            recorder.requests.map { $0.headers["Accept-Language"] } == [
                nil, "de-AT", "de, en;q=0.9",
                "de-AT, n;q=0.9, en;q=0.8, fr;q=0.7, it;q=0.6, es;q=0.5, pt-BR;q=0.4, nl;q=0.3, sv;q=0.2",
            ])
    }
}
