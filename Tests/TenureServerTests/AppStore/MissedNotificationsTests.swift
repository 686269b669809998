import Foundation
import HummingbirdTesting
import Logging
import NIOCore
import TenureAppStore
import TenureCore
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `missed notifications that the service refuses` {
    /// A notification in the App Store's history.
    enum Missed: Sendable {
        case accepted
        /// It names another Apple ID than the policy, so the operator may have to correct the policy.
        case ofWrongSetting
        /// No setting makes it acceptable.
        case forged

        func payload(signed date: Date) throws -> String {
            let app = self == .ofWrongSetting ? MintedApp(appAppleID: 1) : MintedApp()
            let minter = JWSMinter(authority: Calculator.authority, app: app, signedAt: date)
            let bytes =
                self == .forged
                ? try minter.mint(.notification, with: .foreignSignature) : try minter.mint(.notification)
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    @Test func `the first start is stored, so that the service can fetch what it misses later`() async throws {
        try await LocalStoreTestBed.run { local in
            try await withFolder { folder in
                try await local.service(in: folder, key: local.key) { _, jobs in
                    let notifications = try #require(jobs).notifications
                    #expect(await notifications.fetch(in: .production) == nil)
                    // Other releases read these names.
                    let reached = try await notifications.store.read {
                        try [
                            $0.storedValue(named: "notifications Production"),
                            $0.storedValue(named: "notifications Sandbox"),
                        ]
                    }
                    #expect(reached.map { $0.flatMap { Double($0) } } == [Calculator.now.timeIntervalSince1970, nil])
                }
            }
        }
    }

    // The metric tells the operator that notifications are missing.
    @Test(arguments: [
        (history: [Missed.ofWrongSetting, .forged], advances: false),
        ([.forged, .ofWrongSetting], false), ([.ofWrongSetting, .accepted], false),
        ([.accepted, .ofWrongSetting, .forged], false), ([.forged, .accepted], true), ([.accepted, .forged], true),
    ])
    func `the metric of fetched notifications advances if one is forged, but not if a wrong setting refuses one`(
        history: [Missed], advances: Bool
    ) async throws {
        let log = LogLines()
        let payloads = try history.enumerated().map { number, missed in
            try missed.payload(signed: Calculator.now.addingTimeInterval(Double(number) * 60 - 1800))
        }
        let items = payloads.map { #"{"signedPayload":"\#($0)","sendAttempts":[]}"# }
        let page = #"{"hasMore":false,"notificationHistory":[\#(items.joined(separator: ","))]}"#
        let before = Calculator.now.timeIntervalSince1970 - 3600
        try await LocalStoreTestBed.run { local in
            try await withFolder { folder in
                try await local.service(
                    in: folder, key: local.key, logger: log.logger(.warning),
                    answering: { _ in .init(status: 200, body: Array(page.utf8)) }
                ) { client, jobs in
                    let notifications = try #require(jobs).notifications
                    let progressName = MissedNotifications.progressName(for: .production)
                    try await notifications.store.write(locking: [.progress(progressName)]) {
                        try $0.setStoredValue(named: progressName, to: String(before))
                    }
                    #expect(await notifications.fetch(in: .production) == nil)
                    let metrics = String(buffer: try await client.get("/metrics").body)
                    let reached = metrics.split(separator: "\n").first {
                        $0.hasPrefix("tenure_app_store_notifications_reached_seconds{environment=\"Production\"} ")
                    }
                    let seconds = try #require(reached?.split(separator: " ").last.flatMap { Double($0) }, "\(metrics)")
                    #expect(seconds == (advances ? Calculator.now.timeIntervalSince1970 : before))
                    // Each refusal is logged, and a wrong setting with what to correct.
                    #expect(log.texts.count == history.count { $0 != .accepted }, "\(log.texts)")
                    #expect(log.texts.contains { $0.contains("correct `appleID` in the policy") } == !advances)
                    let received = metrics.split(separator: "\n").filter {
                        $0.hasPrefix("tenure_notifications_total{") && !$0.hasSuffix(" 0")
                    }
                    #expect(received.count == history.count { $0 == .accepted }, "\(metrics)")
                }
            }
        }
    }

    @Test func `after a failure in production, the notifications of the sandbox are still fetched`() async throws {
        try await withFolder { folder in
            let service = try await TenureService(try Calculator.configuration(folder))
            let store = service.store
            let before = Calculator.now.timeIntervalSince1970 - 3600
            let names = ["notifications Production", "notifications Sandbox"]
            for name in names {
                try await store.write(locking: [.progress(name)]) {
                    try $0.setStoredValue(named: name, to: String(before))
                }
            }
            // The first pause ends the service.
            var time = TestTime().time
            time.sleep = { _ in throw CancellationError() }
            let transport = AppStoreTransport { request throws(AppStoreFailure) in
                request.url.contains("sandbox")
                    ? .init(status: 200, body: Array(#"{"hasMore":false,"notificationHistory":[]}"#.utf8))
                    : .init(status: 401, body: [])
            }
            let verifier = try AppStoreClientTestBed.verifier()
            let missed = MissedNotifications(
                client: AppStoreClient(
                    AppStoreClientTestBed.credentials, verifier: verifier, transport: transport, time: time,
                    logger: Calculator.logger),
                store: store,
                notifications: NotificationService(
                    verifier: verifier, store: store, policies: service.policies, entitlementComparer: nil,
                    metrics: ServiceMetrics()),
                logger: Calculator.logger, now: { Calculator.now })
            try await missed.run()
            var reached: [Double?] = []
            for name in names {
                reached.append(try await store.read { try $0.storedValue(named: name) }.flatMap { Double($0) })
            }
            #expect(reached == [before, Calculator.now.timeIntervalSince1970])
            try await store.close()
        }
    }
}
