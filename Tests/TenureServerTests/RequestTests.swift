import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import TenureAPI
import TenureAppStore
import TenureCore
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `requests` {
    @Test(arguments: [
        ("{", "invalid JSON"), ("", "invalid JSON"), ("[]", "the body"), ("null", "the body"), ("7", "the body"),
        (#"{"transactions": "x"}"#, "transactions"), (#"{"transactions": [1]}"#, "transactions[0]"),
        (#"{"transactions": ["x", null]}"#, "transactions[1]"), (#"{"appTransaction": {}}"#, "appTransaction"),
        (#"{"receipt": 5}"#, "receipt"),
        (#"{"appTransaction": "x", "deviceVerificationID": "me"}"#, "deviceVerificationID"),
        ("\u{0}\u{1}", "invalid JSON"), (String(repeating: "[", count: 100_000), "nested deeper"),
    ])
    func `an invalid sync request is refused with the place of the error`(body: String, named: String) async throws {
        try await withService { client in
            let problem = try client.problem(try await client.post(body))
            #expect(problem.code == .malformedRequest)
            #expect(problem.detail.contains(named), "\(problem.detail)")
        }
    }

    @Test func `a sync request may have unknown fields and null`() async throws {
        try await withService { client in
            let jws = try Calculator.minter().text(.appTransaction)
            let response = try await client.post(
                #"{"appTransaction": "\#(jws)", "receipt": null, "transactions": null, "customerID": "cus_x", "later": {"a": [1]}}"#
            )
            #expect(response.status == .ok)
            let answer = try JSONDecoder().decode(CustomerResponse.self, from: Data(buffer: response.body))
            #expect(answer.id != "cus_x" && answer.entitlements["everything"]?.outcome == .granted)
        }
    }

    @Test func `a request body that is too large is refused`() async throws {
        try await withService({ $0.limits.bodySize = 1000 }) { client in
            let response = try await client.post(#"{"receipt": "\#(String(repeating: "A", count: 2000))"}"#)
            #expect(try client.problem(response).code == .tooLarge)
        }
        try await withService({ $0.limits.transactions = 3 }) { client in
            let problem = try await client.refused(SyncRequest(transactions: ["", "", "", ""]))
            #expect(problem.code == .tooLarge)
        }
    }

    @Test func `a request body of exactly the limit is accepted, and a longer one is refused`() async throws {
        try await withService({ $0.limits.bodySize = 1000 }) { client in
            func problem(_ count: Int) async throws -> Problem {
                let receipt = String(repeating: "A", count: count - 14)
                return try client.problem(try await client.post(#"{"receipt":"\#(receipt)"}"#))
            }
            #expect(try await problem(1000).code == .nothingVerified)
            let refused = try await problem(1001)
            #expect(refused.code == .tooLarge)
            #expect(refused.detail == "the body is too large; send at most 1000 bytes")
        }
    }

    @Test func `the memory for a request body is free again after the response`() async throws {
        try await withService({ $0.bodies = BodyBudget(bytes: 40_000) }) { client in
            func problem(_ count: Int) async throws -> (Problem, wait: String?) {
                let receipt = String(repeating: "A", count: count)
                let response = try await client.post(#"{"receipt":"\#(receipt)"}"#)
                return (try client.problem(response), response.headers[.retryAfter])
            }
            for _ in 0..<10 { #expect(try await problem(9_000).0.code == .nothingVerified) }
            // Nothing can make room for a body above the limit of all bodies.
            let (refused, wait) = try await problem(50_000)
            #expect(refused.code == .busy && wait == "1")
            #expect(refused.detail == "the service is receiving too much data; send the request again")
            #expect(try await problem(9_000).0.code == .nothingVerified)
        }
    }

    @Test(arguments: [
        "text/plain", "application/jsonx", "application/json-patch+json", "application/json,text/plain", "json", "",
        nil,
    ])
    func `a request body of another media type than JSON is refused`(type: String?) async throws {
        try await withService { client in
            var headers = HTTPFields()
            headers[.contentType] = type
            let response = try await client.post("{}", headers: headers)
            let problem = try client.problem(response)
            #expect(problem.code == .unsupportedMediaType)
            #expect(problem.detail == "the media type isn't supported; send `Content-Type: application/json`")
        }
    }

    @Test(arguments: ["application/json", "Application/JSON", "application/json ; charset=utf-8", "application/json;"])
    func `a request body of type JSON is accepted with any parameters of the media type`(type: String) async throws {
        try await withService { client in
            let response = try await client.post("{}", headers: [.contentType: type])
            #expect(try client.problem(response).code == .nothingVerified)
        }
    }

    @Test(arguments: ["gzip", "GZIP", "deflate, gzip"])
    func `compressed request bodies are refused`(encoding: String) async throws {
        try await withService { client in
            var headers: HTTPFields = [.contentType: "application/json", .contentEncoding: encoding]
            let problem = try client.problem(try await client.post("{}", headers: headers))
            #expect(problem.code == .unsupportedMediaType)
            #expect(problem.detail.contains("compressed"), "\(problem.detail)")
            headers[.contentEncoding] = "identity"
            let plain = try await client.post("{}", headers: headers)
            #expect(try client.problem(plain).code == .nothingVerified)
        }
    }

    @Test(arguments: ["/", "/v1/customers", "/v1/customer/1", "/../etc/passwd", "/%00", "/.well-known/jwks.json/x"])
    func `a request for an unknown path gets a problem response`(path: String) async throws {
        try await withService { client in
            let response = try await client.get(path)
            let problem = try client.problem(response)
            #expect([.notFound, .malformedRequest].contains(problem.code))
            #expect(response.headers[try #require(HTTPField.Name("X-Request-Id"))] != nil)
            #expect(response.headers[.cacheControl] == "no-store")
        }
    }

    @Test func `a sync with a corrupted artifact is never accepted, and never gets a 5xx status`() async throws {
        try await withService { client in
            var random = SystemRandomNumberGenerator()
            let sound = Array(try Calculator.minter().text(.appTransaction).utf8)
            for _ in 0..<200 {
                var bytes = sound
                for _ in 0..<3 {
                    bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 33...126, using: &random)
                }
                let response = try await client.send(
                    SyncRequest(appTransaction: String(decoding: bytes, as: UTF8.self)))
                #expect(response.status.code < 500)
                #expect(response.status != .ok || bytes == sound)
            }
        }
    }

    @Test func `the health routes report that a service without its database is live, but not ready`() async throws {
        try await withService { client in
            for path in ["/health/live", "/health/ready"] {
                let response = try await client.get(path)
                #expect(response.status == .ok)
            }
        }
        try await withFolder { folder in
            let service = try await TenureService(try Calculator.configuration(folder))
            let application = try service.application(logger: Calculator.logger) { _ in }
            try await application.test(.router) { http in
                try await service.store.close()
                let client = Client(http: http)
                let live = try await client.get("/health/live")
                let ready = try await client.get("/health/ready")
                #expect(live.status == .ok)
                let problem = try client.problem(ready)
                #expect(problem.code == .busy && problem.reason == "databaseFailed")
                #expect(problem.detail == "the database failed; the reason is in the service's log")
                #expect(ready.headers[.retryAfter] == "5")
            }
        }
    }

    @Test func `the response to a sync forbids caching`() async throws {
        try await withService { client in
            let response = try await client.send(
                SyncRequest(appTransaction: try Calculator.minter().text(.appTransaction)))
            #expect(response.headers[.cacheControl] == "no-store")
            #expect(response.headers[.contentType] == "application/json")
        }
    }
}
