import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `responses of the App Store Server API` {
    private let id = AppStoreCustomerID.transaction("1001")

    @Test func `an App Store history is read page by page, with the revision of the previous page`() async throws {
        let all = try ServerSigned.transactions(45)
        try await withAppStore { asking in
            await asking.appStore.put(.production) { $0.histories = [(["1001"], all)] }
            let list = try await asking.connection.transactionHistory(of: id, in: .production)
            #expect(list.isComplete)
            #expect(list.revision == "rev-45")
            #expect(list.transactions.map(\.purchase.transactionID) == (1...45).map { "\(1000 + $0)" })
            #expect(list.transactions.map { String(decoding: $0.artifact.storedArtifact.bytes, as: UTF8.self) } == all)
            #expect(
                await asking.appStore.asked.map(\.query) == [
                    "sort=ASCENDING", "sort=ASCENDING&revision=rev-20", "sort=ASCENDING&revision=rev-40",
                ])
        }
    }

    @Test func `an App Store history is incomplete if the revision of a page is repeated`() async throws {
        let page = try ServerSigned.transactions(1)[0]
        @Sendable func answer(_ revision: String) -> ImitatedAppStore.Scripted {
            .init(
                status: 200,
                body: #"{"revision":"\#(revision)","hasMore":true,"signedTransactions":["\#(page)"]}"#)
        }
        for (revisions, count) in [(["a", "a"], 2), (["a", "b", "a"], 3), ([""], 1)] {
            try await withAppStore { asking in
                for revision in revisions { await asking.appStore.answerFirst(with: answer(revision)) }
                let list = try await asking.connection.transactionHistory(of: id, in: .production)
                #expect(list.ending == .circle)
                #expect(!list.isComplete)
                #expect(list.rejected.isEmpty)
                #expect(await asking.appStore.asked.count == count)
            }
        }
    }

    @Test func `reading an App Store history stops after a maximum number of pages`() {
        var trail = PageTrail(maximumPages: 3)
        #expect(trail.ending(hasMore: true, next: "a") == nil)
        #expect(trail.ending(hasMore: true, next: "b") == nil)
        #expect(trail.ending(hasMore: true, next: "c") == .tooLong)
        var repeating = PageTrail(maximumPages: 3)
        #expect(repeating.ending(hasMore: true, next: "a") == nil)
        #expect(repeating.ending(hasMore: true, next: "a") == .circle)
        #expect(PageTrail(maximumPages: 3).ends(after: nil, hasMore: false) == .lastPage)
    }

    @Test func `forged and malformed transactions in an App Store history are rejected`() async throws {
        let sound = try ServerSigned.transactions(2)
        let forged = try ServerSigned.forged()
        try await withAppStore { asking in
            await asking.appStore.put(.production) {
                $0.histories = [(["1001"], [sound[0], forged, sound[1], "", "x"])]
            }
            let list = try await asking.connection.transactionHistory(of: id, in: .production)
            #expect(list.transactions.map(\.purchase.transactionID) == ["1001", "1002"])
            #expect(list.rejected.map(\.path) == [.transaction(1), .transaction(3), .transaction(4)])
            #expect(list.rejected.map(\.code) == ["badSignature", "malformed", "malformed"])
            #expect(list.ending == .lastPage)
            #expect(!list.isComplete)
        }
    }

    @Test func `a rejected transaction on a later page of an App Store history has its place in the whole history`()
        async throws
    {
        let sound = try ServerSigned.transactions(21)
        let all = Array(sound[..<20]) + [try ServerSigned.forged(), sound[20]]
        try await withAppStore { asking in
            await asking.appStore.put(.production) { $0.histories = [(["1001"], all)] }
            let list = try await asking.connection.transactionHistory(of: id, in: .production)
            #expect(list.transactions.count == 21)
            #expect(list.rejected.map(\.path) == [.transaction(20)])
            #expect(list.ending == .lastPage && !list.isComplete)
        }
    }

    @Test func `a response of the App Store with a list that is too long is unreadable`() async throws {
        func answer(_ count: Int) -> ImitatedAppStore.Scripted {
            let list = Array(repeating: #""x""#, count: count).joined(separator: ",")
            return .init(status: 200, body: #"{"revision":"a","hasMore":false,"signedTransactions":[\#(list)]}"#)
        }
        let (longest, tooLong) = (answer(1000), answer(1001))
        try await withAppStore { asking in
            await asking.appStore.answerFirst(with: longest, tooLong)
            let list = try await asking.connection.transactionHistory(of: id, in: .production)
            #expect(list.rejected.count == 1000 && !list.isComplete)
            let failure = await #expect(throws: AppStoreFailure.self) {
                _ = try await asking.connection.transactionHistory(of: id, in: .production)
            }
            #expect(failure?.description.contains("`signedTransactions` has 1001 elements") == true)
        }
    }

    @Test func `a backfill stores no renewal info of another account's subscription`() async throws {
        let other = try ServerSigned.transaction(
            "3001", .production,
            [
                "originalTransactionId": .string("3000"), "appTransactionId": .string("704000000000000009"),
                "productId": .string(Calculator.yearly), "type": .string("Auto-Renewable Subscription"),
            ])
        let renewal = try ServerSigned.renewal(["originalTransactionId": .string("3000"), "appTransactionId": .null])
        let transactions = [try ServerSigned.transaction("1001"), try ServerSigned.period()]
        try await withAppStore { asking in
            await asking.appStore.put(.production) {
                $0.histories = [(["1001"], transactions)]
                $0.statuses = ["1001": ServerSigned.statuses(other, renewal)]
            }
            let history = try await CustomerHistoryReader(client: asking.connection).history(of: id)
            #expect(history.rejected.map(\.code) == ["unrelated", "noTransaction"])
            #expect(history.proven.renewals.isEmpty && !history.isComplete)
            #expect(history.proven.purchases.map(\.transactionID) == ["1001", "2001"])
            #expect(!history.proven.identities.contains { $0.value == "3000" || $0.value == "3001" })
        }
    }

    @Test func `transactions of another environment or app in an App Store history are rejected`() async throws {
        let sandbox = try ServerSigned.transaction("1001", .sandbox)
        let other = try Calculator.minter(bundleID: "com.example.other").text(.transaction)
        try await withAppStore { asking in
            await asking.appStore.put(.production) { $0.histories = [(["1001"], [sandbox, other])] }
            let list = try await asking.connection.transactionHistory(of: id, in: .production)
            #expect(list.transactions.isEmpty)
            #expect(list.rejected.map(\.code) == ["wrongEnvironment", "wrongApp"])
        }
    }

    @Test func `refunds, statuses and app transactions of another environment are ignored`() async throws {
        let refund = try ServerSigned.transaction("1001", .sandbox)
        let status = ServerSigned.statuses(try ServerSigned.period(.sandbox), try ServerSigned.renewal())
        let appTransaction = try ServerSigned.appTransaction(.sandbox)
        try await withAppStore { asking in
            await asking.appStore.put(.production) {
                $0.refunds["1001"] = [refund]
                $0.statuses = ["1": status]
                $0.appTransactions = [ServerSigned.customer: appTransaction]
            }
            let connection = try asking.connection
            let refunds = try await connection.refundHistory(of: id, in: .production)
            #expect(refunds.transactions.isEmpty && refunds.rejected.map(\.code) == ["wrongEnvironment"])
            let statuses = try await connection.subscriptionStatuses(of: .transaction("1"), in: .production)
            #expect(statuses.rejected.first?.code == "wrongEnvironment")
            let failure = await #expect(throws: AppStoreFailure.self) {
                try await connection.appTransaction(of: .appTransaction(ServerSigned.customer), in: .production)
            }
            guard case .untrusted(let rejection)? = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(rejection.code == .wrongEnvironment)
        }
    }

    @Test func `a refund history of the App Store Server API is read page by page`() async throws {
        let all = try ServerSigned.transactions(21)
        try await withAppStore { asking in
            await asking.appStore.put(.production) { $0.refunds["1001"] = all }
            let list = try await asking.connection.refundHistory(of: id, in: .production)
            #expect(list.isComplete)
            #expect(list.transactions.count == 21)
            #expect(await asking.appStore.asked.map(\.query) == [nil, "revision=rev-20"])
            #expect(await asking.appStore.asked.allSatisfy { $0.path == "/inApps/v2/refund/lookup/1001" })
        }
    }

    @Test func `an app transaction from the App Store Server API isn't bound to a device`() async throws {
        let appTransaction = try ServerSigned.appTransaction()
        try await withAppStore { asking in
            await asking.appStore.put(.production) {
                $0.appTransactions = [ServerSigned.customer: appTransaction, "7": appTransaction]
            }
            let connection = try asking.connection
            let artifact = try await connection.appTransaction(
                of: .appTransaction(ServerSigned.customer), in: .production)
            #expect(artifact.payload.isSignedForServer)
            #expect(artifact.payload.originalApplicationVersion == "37")
            #expect(!artifact.isOnDevice)
            #expect(artifact.realm.isTest)
            await #expect(throws: AppStoreFailure.self) {
                try await connection.appTransaction(of: .appTransaction("7"), in: .production)
            }
        }
    }

    @Test func `subscription statuses from the App Store pair each transaction with its renewal info`() async throws {
        let period = try ServerSigned.period()
        let sound = ServerSigned.statuses(period, try ServerSigned.renewal())
        let other = ServerSigned.statuses(period, try ServerSigned.renewal(["originalTransactionId": .string("9")]))
        let forged = ServerSigned.statuses(try ServerSigned.forged(), try ServerSigned.renewal())
        try await withAppStore { asking in
            await asking.appStore.put(.production) { $0.statuses = ["1": sound, "2": other, "3": forged, "4": "[]"] }
            let connection = try asking.connection
            let statuses = try await connection.subscriptionStatuses(of: .transaction("1"), in: .production)
            #expect(statuses.rejected.isEmpty)
            #expect(statuses.subscriptions.map(\.status) == [.known(.active)])
            #expect(statuses.subscriptions[0].transaction?.purchase.transactionID == "2001")
            #expect(statuses.subscriptions[0].renewal?.renewal.originalTransactionID == "2000")
            let mixed = try await connection.subscriptionStatuses(of: .transaction("2"), in: .production)
            #expect(mixed.rejected.map(\.code) == ["noTransaction"])
            #expect(mixed.subscriptions[0].renewal == nil)
            let corrupted = try await connection.subscriptionStatuses(of: .transaction("3"), in: .production)
            #expect(corrupted.rejected.map(\.path) == [.transaction(0), .renewalInfo(0)])
            #expect(try await connection.subscriptionStatuses(of: .transaction("4"), in: .production).rejected.isEmpty)
        }
    }

    @Test func `the status of a test notification is requested until the App Store has sent the notification`()
        async throws
    {
        let payload = try ServerSigned.notification("3a4b0d0e-0000-4000-8000-000000000001", signed: Calculator.now)
        try await withAppStore { asking in
            await asking.appStore.put(.production) { $0.tests = ["test-1": payload] }
            // The first response has the token. The second response says that the notification wasn't sent yet.
            await asking.appStore.answerFirst(
                with: .init(status: 200, body: #"{"testNotificationToken":"test-1"}"#), .error(404, 4_040_008))
            let attempts = try await NotificationTest(asking.connection).run(in: .production)
            #expect(attempts.map(\.result) == ["SUCCESS"])
            #expect(asking.time.sleeps.filter { $0 == 2 }.count == 2, "\(asking.time.sleeps)")
        }
    }

    @Test func `the status of a test notification contains the notification and the attempts to send it`() async throws
    {
        let payload = try ServerSigned.notification("3a4b0d0e-0000-4000-8000-000000000001", signed: Calculator.now)
        try await withAppStore { asking in
            await asking.appStore.put(.production) { $0.tests = ["test-1": payload, "test-2": "forged"] }
            let connection = try asking.connection
            let token = try await connection.requestTestNotification(in: .production)
            let (notification, attempts) = try await connection.testNotification(token, in: .production)
            #expect(
                notification.notification.payload.notificationUUID == "3a4b0d0e-0000-4000-8000-000000000001")
            #expect(attempts.map(\.result) == ["SUCCESS"])
            #expect(attempts.map(\.date) == [Calculator.now])
            await #expect(throws: AppStoreFailure.self) {
                _ = try await connection.testNotification("test-2", in: .production)
            }
            let unknown = await #expect(throws: AppStoreFailure.self) {
                _ = try await connection.testNotification("test-3", in: .production)
            }
            #expect(unknown?.isRetryable == false)
        }
    }

    @Test func `a test notification that is signed for another environment is rejected`() async throws {
        let sandboxed = try Calculator.minter(.sandbox).text(.notification)
        try await withAppStore { asking in
            await asking.appStore.put(.production) { $0.tests = ["test-1": sandboxed] }
            let connection = try asking.connection
            let failure = await #expect(throws: AppStoreFailure.self) {
                _ = try await connection.testNotification("test-1", in: .production)
            }
            guard case .untrusted(let rejection)? = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(rejection.code == .wrongEnvironment)
        }
    }
}

extension PageTrail {
    /// Returns how a history ends after its first page.
    fileprivate func ends(after next: String?, hasMore: Bool) -> Ending? {
        var copy = self
        return copy.ending(hasMore: hasMore, next: next)
    }
}
