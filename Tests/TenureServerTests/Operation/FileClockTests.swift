import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import TenureAPI
import TenureAppStore
import TenureCore
import TenureMint
import Testing

@testable import TenureServer

@Suite struct `the service's clock in a file` {
    private func clock(in folder: String, at now: Date = Calculator.now) throws -> FileClock {
        try FileClock.set(folder + "/clock", to: now)
        return try FileClock(path: folder + "/clock")
    }

    @Test func `a service with a clock in a file follows the file immediately`() async throws {
        try await withFolder { folder in
            let clock = try clock(in: folder)
            try await withService(in: folder, { $0.clock = clock }) { client in
                let request = SyncRequest(
                    appTransaction: try Calculator.minter().text(.appTransaction),
                    deviceVerificationID: Calculator.device.uuidString)
                let token = try #require(try await client.sync(request).accessToken)
                _ = try await client.customer(token.value)
                // The token has expired as soon as the clock file has a later instant.
                try FileClock.set(clock.path, to: token.expiresAt.addingTimeInterval(1))
                #expect(try await client.get("/v1/customer", token: token.value).status == .unauthorized)
                try FileClock.set(clock.path, to: Calculator.now)
                _ = try await client.customer(token.value)
            }
        }
    }

    @Test func `a clock in a file keeps its time while the file can't be read`() async throws {
        try await withFolder { folder in
            let clock = try clock(in: folder)
            try Data("tomorrow".utf8).write(to: URL(fileURLWithPath: clock.path))
            #expect(clock.now == Calculator.now)
            try FileManager.default.removeItem(atPath: clock.path)
            #expect(clock.now == Calculator.now)
        }
    }

    @Test func `a clock in a file is refused if the file has no instant`() async throws {
        try await withFolder { folder in
            for text in ["", "soon", String(repeating: "2026-11-20T12:00:00Z", count: 9)] {
                try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/clock"))
                #expect(throws: ServiceError.self) { try FileClock(path: folder + "/clock") }
            }
            #expect(throws: ServiceError.self) { try FileClock(path: folder + "/none") }
        }
    }

    @Test func `a clock in a file is accepted only on loopback, without a proxy and with a test authority`()
        async throws
    {
        try await withFolder { folder in
            let clock = try clock(in: folder)
            func refuses(_ change: (inout ServiceConfiguration) -> Void) throws -> Bool {
                var configuration = try Calculator.configuration(folder)
                configuration.clock = clock
                configuration.adminKey = AdminClient.adminKey
                change(&configuration)
                return configuration.mistakes.contains { if case .clock = $0 { true } else { false } }
            }
            #expect(try !refuses { _ in })
            #expect(
                try refuses {
                    $0.host = "0.0.0.0"
                    $0.allowsTestAnchorsBeyondLoopback = true
                })
            #expect(try refuses { $0.proxies = [AddressBlock("127.0.0.1")].compactMap { $0 } })
            #expect(try refuses { $0.anchors[.sandbox] = .apple })
            #expect(try refuses { $0.anchors = [.production: .apple, .sandbox: .apple] })
        }
    }

    @Test func `metrics report the progress of App Store jobs under a clock in a file`() async throws {
        try await LocalStoreTestBed.run { local in
            try await withFolder { folder in
                try await local.service(in: folder, key: local.key) { client, jobs in
                    func hasMetric(_ line: String) async throws -> Bool {
                        String(buffer: try await client.get("/metrics").body).split(separator: "\n").contains {
                            $0 == line
                        }
                    }
                    #expect(try await hasMetric("tenure_app_store_histories_waiting 0"))
                    _ = try await client.sync(local.sync)
                    #expect(try await hasMetric("tenure_app_store_histories_waiting 1"))
                    #expect(await jobs?.histories.performNextJob() == true)
                    #expect(try await hasMetric("tenure_app_store_histories_waiting 0"))
                    await jobs?.notifications.fetch(in: .production)
                    let seconds = Int(local.clock.now.timeIntervalSince1970)
                    #expect(
                        try await hasMetric(
                            "tenure_app_store_notifications_reached_seconds{environment=\"Production\"} \(seconds)"))
                }
            }
        }
    }
}
