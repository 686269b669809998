import Crypto
import Foundation
import TenureAppStore
import TenureCore
import TenureMint
import Testing

@testable import TenureServer

@Suite struct `requests to the App Store Server API` {
    private let id = AppStoreCustomerID.transaction("1001")

    private func fill(
        _ appStore: ImitatedAppStore, _ count: Int = 1, _ environment: AppStoreEnvironment = .production
    ) async throws {
        let transactions = try ServerSigned.transactions(count, environment)
        await appStore.put(environment) { contents in
            contents.histories = [(["1001", ServerSigned.customer], transactions)]
        }
    }

    @Test func `the App Store client needs only settings and a key file`() async throws {
        try await withAppStore { asking in
            try await fill(asking.appStore)
            try await withFolder { folder in
                let path = folder + "/AuthKey.p8"
                try writeSecret(AppStoreClientTestBed.key.pemRepresentation, to: path)
                var settings = AppStoreSettings(
                    issuerID: AppStoreClientTestBed.issuerID, keyID: AppStoreClientTestBed.keyID, privateKeyFile: path)
                settings.hosts = asking.hosts
                let connection = try AppStoreClient(
                    settings, verifier: AppStoreClientTestBed.verifier(), transport: asking.transport,
                    time: asking.time.time, logger: Calculator.logger)
                #expect(try await connection.transactionHistory(of: id, in: .production).isComplete)
            }
        }
    }

    @Test func `requests to the App Store Server API wait until the instant in Retry-After`() async throws {
        try await withAppStore { asking in
            try await fill(asking.appStore)
            let instant = Calculator.now.addingTimeInterval(42)
            await asking.appStore.answerFirst(
                with: .error(429, 4_290_000, retryAfter: "\(Int64(instant.timeIntervalSince1970 * 1000))"))
            let list = try await asking.connection.transactionHistory(of: id, in: .production)
            #expect(list.isComplete)
            #expect(asking.time.uptime == 42)
            #expect(await asking.appStore.asked.count == 2)
        }
    }

