import Foundation
import TenureCore
import TenureMint
import TenurePolicyFile
import TenureStore
import Testing

@testable import TenureRehearsal

/// A rehearsal decides customers with equal plain facts only once. The result must be the same as deciding each
/// customer.
struct DatabaseRehearsalTests {
    private static let instants = [
        "2014-12-24T00:00:00Z", "2015-01-02T00:00:00Z", "2015-06-10T18:00:00Z", "2015-06-12T18:00:00Z",
        "2015-06-09T18:00:00Z", "2015-06-11T18:00:00Z", "2015-06-14T18:00:00Z", "2014-06-09T10:00:00Z",
        "2015-10-30T00:00:00Z",
    ]

    /// Facts on both sides of every boundary and limit of the policy, and some that aren't plain.
    private static func facts(_ number: Int, _ random: inout SeededRandom) -> CustomerFacts {
        var facts = CustomerFacts()
        let near = Population.date(instants[Int.random(in: 0..<instants.count, using: &random)])
        let steps = [-86_400, -2.001, -2, -1.999, -0.001, 0, 0.001, 1.999, 2, 2.001, 86_400, -4e7, 3e6]
        let date = near.addingTimeInterval(steps[Int.random(in: 0..<steps.count, using: &random)])
        let platforms: [Platform?] = [.iOS, .macOS, .tvOS, nil]
        let versions: [String?] = ["37", "99", "100", "119", "120", "2.0", "1.10", "2.0b", nil, "37"]
        let id: AcquisitionID? =
            number % 7 == 0 ? nil : number % 5 == 0 ? .download("\(number)") : .appTransaction("\(number)")
        func proof(revoked: Date? = nil) -> AppProof {
            AppProof(
                kind: number % 5 == 0 ? .receipt : .appTransaction,
                signedDate: number % 4 == 0 ? nil : Population.now, id: id,
                originalPlatform: platforms[number % 4],
                originalAppVersion: versions[Int.random(in: 0..<versions.count, using: &random)],
                originalPurchaseDate: number % 11 == 0 ? nil : date, revocationDate: revoked)
        }
        if number % 13 != 0 { facts.add([proof(revoked: number % 17 == 0 ? Population.now : nil)]) }
        if number % 19 == 0 { facts.add([proof()]) }
        for index in 0..<number % 3 {
            facts.add([
                Purchase(
                    transactionID: "\(number)-\(index)",
                    productID: "com.example.calculator.\(index == 0 ? "everything" : "yearly")",
                    type: number % 4 == 0 ? .autoRenewable : .nonConsumable, purchaseDate: date,
                    expiresDate: number % 4 == 0 ? date.addingTimeInterval(4e7) : nil,
                    revocationDate: number % 23 == 0 ? Population.now : nil, isFamilyShared: number % 2 == 0,
                    signedDate: Population.now)
            ])
        }
        facts.purchasesAreComplete = number % 2 == 0
        if number % 3 == 0 {
            // The promise is about this acquisition, or about another customer's.
            let key = AcquisitionKey(
                appTransactionID: number % 2 == 0 ? "\(number)" : nil, downloadID: nil,
                originalPurchaseDate: number % 4 == 0 ? date.addingTimeInterval(1.5) : near)
            facts.add([
                StoredPromise(
                    entitlement: number % 9 == 0 ? "retired" : "everything", acquisition: key, policyVersion: 1,
                    until: number % 6 == 0 ? Population.date("2017-01-01") : nil, recordedAt: Population.now)
            ])
        }
        if number % 29 == 0 { facts.add(SupportGrant(.grant, of: "cloud", date: Population.now)) }
        return facts
    }

