import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

@testable import TenureServer

@Suite struct `fetching missed notifications` {
    /// Collects the delivered payloads.
    private actor Ingest {
        private(set) var payloads: [String] = []
        private(set) var reached: [Date] = []
        private var room: Int

        init(room: Int = .max) {
            self.room = room
        }

        /// The receiver takes no more notifications, like a database that fails.
        struct Full: Error {}

        func take(_ jws: [UInt8]) throws {
            guard room > 0 else { throw Full() }
            room -= 1
            payloads.append(String(decoding: jws, as: UTF8.self))
        }

        func reach(_ instant: Date) { reached.append(instant) }
    }

    /// Returns notifications that were sent so many hours ago. They aren't signed, because these tests verify no
    /// signatures.
    private func sent(_ hours: [Double]) -> [(sent: Int64, payload: String)] {
        hours.enumerated().map { number, hours in
            let instant = Int64((Calculator.now.timeIntervalSince1970 - hours * 3600) * 1000)
            let payload = #"{"notificationType":"TEST","notificationUUID":"\#(number)","signedDate":\#(instant)}"#
            let parts = [#"{"alg":"none"}"#, payload, "x"].map { Base64.urlSafe.text(Array($0.utf8)) }
            return (instant, parts.joined(separator: "."))
        }
    }

    private func run(
        _ catchUp: NotificationHistoryReader, since hours: Double, _ ingest: Ingest
    ) async throws -> NotificationHistoryReader.Summary {
        try await catchUp.run(
            since: Calculator.now.addingTimeInterval(-hours * 3600), deliver: { try await ingest.take($0) },
            reached: { await ingest.reach($0) })
    }

    @Test func `missed notifications of several pages and days are fetched once each, oldest first`() async throws {
        // The notifications are from three days, 30 of them from the last day.
        let all = sent([70, 69, 30] + (0..<30).map { 23 - Double($0) / 2 })
        try await withAppStore { asking in
            await asking.appStore.put(.production) { $0.notifications = all }
            let ingest = Ingest()
            let catchUp = NotificationHistoryReader(client: try asking.connection, environment: .production)
            let summary = try await run(catchUp, since: 72, ingest)
            #expect(await ingest.payloads == all.map(\.payload))
            #expect(summary.delivered == 33)
            #expect(
                await ingest.reached == [48.0, 24, 0].map { Calculator.now.addingTimeInterval(-$0 * 3600) })
            #expect(await asking.appStore.asked.count == 4)
        }
    }

    @Test func `fetching missed notifications leaves out notifications that were sent before the given instant`()
        async throws
    {
        let all = sent([30, 20])
        try await withAppStore { asking in
            await asking.appStore.put(.production) { $0.notifications = all }
            let ingest = Ingest()
            let catchUp = NotificationHistoryReader(client: try asking.connection, environment: .production)
            let summary = try await run(catchUp, since: 24, ingest)
            #expect(await ingest.payloads == [all[1].payload])
            #expect(summary.from == Calculator.now.addingTimeInterval(-86_400) && summary.to == Calculator.now)
        }
    }

    @Test func `fetching missed notifications doesn't ask for a period that begins and ends in the same millisecond`()
        async throws
    {
        let all = sent([20])
        try await withAppStore { asking in
            await asking.appStore.put(.production) { $0.notifications = all }
            let ingest = Ingest()
            let catchUp = NotificationHistoryReader(client: try asking.connection, environment: .production)
            // The first window takes a day, so 0.4 milliseconds are left.
            _ = try await run(catchUp, since: 24 + 0.0004 / 3600, ingest)
            #expect(await ingest.payloads == all.map(\.payload))
            #expect(await asking.appStore.asked.count == 1)
        }
    }

    @Test func `fetching missed notifications begins with the oldest notifications that the App Store keeps`()
        async throws
    {
        try await withAppStore { asking in
            let ingest = Ingest()
            var catchUp = NotificationHistoryReader(client: try asking.connection, environment: .production)
            catchUp.window = 200 * 86_400
            let summary = try await run(catchUp, since: 24 * 365, ingest)
            #expect(summary.from == Calculator.now.addingTimeInterval(-180 * 86_400 + 3600))
            catchUp = NotificationHistoryReader(
                client: try asking.connection, environment: .sandbox, window: 200 * 86_400)
            let sandbox = try await run(catchUp, since: 24 * 365, ingest)
            #expect(sandbox.from == Calculator.now.addingTimeInterval(-30 * 86_400 + 3600))
            #expect(await asking.appStore.asked.map(\.environment) == ["Production", "Sandbox"])
        }
    }

