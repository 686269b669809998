import Foundation
import Hummingbird
import Logging
import TenureAPI
import TenureCore
import TenureJSON
import TenureStore

@testable import TenureServer

/// The service for `http-customer`, `database-growth`, `postgres-read` and `content-nginx`: with a large database,
/// access tokens, and routes that do only the work of the floor.
struct CustomerBenchmark: Sendable {
    private let service: TenureService
    private let now: Date
    /// Reads the row of a customer from a database server, and decodes nothing; nil for SQLite.
    private let select: (@Sendable (Int64) async throws -> Void)?

    /// The route for the floor in SQLite: sends the bytes of one customer's response from memory.
    static let memoryPath = "/benchmark/memory"
    static let customerPath = "/v1/customer"
    /// The route for the floor on a database server: runs one bare SELECT of the token's customer, then sends the same
    /// bytes from memory.
    static let selectPath = "/benchmark/select"

    /// - Parameters:
    ///   - downloadsPerCustomer: how many downloads of content a customer may have at once; nil for the default.
    ///   - store: the database to use; nil for the SQLite file of the configuration.
    ///   - select: reads the row of a customer, for the route `selectPath`; nil for SQLite.
    init(
        configuration: ServiceConfiguration, downloadsPerCustomer: Int? = nil, store: Store? = nil,
        select: (@Sendable (Int64) async throws -> Void)? = nil
    ) async throws(ServiceError) {
        var configuration = configuration
        if let downloadsPerCustomer { configuration.downloadsPerCustomer = downloadsPerCustomer }
        // All requests come from one address.
        configuration.rateLimits.perAddress = .unlimited
        configuration.rateLimits.perToken = .unlimited
        service = try await TenureService(configuration, store: store)
        self.select = select
        now = configuration.now()
    }

    /// Adds invented customers until the database has `count` of them. Their numbers are 1 to `count`.
    func fill(to count: Int) async throws {
        let batch = 10_000
        var next = 1
        // Find the first missing number in steps. A query for it would be in the store only for this benchmark.
        while next <= count, try await service.store.lookUp(Int64(next)) != nil { next += batch }
        while next <= count {
            let updates = try (next..<min(next + batch, count + 1)).map { number in
                let update = try update(ofCustomer: number)
                let identity = Identity(.appTransactionID, String(704_000_000_000_000_000 + number))
                return (plan: CustomerUpdatePlan(naming: [identity], in: Realm(.production), at: now), update: update)
            }
            try await service.store.write(at: now, locking: updates.flatMap(\.plan.lockKeys)) { transaction in
                for (plan, update) in updates {
                    guard let found = try transaction.findCustomer(plan) else { continue }
                    _ = try transaction.save(update, of: found)
                }
            }
            next += batch
        }
    }

    /// Invents a customer who bought the app. Two of three customers also bought products in it.
    private func update(ofCustomer number: Int) throws -> CustomerUpdate {
        let id = String(704_000_000_000_000_000 + number)
        let bought = Date(timeIntervalSince1970: 1_300_000_000 + Double(number % 400_000_000))
        var update = CustomerUpdate(of: nil)
        let proof = AppProof(
            kind: .appTransaction, signedDate: now.addingTimeInterval(-86_400), id: .appTransaction(id),
            originalPlatform: number.isMultiple(of: 3) ? .macOS : .iOS,
            originalAppVersion: number.isMultiple(of: 3) ? "1.\(number % 20)" : String(number % 200),
            originalPurchaseDate: bought)
        let product = service.policies.current.entitlements.first?.products.first?.id ?? "com.example.everything"
        let purchases = (0..<number % 3).map { index in
            Purchase(
                transactionID: String(410_000_000_000_000 + number * 10 + index), productID: product,
                type: .nonConsumable, purchaseDate: bought.addingTimeInterval(Double(index) * 1000), signedDate: now)
        }
        update.add([], proving: [proof], purchases: purchases)
        update.completePurchases()
        let evidence = update.facts.evidence(in: .production)
        let policies = service.policies
        update.promise(
            try policies.decide(update.facts, evidence, at: now).flatMap {
                policies.promises(of: $0, under: policies.inEffect, at: now)
            })
        return update
    }

    /// Returns access tokens of customers spread over 1 to `population`, valid for a day.
    func accessTokens(_ count: Int, ofCustomersUpTo population: Int) -> [String] {
        (0..<count).map { index in
            // Steps of a large prime make consecutive requests read distant pages of the database.
            let customer = Int64(1 + (index &* 7_919_993) % population)
            let token = AccessToken(
                customer: customer, realm: Realm(.production), expiresAt: now.addingTimeInterval(86_400))
            return service.accessTokenKey.text(of: token)
        }
    }

    /// Runs the service with an additional route until the task is canceled or a signal arrives.
    func run(
        logger: Logger = Logger(label: "tenure"),
        onServerRunning: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
    ) async throws {
        guard let customer = try await service.store.lookUp(2) else {
            throw ServiceError.failed("the benchmark's database is empty; fill it first")
        }
        let evidence = customer.evidence
        var json = JSONWriter()
        json.value(
            CustomerAnswer(
                customer, evidence: evidence,
                decisions: try service.policies.decide(customer.facts, evidence, at: now)))
        let bytes = json.bytes
        let router = try service.router()
        router.get("benchmark/memory") { _, _ in Response.json(bytes) }
        if let select {
            let access = CustomerAccess(
                accessTokenKey: service.accessTokenKey,
                acceptedRealms: AcceptedRealms(service.configuration.anchors))
            router.get("benchmark/select") { [now] request, _ in
                try await select(try access.token(of: request, now: now).customer)
                return Response.json(bytes)
            }
        }
        try await service.application(logger: logger, router: router, onServerRunning: onServerRunning).runService()
    }
}