    // With small pages, most kinds are known from earlier pages. With a low limit, most customers have no kind.
    @Test(arguments: [
        (seed: 1 as UInt64, pageSize: 8192 as Int64, maximumKinds: 40_000), (2, 8192, 40_000), (3, 100, 40_000),
        (4, 100, 60), (5, 1000, 1), (6, 700, 0),
    ])
    func `a rehearsal of a database gives the same counts as deciding about each customer`(
        seed: UInt64, pageSize: Int64, maximumKinds: Int
    ) async throws {
        let folder = try ScratchFolder()
        let store = try Store(SQLiteDatabase(path: folder.path + "/database.sqlite"))
        let comparison = try Corpora.comparison()
        let promising = try Population.policy(freeFrom: "110", alsoNames: "retired")
        _ = try await store.write(at: Population.now, locking: [.policies]) {
            try $0.record(policy: PolicyFile.compile(promising), sha256: Array(repeating: 7, count: 32))
        }

        var random = SeededRandom(seed: seed)
        var expected = Tally(for: comparison)
        var updates: [(plan: CustomerUpdatePlan, update: CustomerUpdate)] = []
        for number in 0..<4000 {
            let facts = Self.facts(number, &random)
            let made = CustomerUpdate(facts: facts)
            let realm = Realm(number % 31 == 0 ? .sandbox : .production, isTest: number % 37 == 0)
            updates.append(
                (CustomerUpdatePlan(naming: [Identity(.artifact, "\(number)")], in: realm, at: Population.now), made))
        }
        let customers = try await store.save(updates)
        for customer in customers where customer.realm == Realm(.production) {
            let promises = customer.facts.promises.map {
                Promise(entitlement: $0.entitlement, acquisition: $0.acquisition, policy: promising, until: $0.until)
            }
            comparison.count(customer.evidence, id: customer.publicID, promises: promises, in: &expected)
        }
        var rehearsal = DatabaseRehearsal(comparison, environments: [.production], includesTestAuthorities: false)
        rehearsal.pageSize = pageSize
        rehearsal.maximumKinds = maximumKinds
        let (lines, shares) = (Locked<[Int]>([]), Locked<[Double]>([]))
        let outcome = try await rehearsal.run(
            over: store,
            progress: { progress in
                lines.withLock { $0.append(progress.lines) }
                shares.withLock { $0.append(progress.share ?? -1) }
            })
        #expect(outcome.tally == expected)
        // The progress counts every customer once, whether or not there was room for their kind.
        #expect(lines.withLock { $0.last } == 4000)
        let done = shares.withLock { $0 }
        #expect(done.last == 1 && done == done.sorted() && done.allSatisfy { $0 > 0 })
        #expect(expected.heldByPromise > 0 && expected.losing > 0 && expected.gaining > 0)
        #expect(!expected.promisedOnly.isEmpty)
        #expect(outcome.skippedCustomers == 4000 - expected.customers)
        #expect(!outcome.isPartial)

        let includesTestAuthorities = try await DatabaseRehearsal(
            comparison, environments: [.production], includesTestAuthorities: true
        )
        .run(over: store)
        let included = customers.count { [Realm(.production), Realm(.production, isTest: true)].contains($0.realm) }
        #expect(included > expected.customers && includesTestAuthorities.tally.customers == included)
        #expect(includesTestAuthorities.skippedCustomers == 4000 - included)
        try await store.close()
    }

    /// Customers of iOS have all hundred examples of losses, before the first customer of macOS is counted. The last
    /// customers keep their right.
    @Test(arguments: [8192, 100] as [Int64])
    func `a rare cause of losses and a rare outcome get ten examples each, among many losses with another cause`(
        pageSize: Int64
    ) async throws {
        func policy(freeFrom build: String, onMac version: String) throws -> Policy {
            try Policy(
                app: .init(bundleID: "com.example.calculator", appleID: 828_838_134),
                eras: [
                    Era(name: "paid", model: .paid),
                    Era(
                        name: "free", model: .free,
                        begins: [
                            .iOS: .at(version: AppVersion(build), date: nil),
                            .macOS: .at(version: AppVersion(version), date: nil),
                        ]),
                ],
                buildNumbers: .increasing,
                entitlements: [Entitlement(name: "everything", honors: [Honor(era: "paid")])])
        }
        let comparison = Comparison(
            of: try policy(freeFrom: "100", onMac: "1.5"), against: try policy(freeFrom: "120", onMac: "2.0"),
            at: Population.now)
        let folder = try ScratchFolder()
        let store = try Store(SQLiteDatabase(path: folder.path + "/database.sqlite"))
        let updates: [(plan: CustomerUpdatePlan, update: CustomerUpdate)] = (0..<624).map { number in
            var facts = CustomerFacts()
            facts.purchasesAreComplete = true
            let isOnMac = (600..<612).contains(number)
            facts.add([
                Population.appTransaction(
                    "\(number)", on: isOnMac ? .macOS : .iOS,
                    version: isOnMac ? "1.9" : number < 600 ? "110" : "37")
            ])
            let plan = CustomerUpdatePlan(
                naming: [Identity(.artifact, "\(number)")], in: Realm(.production), at: Population.now)
            return (plan, CustomerUpdate(facts: facts))
        }
        var expected = Tally(for: comparison)
        for customer in try await store.save(updates) {
            comparison.count(customer.evidence, id: customer.publicID, in: &expected)
        }
        var rehearsal = DatabaseRehearsal(comparison, environments: [.production], includesTestAuthorities: false)
        rehearsal.pageSize = pageSize
        let tally = try await rehearsal.run(over: store).tally
        #expect(tally == expected)
        let everything = try #require(tally.byEntitlement.first)
        #expect(everything.examples[.change(.loses)]?.all.count == 100)
        #expect(everything.examples[.outcome(.granted)]?.all.count == 10 && everything.counts.granted == 12)
        let losses = everything.losses.sorted { $0.value.count < $1.value.count }
        #expect(losses.map(\.key.platform) == [.macOS, .iOS])
        #expect(losses.map(\.value.count) == [12, 600])
        #expect(losses.map(\.value.examples.all.count) == [10, 10])
        try await store.close()
    }

