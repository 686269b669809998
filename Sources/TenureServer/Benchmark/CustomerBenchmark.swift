import Foundation
import Hummingbird
public import Logging
import TenureAPI
import TenureCore
import TenureJSON
package import TenureStore

/// What the benchmark `http-customer` needs of the service: a large record, tokens to ask it with, and a route that
/// sends the same bytes from memory. For the package under `Benchmarks/` only.
@_spi(Benchmarks)
public struct CustomerBenchmark: Sendable {
    private let service: TenureService
    private let now: Date
    /// Asks a database for one customer as simply as it goes.
    private let select: (@Sendable (Int64) async throws -> Void)?

    /// The floor: the bytes of one customer's answer, without asking anything.
    public static let memoryPath = "/benchmark/memory"
    public static let customerPath = "/v1/customer"
    /// The floor of a database server: one bare SELECT of the customer whom the token names, and those bytes.
    public static let selectPath = "/benchmark/select"

    /// - Parameter downloadsPerCustomer: how many downloads of content a customer may have at once; nil: as many as usual.
    public init(
        configuration: ServiceConfiguration, downloadsPerCustomer: Int? = nil
    ) async throws(ServiceError) {
        var configuration = configuration
        if let downloadsPerCustomer { configuration.downloadsPerCustomer = downloadsPerCustomer }
        try await self.init(configuration: configuration, store: nil, select: nil)
    }

    /// On the given record.
    package init(
        configuration: ServiceConfiguration, store: (any Store)?, select: (@Sendable (Int64) async throws -> Void)?
    ) async throws(ServiceError) {
        var configuration = configuration
        // One address asks as often as it can.
        configuration.rateLimits.perAddress = nil
        configuration.rateLimits.perToken = nil
        service = try await TenureService(configuration, store: store)
        self.select = select
        now = configuration.now()
    }

    /// Adds invented customers until the record holds `count` of them. Their numbers are 1 to `count`.
    public func fill(to count: Int) async throws {
        let batch = 10_000
        var next = 1
        // Doubling finds the last known number without a verb that only a benchmark needs.
        while next <= count, try await service.store.customer(Int64(next)) != nil { next += batch }
        while next <= count {
            let acts = try (next..<min(next + batch, count + 1)).map { number in
                let amendment = try amendment(ofCustomer: number)
                return (
                    identities: [Identity(.appTransactionID, String(704_000_000_000_000_000 + number))],
                    realm: Realm(.production), change: { @Sendable (_: Customer?) in amendment }
                )
            }
            _ = try await service.store.amend(acts, at: now)
            next += batch
        }
    }

    /// One who bought the app, and some who bought something in it.
    private func amendment(ofCustomer number: Int) throws -> Amendment {
        let id = String(704_000_000_000_000_000 + number)
        let bought = Date(timeIntervalSince1970: 1_300_000_000 + Double(number % 400_000_000))
        var amendment = Amendment(of: nil)
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
        amendment.add([], proving: [proof], purchases: purchases)
        amendment.completePurchases()
        let evidence = amendment.facts.evidence(in: .production)
        let policies = service.policies
        amendment.promise(
            try policies.decide(amendment.facts, evidence, at: now).flatMap { policies.promises(of: $0, at: now) })
        return amendment
    }

    /// Access tokens of customers spread over 1 to `population`, good for a day.
    public func accessTokens(_ count: Int, ofCustomersUpTo population: Int) -> [String] {
        (0..<count).map { index in
            // Steps of a large prime, so that neighbors in time are none on the disk.
            let customer = Int64(1 + (index &* 7_919_993) % population)
            let token = AccessToken(
                customer: customer, realm: Realm(.production), expiresAt: now.addingTimeInterval(86_400))
            return service.accessTokenKey.text(of: token)
        }
    }

    /// Runs the service as it is, with one route more, until the task is cancelled or a signal comes.
    public func run(
        logger: Logger = Logger(label: "tenure"),
        onServerRunning: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
    ) async throws {
        guard let customer = try await service.store.customer(2) else {
            throw ServiceError.failed("the benchmark's record is empty; fill it first")
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
                verifiedRealms: AcceptedRealms(service.configuration.anchors))
            router.get("benchmark/select") { [now] request, _ in
                try await select(try access.token(of: request, now: now).customer)
                return Response.json(bytes)
            }
        }
        try await service.application(logger: logger, router: router, onServerRunning: onServerRunning).runService()
    }
}
