import Foundation
import TenureHTTP
import Testing

@testable import Tenure

@Suite struct `Responses of the service` {
    private func failure(of url: String, _ transport: FixedTransport, tag: String? = nil) async throws -> String? {
        let service = ServiceConnection(
            url: try #require(URL(string: url)), app: nil, timeout: 5, transport: transport)
        do throws(ServiceFailure) {
            _ = try await service.products(unlessTagged: tag)
            return nil
        } catch {
            return error.description
        }
    }

    @Test(
        arguments: [
            (404, "", "the service responded with status 404; check its URL"),
            (304, "", "the service responded with status 304; check its URL"),
            (200, "<html>", "the response isn't from a Tenure service; check the service's URL"),
            (429, #"{"code":"tooManyRequests","detail":"wait a while"}"#, "tooManyRequests: wait a while"),
            (400, #"{"code":"newerCode","detail":"something new"}"#, "internalError: something new"),
        ] as [(Int, String, String)])
    func `a response without products says what is wrong`(status: Int, body: String, text: String) async throws {
        #expect(try await failure(of: "https://example.com", FixedTransport(status, body)) == text)
    }

    @Test func `a response with status 304 means unchanged products only if the request had an ETag`() async throws {
        #expect(try await failure(of: "https://example.com", FixedTransport(304), tag: "\"one\"") == nil)
    }

    @Test(
        arguments: [
            ("https://example.com", true), ("HTTPS://example.com", true), ("http://127.0.0.1:8080", true),
            ("http://localhost:8080", true), ("http://example.com", false), ("http://localhost.example.com", false),
            ("http://127.0.0.1.example.com", false), ("http://127.0.0.2", false), ("ftp://localhost", false),
        ])
    func `the service's URL must have TLS, except on this machine`(url: String, isAllowed: Bool) async throws {
        let text = try await failure(of: url, FixedTransport(404))
        #expect(
            text
                == (isAllowed
                    ? "the service responded with status 404; check its URL" : "`\(url)` isn't an `https` address"))
    }
}