    @Test func `fetching missed notifications halves a time window that has too many notifications`() async throws {
        let all = sent((0..<60).map { 23.9 - Double($0) / 3 })
        try await withAppStore { asking in
            await asking.appStore.put(.production) { $0.notifications = all }
            let ingest = Ingest()
            var catchUp = NotificationHistoryReader(client: try asking.connection, environment: .production)
            catchUp.maximumPages = 2
            let summary = try await run(catchUp, since: 24, ingest)
            #expect(summary.delivered == 60)
            #expect(await ingest.payloads == all.map(\.payload))
            #expect(await ingest.reached.count > 1)
        }
    }

    @Test func `after a busy time, fetching missed notifications returns to long time windows`() async throws {
        let all = sent((0..<30).map { 71.9 - Double($0) / 100 })
        try await withAppStore { asking in
            await asking.appStore.put(.production) { $0.notifications = all }
            let ingest = Ingest()
            var catchUp = NotificationHistoryReader(client: try asking.connection, environment: .production)
            catchUp.maximumPages = 1
            let summary = try await run(catchUp, since: 72, ingest)
            #expect(summary.delivered == 30)
            #expect(await ingest.payloads == all.map(\.payload))
            // With short windows to the end, the three days would take hundreds of requests.
            #expect(await asking.appStore.asked.count < 30)
        }
    }

    @Test func `fetching missed notifications ends even with a time window of zero length`() async throws {
        try await withAppStore { asking in
            var catchUp = NotificationHistoryReader(client: try asking.connection, environment: .production)
            catchUp.window = 0
            let ingest = Ingest()
            let summary = try await run(catchUp, since: 3.0 / 3600, ingest)
            #expect(summary.delivered == 0)
            #expect(await ingest.reached.last == Calculator.now)
        }
    }

    @Test func `fetching missed notifications delivers all notifications of one second, even if they fill many pages`()
        async throws
    {
        let all = sent(Array(repeating: 1, count: 60))
        try await withAppStore { asking in
            await asking.appStore.put(.production) { $0.notifications = all }
            var catchUp = NotificationHistoryReader(client: try asking.connection, environment: .production)
            catchUp.maximumPages = 2
            let ingest = Ingest()
            let summary = try await run(catchUp, since: 2, ingest)
            #expect(summary.delivered == 60)
            #expect(await ingest.payloads.sorted() == all.map(\.payload).sorted())
        }
    }

    @Test func `fetching missed notifications fails if the notifications of one second fill too many pages`()
        async throws
    {
        let all = sent(Array(repeating: 1, count: 60))
        try await withAppStore { asking in
            await asking.appStore.put(.production) { $0.notifications = all }
            var catchUp = NotificationHistoryReader(client: try asking.connection, environment: .production)
            catchUp.maximumPages = 2
            catchUp.maximumPagesOfASecond = 2
            let ingest = Ingest()
            let failure = await #expect(throws: AppStoreFailure.self) { try await run(catchUp, since: 2, ingest) }
            #expect(failure?.isRetryable == false)
            #expect(await ingest.payloads.isEmpty)
        }
    }

    @Test func `fetching missed notifications stops if the database fails, and continues later where it stopped`()
        async throws
    {
        let all = sent([50, 40, 30, 20])
        try await withAppStore { asking in
            await asking.appStore.put(.production) { $0.notifications = all }
            let ingest = Ingest(room: 3)
            let catchUp = NotificationHistoryReader(client: try asking.connection, environment: .production)
            await #expect(throws: Ingest.Full.self) { try await run(catchUp, since: 72, ingest) }
            let position = try #require(await ingest.reached.last)
            let rest = Ingest()
            let hours = Calculator.now.timeIntervalSince(position) / 3600
            _ = try await run(catchUp, since: hours, rest)
            #expect(await ingest.payloads + rest.payloads == all.map(\.payload))
        }
    }

    @Test func `missed notifications are forwarded unverified, because the receiver verifies them`() async throws {
        try await withAppStore { asking in
            await asking.appStore.put(.production) { $0.notifications = [(1_795_175_000_000, "forged")] }
            let ingest = Ingest()
            let catchUp = NotificationHistoryReader(client: try asking.connection, environment: .production)
            _ = try await run(catchUp, since: 24, ingest)
            #expect(await ingest.payloads == ["forged"])
        }
    }

    @Test func `fetching missed notifications fails if the App Store repeats a page`() async throws {
        let page = #"{"paginationToken":"a","hasMore":true,"notificationHistory":[]}"#
        try await withAppStore { asking in
            await asking.appStore.answerFirst(with: .init(status: 200, body: page), .init(status: 200, body: page))
            let ingest = Ingest()
            let catchUp = NotificationHistoryReader(client: try asking.connection, environment: .production)
            await #expect(throws: AppStoreFailure.self) { try await run(catchUp, since: 24, ingest) }
            #expect(await asking.appStore.asked.count == 2)
            #expect(await ingest.reached.isEmpty)
        }
    }
}
