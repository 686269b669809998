import Foundation
import StoreContract
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `a backfill of a customer's purchases` {
    private let id = AppStoreCustomerID.transaction("1001")

    /// Returns a change that adds a customer with one purchase and a subscription to the imitated App Store.
    private func subscriber(
        _ extra: [String] = [], renewal: String? = nil
    ) throws -> @Sendable (inout ImitatedAppStore.Contents) -> Void {
        let transactions = try [ServerSigned.transaction("1001"), ServerSigned.period()] + extra
        let statuses = ServerSigned.statuses(try ServerSigned.period(), try renewal ?? ServerSigned.renewal())
        let appTransaction = try ServerSigned.appTransaction()
        return { contents in
            contents.histories = [(["1001", ServerSigned.customer], transactions)]
            contents.statuses = ["1001": statuses, ServerSigned.customer: statuses]
            contents.appTransactions = ["1001": appTransaction, ServerSigned.customer: appTransaction]
        }
    }

    private func updated(_ history: CustomerHistory, _ customer: Customer? = nil) -> CustomerUpdate {
        var update = CustomerUpdate(of: customer)
        history.add(to: &update, of: nil)
        return update
    }

    @Test func `a backfill fetches a customer's whole history, subscriptions and app transaction`() async throws {
        let fill = try subscriber()
        try await withAppStore { asking in
            await asking.appStore.put(.production, fill)
            let history = try await CustomerHistoryReader(client: asking.connection).history(of: id)
            #expect(history.isComplete)
            #expect(history.rejected.isEmpty)
            #expect(history.realm == Realm(.production, isTest: true))
            #expect(history.proven.identities.first == Identity(.appTransactionID, ServerSigned.customer))
            #expect(
                Set(history.proven.identities.dropFirst().map(\.value)) == ["1001", "2000"])
            let update = updated(history)
            #expect(update.facts.purchasesAreComplete)
            #expect(update.facts.proofs.map(\.kind) == [.serverAppTransaction])
            #expect(update.facts.purchases.map(\.transactionID) == ["1001", "2001"])
            #expect(update.facts.renewals.map(\.originalTransactionID) == ["2000"])
            #expect(Set(update.artifacts.map(\.kind)) == [.appTransaction, .transaction, .renewalInfo])
        }
    }

    @Test func `a backfill of purchases stores every ID by which support finds a customer`() async throws {
        let token = "9b2f0e52-6c0c-4a53-9a0f-5d1f4a0f7b11"
        let fill = try subscriber([
            try ServerSigned.transaction(
                "1002", .production,
                ["appAccountToken": .string(token), "webOrderLineItemId": .string("410000000000778")])
        ])
        try await withAppStore { asking in
            await asking.appStore.put(.production, fill)
            let history = try await CustomerHistoryReader(client: asking.connection).history(of: id)
            let identities = updated(history).identities
            #expect(identities.contains { $0.kind == .appAccountToken && $0.value == token + " 1002" })
            #expect(identities.contains(Identity(.webOrderLineItemID, "410000000000778")))
        }
    }

    @Test func `storing a backfill twice gives the customer each purchase once`() async throws {
        let fill = try subscriber()
        var contents = ImitatedAppStore.Contents()
        fill(&contents)
        let given = contents.histories.flatMap(\.transactions) + contents.appTransactions.values
        // The statuses have the renewal info, and another signature of the same subscription period.
        let statuses = contents.statuses["1001"] ?? ""
        @Sendable func signed(_ jws: String) -> Substring { jws[..<(jws.lastIndex(of: ".") ?? jws.endIndex)] }
        try await withAppStore { asking in
            await asking.appStore.put(.production, fill)
            let history = try await CustomerHistoryReader(client: asking.connection).history(of: id)
            try await withFolder { folder in
                let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
                for _ in 0..<2 {
                    let (customer, _) = try await store.update(
                        history.proven.identities, in: try #require(history.realm), at: Calculator.now,
                        adding: history.size
                    ) { known -> (CustomerUpdate, Void) in (updated(history, known), ()) }
                    #expect(customer.evidence.purchasesAreComplete)
                    #expect(customer.evidence.purchases.map(\.transactionID) == ["1001", "2001"])
                    #expect(customer.evidence.acquisitions.map(\.key.appTransactionID) == [ServerSigned.customer])
                    let artifacts = try await store.read { try $0.artifacts(of: customer.id) }
                    let stored = artifacts.map { String(decoding: $0.bytes, as: UTF8.self) }
                    #expect(stored.allSatisfy { given.contains($0) || statuses.contains($0) })
                    #expect(Set(given.map(signed)).isSubset(of: stored.map(signed)))
                    #expect(artifacts.contains { $0.kind == .renewalInfo } && Set(stored).count == stored.count)
                }
                try await store.close()
            }
        }
    }

    @Test func `a backfill stores the App Store's artifacts unchanged, byte by byte`() async throws {
        let (transaction, period) = (try ServerSigned.transaction("1001"), try ServerSigned.period())
        let (renewal, appTransaction) = (try ServerSigned.renewal(), try ServerSigned.appTransaction())
        try await withAppStore { asking in
            await asking.appStore.put(.production) { contents in
                contents.histories = [(["1001"], [transaction, period])]
                contents.statuses = ["1001": ServerSigned.statuses(period, renewal)]
                contents.appTransactions = ["1001": appTransaction]
            }
            let history = try await CustomerHistoryReader(client: asking.connection).history(of: id)
            try await withFolder { folder in
                let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
                let (customer, _) = try await store.update(
                    history.proven.identities, in: try #require(history.realm), at: Calculator.now, adding: history.size
                ) { known -> (CustomerUpdate, Void) in (updated(history, known), ()) }
                let rows = try #require(try await store.read { try $0.rows(of: customer.id) })
                let texts = rows.artifacts.map { String(decoding: $0.artifact.bytes, as: UTF8.self) }
                #expect(texts.sorted() == [transaction, period, renewal, appTransaction].sorted())
                try await store.close()
            }
        }
    }

    @Test func `a backfill for an app transaction ID sends all its requests with that ID`() async throws {
        let fill = try subscriber()
        try await withAppStore { asking in
            await asking.appStore.put(.production, fill)
            let backfill = CustomerHistoryReader(client: try asking.connection)
            let history = try await backfill.history(of: .appTransaction(ServerSigned.customer), in: .production)
            #expect(history.isComplete)
            #expect(await asking.appStore.asked.allSatisfy { $0.path.hasSuffix("/" + ServerSigned.customer) })
        }
    }

    @Test func `a backfill sends all requests to the environment that knows the customer`() async throws {
        let transaction = try ServerSigned.transaction("1001", .sandbox)
        let appTransaction = try ServerSigned.appTransaction(.sandbox)
        try await withAppStore { asking in
            await asking.appStore.put(.sandbox) { contents in
                contents.histories = [(["1001"], [transaction])]
                contents.appTransactions = ["1001": appTransaction]
            }
            let history = try await CustomerHistoryReader(client: asking.connection).history(of: id)
            #expect(history.environment == .sandbox)
            #expect(history.realm == Realm(.sandbox, isTest: true))
            #expect(history.isComplete)
            #expect(await asking.appStore.asked.map(\.environment) == ["Production", "Sandbox", "Sandbox"])
        }
    }

    @Test func `a backfill leaves out a forged transaction, and leaves the purchases incomplete`() async throws {
        let fill = try subscriber([try ServerSigned.forged()])
        try await withAppStore { asking in
            await asking.appStore.put(.production, fill)
            let history = try await CustomerHistoryReader(client: asking.connection).history(of: id)
            #expect(!history.isComplete)
            #expect(history.rejected.map(\.code) == ["badSignature"])
            #expect(!updated(history).facts.purchasesAreComplete)
            #expect(updated(history).facts.purchases.map(\.transactionID) == ["1001", "2001"])
        }
    }

    @Test func `a backfill that can't read the whole history also fetches the refunds`() async throws {
        let fill = try subscriber()
        let first = try ServerSigned.transaction("1001")
        let refunded = try ServerSigned.transaction(
            "1001", .production, ["revocationDate": .instant(Calculator.now), "revocationReason": .number("0")])
        try await withAppStore { asking in
            await asking.appStore.put(.production) { contents in
                fill(&contents)
                contents.refunds = ["1001": [refunded]]
            }
            let page =
                #"{"revision":"r","hasMore":true,"bundleId":"com.example.calculator","environment":"Production","#
                + #""signedTransactions":["\#(first)"]}"#
            await asking.appStore.answerFirst(with: .init(status: 200, body: page), .init(status: 200, body: page))
            let history = try await CustomerHistoryReader(client: asking.connection).history(of: id, in: .production)
            #expect(history.ending == .circle && !history.isComplete)
            let facts = updated(history).facts
            #expect(facts.purchases.first { $0.transactionID == "1001" }?.revocationDate != nil)
        }
    }

    @Test func `a backfill leaves the purchases incomplete if a page of the history is repeated`() async throws {
        let page = try ServerSigned.transaction("1001")
        try await withAppStore { asking in
            for _ in 0..<2 {
                await asking.appStore.answerFirst(
                    with: .init(
                        status: 200, body: #"{"revision":"a","hasMore":true,"signedTransactions":["\#(page)"]}"#))
            }
            let history = try await CustomerHistoryReader(client: asking.connection).history(of: id)
            #expect(history.ending == .circle)
            #expect(!history.isComplete)
            #expect(updated(history).facts.purchases.count == 1)
        }
    }

    @Test func `a backfill stores no artifact that is signed for another account`() async throws {
        let fill = try subscriber([
            try ServerSigned.transaction("3001", .production, ["appTransactionId": .string("704000000000000009")])
        ])
        try await withAppStore { asking in
            await asking.appStore.put(.production, fill)
            let history = try await CustomerHistoryReader(client: asking.connection).history(of: id)
            #expect(history.rejected.map(\.code) == ["unrelated"])
            #expect(!history.isComplete)
            #expect(!history.proven.purchases.contains { $0.transactionID == "3001" })
            #expect(!history.proven.identities.contains { $0.value == "704000000000000009" || $0.value == "3001" })
        }
    }

    @Test func `a backfill stores old transactions without an app transaction ID`() async throws {
        let fill = try subscriber([try ServerSigned.transaction("4001", .production, ["appTransactionId": .null])])
        try await withAppStore { asking in
            await asking.appStore.put(.production, fill)
            let history = try await CustomerHistoryReader(client: asking.connection).history(of: id)
            #expect(history.isComplete)
            #expect(history.proven.purchases.contains { $0.transactionID == "4001" })
        }
    }

    @Test func `a backfill leaves purchases incomplete if the history lacks the requested transaction`() async throws {
        let others = try [ServerSigned.transaction("1002"), ServerSigned.transaction("1003")]
        for transactions in [others, []] {
            try await withAppStore { asking in
                await asking.appStore.put(.production) {
                    $0.histories = [(["1001", ServerSigned.customer], transactions)]
                }
                let backfill = CustomerHistoryReader(client: try asking.connection)
                #expect(try await backfill.history(of: id).isComplete == false)
                // The history of a customer without purchases is complete and empty.
                #expect(try await backfill.history(of: .appTransaction(ServerSigned.customer)).isComplete)
            }
        }
    }

    @Test func `a backfill requests no subscription statuses if the customer bought no subscription`() async throws {
        let transaction = try ServerSigned.transaction("1001")
        try await withAppStore { asking in
            await asking.appStore.put(.production) { $0.histories = [(["1001"], [transaction])] }
            let history = try await CustomerHistoryReader(client: asking.connection).history(of: id)
            // The App Store knows no app transaction of this customer.
            #expect(history.isComplete)
            #expect(history.proven.proofs.isEmpty)
            #expect(await !asking.appStore.asked.contains { $0.path.contains("subscriptions") })
        }
    }

    @Test func `a backfill leaves the purchases incomplete if the subscription statuses are missing`() async throws {
        let fill = try subscriber()
        try await withAppStore { asking in
            await asking.appStore.put(.production, fill)
            await asking.appStore.put(.production) { $0.statuses = [:] }
            let history = try await CustomerHistoryReader(client: asking.connection).history(of: id)
            #expect(!history.isComplete)
            #expect(history.proven.purchases.count == 2)
        }
    }

    @Test func `a backfill leaves out a forged app transaction`() async throws {
        let fill = try subscriber()
        try await withAppStore { asking in
            await asking.appStore.put(.production, fill)
            await asking.appStore.put(.production) { $0.appTransactions = ["1001": "a.b.c"] }
            let history = try await CustomerHistoryReader(client: asking.connection).history(of: id)
            #expect(history.proven.proofs.isEmpty)
            #expect(history.rejected.map(\.path) == [.appTransaction])
            #expect(!history.isComplete)
        }
    }

    @Test func `a backfill fetches the app transaction even if the App Store has no history for the customer`()
        async throws
    {
        let appTransaction = try ServerSigned.appTransaction()
        try await withAppStore { asking in
            await asking.appStore.put(.production) { $0.appTransactions = [ServerSigned.customer: appTransaction] }
            let backfill = CustomerHistoryReader(client: try asking.connection)
            let history = try await backfill.history(of: .appTransaction(ServerSigned.customer))
            #expect(history.proven.proofs.count == 1)
            #expect(!history.isComplete)
            #expect(history.proven.identities == [Identity(.appTransactionID, ServerSigned.customer)])
        }
    }

    @Test func `a backfill fails with a retryable error if the App Store can't deliver a part of it`() async throws {
        let fill = try subscriber()
        try await withAppStore { asking in
            await asking.appStore.put(.production, fill)
            let backfill = CustomerHistoryReader(client: try asking.connection(retryPolicy: RetryPolicy(attempts: 1)))
            // The second request is the one for the app transaction.
            await asking.appStore.answerFirst(
                with: .init(status: 200, body: #"{"hasMore":false,"signedTransactions":[]}"#), .error(503))
            let failure = await #expect(throws: AppStoreFailure.self) { try await backfill.history(of: id) }
            #expect(failure?.isRetryable == true)
            let unknown = await #expect(throws: AppStoreFailure.self) {
                try await backfill.history(of: .transaction("9999"))
            }
            #expect(unknown?.remedy == .later)
        }
    }

    @Test func `a backfill stores nothing, and is repeated later, if too many unknown signers delay its verification`()
        async throws
    {
        let fill = try subscriber()
        try await withAppStore { asking in
            await asking.appStore.put(.production, fill)
            let anchors = try Calculator.authority.anchors
            let busy = AppStoreVerifier(
                app: AppIdentity(bundleID: "com.example.calculator"),
                cache: ChainCache(
                    trust: try TrustConfiguration(anchors: [.production: anchors]),
                    budget: ChainCache.Budget(burst: 0, perSecond: 0)))
            let connection = AppStoreClient(
                AppStoreClientTestBed.credentials, hosts: asking.hosts, verifier: busy, transport: asking.transport,
                time: asking.time.time, logger: Calculator.logger)
            let failure = await #expect(throws: AppStoreFailure.self) {
                try await CustomerHistoryReader(client: connection).history(of: id)
            }
            guard case .untrusted(let rejection)? = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(rejection.code == .tooManyUnknownSigners)
            #expect(failure?.isRetryable == true)
            try await expectNothingStored(by: connection, until: try asking.connection)
        }
    }

    /// Runs the backfill of a new customer with a client that fails, and later with a client that works. Expects that
    /// only the second backfill stores anything.
    private func expectNothingStored(by failing: AppStoreClient, until working: AppStoreClient) async throws {
        try await withFolder { folder in
            let clock = TestClock()
            let service = try await TenureService(try Calculator.configuration(folder))
            let (customer, _) = try await service.store.update(
                [Identity(.appTransactionID, ServerSigned.customer)], in: Realm(.production, isTest: true),
                at: Calculator.now
            ) { known -> (CustomerUpdate, Void) in
                var update = CustomerUpdate(of: known)
                update.fetchesHistory = true
                return (update, ())
            }
            for (client, purchases) in [(failing, [String]()), (working, ["1001", "2001"])] {
                let backfill = HistoryBackfill(
                    client: client, store: service.store, policies: service.policies, now: { clock.now })
                #expect(await backfill.runner(idle: 1, logger: Calculator.logger).performNextJob())
                let rows = try #require(try await service.store.read { try $0.rows(of: customer.id) })
                #expect(rows.artifacts.isEmpty == purchases.isEmpty)
                #expect(rows.purchasesAreComplete == !purchases.isEmpty)
                #expect(rows.customer.evidence.purchases.map(\.transactionID) == purchases)
                clock.advance(by: 86_400)
            }
            try await service.store.close()
        }
    }

    @Test func `a backfill stores nothing if the App Store can't deliver a part of it, and is repeated later`()
        async throws
    {
        let fill = try subscriber()
        let transaction = try ServerSigned.transaction("1001")
        try await withAppStore { asking in
            await asking.appStore.put(.production, fill)
            // The second request is the request for the app transaction.
            await asking.appStore.answerFirst(
                with: .init(status: 200, body: #"{"hasMore":false,"signedTransactions":["\#(transaction)"]}"#),
                .error(503))
            try await expectNothingStored(
                by: try asking.connection(retryPolicy: RetryPolicy(attempts: 1)), until: try asking.connection)
        }
    }

    @Test func `a backfill uses the app transaction ID if the customer has one, otherwise a transaction ID`() {
        let account = Identity(.appTransactionID, ServerSigned.customer)
        let others = [
            Identity(.device, "d"), Identity(.originalTransactionID, "2"), Identity(.originalTransactionID, "1"),
        ]
        #expect(AppStoreCustomerID(others + [account]) == .appTransaction(ServerSigned.customer))
        #expect(AppStoreCustomerID(others) == .transaction("1"))
        #expect(AppStoreCustomerID(others.prefix(1)) == nil)
    }

    @Test func `all requests for a customer's history share one timeout`() async throws {
        let fill = try subscriber()
        try await withAppStore { asking in
            await asking.appStore.put(.production, fill)
            var backfill = CustomerHistoryReader(client: try asking.connection)
            backfill.timeout = 10
            await asking.appStore.answerFirst(with: .error(429, nil, retryAfter: "11"))
            await #expect(throws: AppStoreFailure.self) { try await backfill.history(of: id) }
            #expect(asking.time.uptime == 0)
        }
    }
}