    @Test func `a rehearsal stores no more kinds of customers than its limit, and counts all other customers`() throws {
        let comparison = try Corpora.comparison()
        let customers = Population.customers(3, seed: 1)
        for limit in 0...3 {
            var kinds = CustomerKinds()
            for (number, customer) in customers.enumerated() {
                let kind = CustomerKinds.Kind(
                    customerEffects: comparison.customerEffects(on: customer.evidence),
                    place: RehearsedCustomer(id: customer.id, customer.evidence).place)
                [UInt8(number)].withUnsafeBytes { kinds.add(kind, as: $0, hash: UInt64(number)) }
            }
            var counted = CountedKinds()
            var tally = Tally(for: comparison)
            counted.add(kinds, times: [2, 3, 4], upTo: limit, in: &tally)
            #expect(counted.knownKinds.count == limit)
            #expect(tally.customers == [9, 7, 4, 0][limit] && counted.customers == 9 - tally.customers)
            // The next page knows these kinds, and finds all three again.
            let again = Array(repeating: 1, count: limit)
            counted.add(CustomerKinds(), times: again, upTo: limit, in: &tally)
            counted.add(kinds, times: again.map { _ in 0 } + [1, 1, 1], upTo: limit, in: &tally)
            counted.add(to: &tally)
            #expect(tally.customers == 9 + limit + 3)
        }
    }

    @Test func `a database rehearsal separates customers before and after an honor's date limit`() async throws {
        let policy = try PolicyFile.read(
            Array(
                """
                app: { bundleID: com.example.calculator, appleID: 828838134 }
                eras:
                  - { name: paid, model: paid }
                  - name: free
                    model: free
                    begins: { iOS: { at: 2015-06-10T18:00:00Z } }
                    changeover: { from: -24h, until: +48h }
                entitlements:
                  before: { honors: [{ era: paid, boughtBefore: 2014-06-10T12:00:00Z }] }
                  since: { honors: [{ era: paid, boughtSince: 2014-06-20T12:00:00Z }] }
                """.utf8), named: "policy.yaml")
        let folder = try ScratchFolder()
        let store = try Store(SQLiteDatabase(path: folder.path + "/database.sqlite"))
        let comparison = Comparison(of: policy, at: Population.now)
        var expected = Tally(for: comparison)
        var updates: [(plan: CustomerUpdatePlan, update: CustomerUpdate)] = []
        var number = 0
        for limit in ["2014-06-10T12:00:00Z", "2014-06-20T12:00:00Z"] {
            // All within one month, so that only the limit can separate them.
            for seconds in [-86_400, -3, -2, -1.999, 0, 1.999, 2, 2.001, 3, 86_400] {
                number += 1
                var facts = CustomerFacts()
                facts.add([
                    AppProof(
                        kind: .appTransaction, signedDate: Population.now, id: .appTransaction("\(number)"),
                        originalPlatform: .iOS, originalAppVersion: "37",
                        originalPurchaseDate: Population.date(limit).addingTimeInterval(seconds))
                ])
                let made = CustomerUpdate(facts: facts)
                updates.append(
                    (
                        CustomerUpdatePlan(
                            naming: [Identity(.artifact, "\(number)")], in: Realm(.production), at: Population.now),
                        made
                    ))
            }
        }
        for customer in try await store.save(updates) {
            comparison.count(customer.evidence, id: customer.publicID, in: &expected)
        }
        let outcome = try await DatabaseRehearsal(
            comparison, environments: [.production], includesTestAuthorities: false
        )
        .run(over: store)
        #expect(outcome.tally == expected)
        for entitlement in expected.byEntitlement {
            #expect(entitlement.counts.granted > 0 && entitlement.counts.granted < number)
        }
        try await store.close()
    }

