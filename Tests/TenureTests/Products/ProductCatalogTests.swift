import Foundation
import TenureAPI
import TenureCore
import TenureJSON
import Testing

@testable import Tenure

@Suite struct ProductCatalogTests {
    private func policy() throws -> Policy {
        try Policy(
            app: Policy.App(bundleID: "com.example.calculator"), eras: [Era(name: "paid", model: .paid)],
            entitlements: [
                Entitlement(
                    name: "everything",
                    products: [
                        .init(id: "com.example.calculator.everything"), .init(id: "com.example.calculator.yearly"),
                    ],
                    trial: .sessions(5)),
                Entitlement(
                    name: "cloud",
                    products: [
                        .init(id: "com.example.calculator.yearly"),
                        .init(id: "com.example.calculator.season", length: CalendarPeriod(months: 3)),
                    ], trial: .days(14)),
            ])
    }

    @Test func `a policy's products are listed once, with their entitlements`() throws {
        let catalog = Tenure.ProductCatalog(try policy())
        #expect(
            catalog.ids == [
                "com.example.calculator.everything", "com.example.calculator.yearly", "com.example.calculator.season",
            ])
        #expect(
            catalog.products(for: "cloud") == ["com.example.calculator.yearly", "com.example.calculator.season"])
        #expect(catalog.grants(of: "com.example.calculator.yearly").map(\.entitlement) == ["everything", "cloud"])
        #expect(catalog.length(of: "com.example.calculator.season") == CalendarPeriod(months: 3))
        #expect(catalog.length(of: "com.example.calculator.yearly") == nil)
        #expect(catalog.trial(of: "everything") == .sessions(5) && catalog.trial(of: "cloud") == .days(14))
        #expect(catalog.products(for: "nothing") == [] && catalog.grants(of: "nothing") == [])
    }

    @Test func `the product catalog that the service makes from a policy equals the client's catalog`() throws {
        var json = JSONWriter()
        json.value(ProductsResponse(try policy()))
        let response = try JSONDecoder().decode(ProductsResponse.self, from: Data(json.bytes))
        #expect(Tenure.ProductCatalog(response) == Tenure.ProductCatalog(try policy()))
    }

    @Test func `a product catalog with repeated or impossible values is read without a crash`() throws {
        let text = """
            {"products":[{"id":"a","grants":[{"entitlement":"x","for":"for ever"}]},{"id":"a","grants":[]}],
            "entitlements":[{"name":"x","products":["a"],"trial":{"sessions":-1}},{"name":"x","products":[]},
            {"name":"y","products":[],"trial":{}}]}
            """
        let catalog = Tenure.ProductCatalog(try JSONDecoder().decode(ProductsResponse.self, from: Data(text.utf8)))
        #expect(catalog.ids == ["a"] && catalog.products(for: "x") == ["a"])
        #expect(catalog.grants(of: "a") == [Tenure.ProductCatalog.Grant(entitlement: "x", length: nil)])
        #expect(catalog.trial(of: "x") == nil && catalog.trial(of: "y") == nil)
    }

    @Test func `a trial of no sessions or days isn't a trial, and a trial of days is found behind it`() throws {
        let text = """
            {"products":[],"entitlements":[{"name":"none","products":[],"trial":{"sessions":0}},
            {"name":"days","products":[],"trial":{"sessions":0,"days":7}},
            {"name":"no days","products":[],"trial":{"days":0}},{"name":"one","products":[],"trial":{"sessions":1}}]}
            """
        let catalog = Tenure.ProductCatalog(try JSONDecoder().decode(ProductsResponse.self, from: Data(text.utf8)))
        #expect(catalog.trial(of: "none") == nil && catalog.trial(of: "no days") == nil)
        #expect(catalog.trial(of: "days") == .days(7) && catalog.trial(of: "one") == .sessions(1))
    }

    @Test func `decisions from a catalog use the length that a product has for each entitlement`() throws {
        let text = """
            {"products":[{"id":"season","grants":[{"entitlement":"x","for":"P1M"},{"entitlement":"y","for":"P3M"}]}],
            "entitlements":[{"name":"x","products":["season"]},{"name":"y","products":["season"]}]}
            """
        let catalog = Tenure.ProductCatalog(try JSONDecoder().decode(ProductsResponse.self, from: Data(text.utf8)))
        let entitlements = try #require(catalog.policy).entitlements
        let lengths = entitlements.map { "\($0.name): \($0.products.compactMap(\.length?.months))" }
        #expect(lengths.sorted() == ["x: [1]", "y: [3]"])
    }

    @Test func `a product's terms state the longest period that it grants`() throws {
        let policy = try Policy(
            app: Policy.App(bundleID: "com.example.calculator"), eras: [Era(name: "paid", model: .paid)],
            entitlements: [3, 12, 6].map { months in
                Entitlement(
                    name: "for-\(months)", products: [.init(id: "season", length: CalendarPeriod(months: months))])
            })
        #expect(Tenure.ProductCatalog(policy).length(of: "season") == CalendarPeriod(months: 12))
    }
}
