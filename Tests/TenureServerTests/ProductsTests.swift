import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import TenureAPI
import TenureCore
import Testing

@testable import TenureServer

@Suite struct `products` {
    @Test func `GET /v1/products lists each product's entitlements without a token`() async throws {
        let policy = try Policy(
            app: Policy.App(bundleID: "com.example.calculator", appleID: 828_838_134),
            eras: [Era(name: "paid", model: .paid)],
            entitlements: [
                Entitlement(
                    name: "everything",
                    products: [.init(id: "a"), .init(id: "b", length: CalendarPeriod(months: 3))],
                    trial: .sessions(5)),
                Entitlement(name: "cloud", products: [.init(id: "a")], trial: .days(14)),
                Entitlement(name: "gift", honors: [Honor(era: "paid")]),
            ])
        try await withService(policy: policy) { client in
            let response = try await client.get("/v1/products")
            #expect(response.status == .ok)
            #expect(response.headers[.cacheControl] == "public, max-age=300")
            #expect(
                String(buffer: response.body) == """
                    {"products":[{"id":"a","grants":[{"entitlement":"everything"},{"entitlement":"cloud"}]},\
                    {"id":"b","grants":[{"entitlement":"everything","for":"P3M"}]}],\
                    "entitlements":[{"name":"everything","products":["a","b"],"trial":{"sessions":5}},\
                    {"name":"cloud","products":["a"],"trial":{"days":14}},{"name":"gift","products":[]}]}
                    """)
            let read = try JSONDecoder().decode(ProductsResponse.self, from: Data(buffer: response.body))
            #expect(read == ProductsResponse(policy))
        }
    }

    @Test func `GET /v1/products with a current ETag returns 304 without a body`() async throws {
        try await withService { client in
            let tag = try #require(try await client.get("/v1/products").headers[.eTag])
            for known in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
                let response = try await client.http.execute(
                    uri: "/v1/products", method: .get, headers: [.ifNoneMatch: known]
                ) { $0 }
                #expect(response.status == .notModified)
                #expect(response.headers[.eTag] == tag)
                #expect(response.body.readableBytes == 0)
            }
            let other = try await client.http.execute(
                uri: "/v1/products", method: .get, headers: [.ifNoneMatch: "\"x\""]
            ) { $0 }
            #expect(other.status == .ok)
        }
    }

    @Test func `the signing keys may be cached for five minutes`() async throws {
        try await withService { client in
            let response = try await client.get("/.well-known/jwks.json")
            #expect(response.status == .ok)
            #expect(response.headers[.cacheControl] == "public, max-age=300")
        }
    }

    @Test func `the ETag of GET /v1/products changes with the products, and only then`() async throws {
        func tag(_ policy: Policy) async throws -> String? {
            try await withService(policy: policy) { try await $0.get("/v1/products").headers[.eTag] }
        }
        let first = try await tag(Calculator.policy())
        let again = try await tag(Calculator.policy())
        let other = try await tag(PublishedContent.policy())
        #expect(first != nil && first == again && first != other)
    }
}