    @Test func `App Store requests wait if Retry-After delays another request to the same endpoint`() async throws {
        try await withAppStore { asking in
            try await fill(asking.appStore)
            await asking.appStore.answerFirst(with: .error(429, 4_290_000, retryAfter: "42"))
            let connection = try asking.connection(retryPolicy: RetryPolicy(attempts: 1))
            await #expect(throws: AppStoreFailure.self) {
                try await connection.transactionHistory(of: id, in: .production)
            }
            // Another endpoint isn't delayed.
            _ = try await connection.refundHistory(of: id, in: .production)
            #expect(asking.time.uptime == 0)
            _ = try await connection.transactionHistory(of: id, in: .production)
            #expect(asking.time.uptime == 42)
        }
    }

    @Test func `if Retry-After is later than the deadline, an App Store request fails at once with that instant`()
        async throws
    {
        try await withAppStore { asking in
            try await fill(asking.appStore)
            await asking.appStore.answerFirst(with: .error(429, 4_290_000, retryAfter: "3000"))
            let connection = try asking.connection
            let failure = await #expect(throws: AppStoreFailure.self) {
                try await connection.transactionHistory(of: id, in: .production)
            }
            #expect(failure?.retryAt == Calculator.now.addingTimeInterval(3000))
            #expect(failure?.isRetryable == true)
            #expect(asking.time.uptime == 0)
            await #expect(throws: AppStoreFailure.throttled(until: Calculator.now.addingTimeInterval(3000))) {
                try await connection.transactionHistory(of: id, in: .production, before: .infinity)
            }
        }
    }

    @Test func `an App Store request is repeated with a new token after a 401 response`() async throws {
        try await withAppStore { asking in
            try await fill(asking.appStore)
            await asking.appStore.answerFirst(with: .error(401))
            let connection = try asking.connection
            #expect(try await connection.transactionHistory(of: id, in: .production).isComplete)
            _ = try await connection.transactionHistory(of: id, in: .production)
            let tokens = await asking.appStore.asked.map(\.token)
            #expect(tokens.count == 3)
            #expect(tokens[0] != tokens[1] && tokens[1] == tokens[2])
            #expect(asking.time.sleeps.isEmpty)
        }
    }

    @Test func `an App Store request fails after a second 401 response`() async throws {
        try await withAppStore { asking in
            try await fill(asking.appStore)
            await asking.appStore.answerFirst(with: .error(401), .error(401))
            await #expect(throws: AppStoreFailure.notAuthorized(.production)) {
                try await asking.connection.transactionHistory(of: id, in: .production)
            }
            #expect(await asking.appStore.asked.count == 2)
        }
    }

    @Test func `a 401 response to an expired App Store token isn't reported as a wrong key`() async throws {
        try await withAppStore { asking in
            try await fill(asking.appStore)
            let time = asking.time
            let late = ImitatedAppStore.Scripted(status: 401) { _ in time.set(calendarBy: 86_400) }
            await asking.appStore.answerFirst(with: late, late, late)
            #expect(try await asking.connection.transactionHistory(of: id, in: .production).isComplete)
            #expect(await asking.appStore.asked.count == 4)
        }
    }

    @Test func `App Store requests use a new token before the old token expires`() async throws {
        try await withAppStore { asking in
            try await fill(asking.appStore)
            let connection = try asking.connection
            for _ in 0..<3 {
                _ = try await connection.transactionHistory(of: id, in: .production)
                asking.time.advance(by: 200)
            }
            let tokens = await asking.appStore.asked.map(\.token)
            #expect(tokens.count == 3)
            #expect(tokens[0] == tokens[1] && tokens[1] != tokens[2])
        }
    }

    @Test func `App Store requests are repeated after server failures, with growing waits`() async throws {
        try await withAppStore { asking in
            try await fill(asking.appStore)
            await asking.appStore.answerFirst(
                with: .error(500, 5_000_001), .error(503), .error(404, 4_040_002), .error(502))
            #expect(try await asking.connection.transactionHistory(of: id, in: .production).isComplete)
            #expect(asking.time.sleeps == [0.25, 0.5, 1, 2])
        }
    }

    @Test func `requests to the App Store Server API fail after the last attempt, and at the deadline`() async throws {
        try await withAppStore { asking in
            let failing = Array(repeating: ImitatedAppStore.Scripted.error(503), count: 6)
            for scripted in failing { await asking.appStore.answerFirst(with: scripted) }
            let failure = try #require(
                await #expect(throws: AppStoreFailure.self) {
                    try await asking.connection.transactionHistory(of: id, in: .production)
                })
            guard case .refused(let refusal) = failure else {
                Issue.record("\(failure)")
                return
            }
            #expect(refusal.status == 503)
            #expect(await asking.appStore.asked.count == 6)

            for scripted in failing { await asking.appStore.answerFirst(with: scripted) }
            let hasty = try asking.connection(retryPolicy: RetryPolicy(timeout: 1))
            await #expect(throws: failure) { try await hasty.transactionHistory(of: id, in: .production) }
            #expect(await asking.appStore.asked.count == 9)
        }
    }

    @Test(arguments: [(404, Int64(4_040_010)), (400, 4_000_006), (404, 4_040_001), (403, 4_030_004), (418, nil)])
    func `App Store requests aren't repeated if a retry can't help`(status: Int, code: Int64?) async throws {
        try await withAppStore { asking in
            await asking.appStore.answerFirst(with: .error(status, code))
            let failure = await #expect(throws: AppStoreFailure.self) {
                try await asking.connection.transactionHistory(of: id, in: .production)
            }
            guard case .refused(let refusal)? = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(refusal.status == status && refusal.code?.rawValue == code)
            #expect(await asking.appStore.asked.count == 1)
        }
    }

    @Test func `requests to the App Store Server API try the sandbox if production doesn't know the ID`() async throws {
        try await withAppStore { asking in
            try await fill(asking.appStore, 1, .sandbox)
            let connection = try asking.connection
            let list = try await connection.locating(nil) { environment throws(AppStoreFailure) in
                try await connection.transactionHistory(of: id, in: environment)
            }
            #expect(list.environment == .sandbox)
            #expect(await asking.appStore.asked.map(\.environment) == ["Production", "Sandbox"])
        }
    }

    @Test func `App Store requests try a second environment only if no environment was given and the ID is unknown`()
        async throws
    {
        try await withAppStore { asking in
            try await fill(asking.appStore, 1, .sandbox)
            let connection = try asking.connection
            func ask(_ environment: AppStoreEnvironment?) async throws(AppStoreFailure) -> TransactionList {
                try await connection.locating(environment) { environment throws(AppStoreFailure) in
                    try await connection.transactionHistory(of: id, in: environment)
                }
            }
            await #expect(throws: AppStoreFailure.self) { try await ask(.production) }
            await asking.appStore.answerFirst(with: .error(404, 4_040_001))
            await #expect(throws: AppStoreFailure.self) { try await ask(nil) }
            #expect(await asking.appStore.asked.map(\.environment) == ["Production", "Production"])
        }
    }

    @Test func `if no App Store environment knows the ID, the error is about production`() async throws {
        try await withAppStore { asking in
            let connection = try asking.connection
            let failure = await #expect(throws: AppStoreFailure.self) {
                try await connection.locating(nil) { environment throws(AppStoreFailure) in
                    try await connection.transactionHistory(of: id, in: environment)
                }
            }
            #expect(failure?.isUnknownID == true)
            #expect(failure?.remedy == .later)
            #expect(failure?.description.contains("Production") == true)
        }
    }

    @Test func `requests to the App Store Server API use only accepted environments`() async throws {
        try await withAppStore { asking in
            try await fill(asking.appStore, 1, .sandbox)
            let connection = try asking.connection([.sandbox])
            await #expect(throws: AppStoreFailure.notServed(.production)) {
                try await connection.transactionHistory(of: id, in: .production)
            }
            await #expect(throws: AppStoreFailure.notServed(.xcode)) {
                try await connection.transactionHistory(of: id, in: .xcode)
            }
            let list = try await connection.locating(nil) { environment throws(AppStoreFailure) in
                try await connection.transactionHistory(of: id, in: environment)
            }
            #expect(list.environment == .sandbox)
            #expect(await asking.appStore.asked.map(\.environment) == ["Sandbox"])
        }
    }

    @Test func `an ID with special characters can't change the path of an App Store request`() async throws {
        try await withAppStore { asking in
            let connection = try asking.connection
            let longest = String(repeating: "1", count: 256)
            for id in ["1001/../../v1/notifications/test", "a b?c=d#e", "ü", "%2e", longest] {
                await #expect(throws: AppStoreFailure.self) {
                    try await connection.transactionHistory(of: .transaction(id), in: .production)
                }
            }
            let paths = await asking.appStore.asked.map(\.path)
            #expect(paths.count == 5)
            #expect(paths.allSatisfy { $0.hasPrefix("/inApps/v2/history/") && $0.split(separator: "/").count == 4 })
            #expect(await asking.appStore.asked.allSatisfy { $0.query == "sort=ASCENDING" })
            for id in ["", ".", "..", String(repeating: "1", count: 257)] {
                await #expect(throws: AppStoreFailure.invalidID) {
                    try await connection.transactionHistory(of: .transaction(id), in: .production)
                }
            }
        }
    }

    @Test(arguments: [
        "", "<html>", "[]", "{}", #"{"hasMore":"yes"}"#, #"{"hasMore":false,"signedTransactions":{}}"#,
        #"{"hasMore":false,"signedTransactions":[1]}"#, #"{"hasMore":false,"revision":7}"#,
        #"{"hasMore":false,"hasMore":true}"#, #"{"hasMore":false,"signedTransactions":["#,
    ])
    func `a successful App Store response with an unexpected body is an error without a retry`(body: String)
        async throws
    {
        try await withAppStore { asking in
            await asking.appStore.answerFirst(with: .init(status: 200, body: body))
            let failure = await #expect(throws: AppStoreFailure.self) {
                try await asking.connection.transactionHistory(of: id, in: .production)
            }
            guard case .unreadable? = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(await asking.appStore.asked.count == 1)
        }
    }
}