    @Test func `a stopped rehearsal of a database is partial, unless it has counted the last customer`() async throws {
        let folder = try ScratchFolder()
        let store = try Store(SQLiteDatabase(path: folder.path + "/database.sqlite"))
        let updates = (0..<400).map { number in
            (
                plan: CustomerUpdatePlan(
                    naming: [Identity(.artifact, "\(number)")], in: Realm(.production), at: Population.now),
                update: CustomerUpdate(facts: CustomerFacts())
            )
        }
        #expect(try await store.save(updates).count == 400)
        var rehearsal = DatabaseRehearsal(
            try Corpora.comparison(), environments: [.production], includesTestAuthorities: false)
        rehearsal.pageSize = 2
        for limit in [20, 400] {
            let isStopped = Locked(false)
            let outcome = try await rehearsal.run(over: store, isStopped: { isStopped.withLock { $0 } }) { progress in
                if progress.lines >= limit { isStopped.withLock { $0 = true } }
            }
            #expect(outcome.isPartial == (limit < 400))
            #expect(limit < 400 ? (limit..<400).contains(outcome.tally.customers) : outcome.tally.customers == 400)
        }
        try await store.close()
    }

    @Test func `a rehearsal fails if a promise names a policy version that the database lacks`() async throws {
        let folder = try ScratchFolder()
        let path = folder.path + "/database.sqlite"
        let whole = try Store(SQLiteDatabase(path: path))
        for (build, hash) in [("110", UInt8(7)), ("115", 8)] {
            let policy = PolicyFile.compile(try Population.policy(freeFrom: build))
            _ = try await whole.write(at: Population.now, locking: [.policies]) {
                try $0.record(policy: policy, sha256: Array(repeating: hash, count: 32))
            }
        }
        var updates: [(plan: CustomerUpdatePlan, update: CustomerUpdate)] = []
        for number in 1...2 {
            var facts = CustomerFacts()
            facts.add([Population.appTransaction("\(number)")])
            let key = AcquisitionKey(
                appTransactionID: "\(number)", downloadID: nil, originalPurchaseDate: Population.date("2014-05-01"))
            facts.add([
                StoredPromise(
                    entitlement: "everything", acquisition: key, policyVersion: Int64(number), until: nil,
                    recordedAt: Population.now)
            ])
            let made = CustomerUpdate(facts: facts)
            updates.append(
                (
                    CustomerUpdatePlan(
                        naming: [Identity(.artifact, "\(number)")], in: Realm(.production), at: Population.now),
                    made
                ))
        }
        #expect(try await whole.save(updates).count == 2)
        func rehearse(_ store: Store) async throws -> Int {
            try await DatabaseRehearsal(
                try Corpora.comparison(), environments: [.production], includesTestAuthorities: false
            )
            .run(over: store).tally.customers
        }
        #expect(try await rehearse(whole) == 2)
        try await whole.close()

        try SQLiteConnection(path: path, for: .writing).execute("DELETE FROM policies WHERE version = 2")
        let damaged = try Store(SQLiteDatabase(path: path))
        await #expect(throws: RehearsalError.brokenPolicy(2)) { try await rehearse(damaged) }
        try await damaged.close()
    }

    @Test func `a rehearsal fails if the database has a policy version that can't be read`() async throws {
        let folder = try ScratchFolder()
        let store = try Store(SQLiteDatabase(path: folder.path + "/database.sqlite"))
        _ = try await store.write(at: Population.now, locking: [.policies]) {
            try $0.record(policy: Array("{}".utf8), sha256: Array(repeating: 7, count: 32))
        }
        await #expect(throws: RehearsalError.brokenPolicy(1)) {
            try await DatabaseRehearsal(
                try Corpora.comparison(), environments: [.production], includesTestAuthorities: false
            )
            .run(over: store)
        }
        try await store.close()
    }
}

extension Store {
    /// Saves updates of new customers in one transaction.
    fileprivate func save(
        _ updates: [(plan: CustomerUpdatePlan, update: CustomerUpdate)]
    ) async throws -> [Customer] {
        try await write(at: Population.now, locking: updates.flatMap(\.plan.lockKeys)) { transaction in
            try updates.compactMap { plan, update in
                try transaction.findCustomer(plan).map { try transaction.save(update, of: $0) }
            }
        }
    }
}
