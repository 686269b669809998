import Foundation
import Hummingbird
import NIOCore
import ServiceLifecycle
import TenureCore
import Testing

@testable import TenureServer

@Suite struct `the connection to the App Store` {
    private let id = AppStoreCustomerID.transaction("1001")

    /// Returns a client that makes one attempt only, because the test is about a single exchange.
    private func once(_ asking: AppStoreClientTestBed) throws -> AppStoreClient {
        try asking.connection(retryPolicy: RetryPolicy(attempts: 1))
    }

    @Test func `the connection to the App Store stops reading an endless response at its limit`() async throws {
        try await withAppStore { asking in
            await asking.appStore.answerFirst(
                with: .init(status: 200) { writer in
                    let piece = ByteBuffer(repeating: UInt8(ascii: " "), count: 1 << 20)
                    for _ in 0..<50 { try await writer.write(piece) }
                    try await writer.finish(nil)
                })
            await #expect(throws: AppStoreFailure.tooLarge(limit: 4 << 20)) {
                try await once(asking).transactionHistory(of: id, in: .production)
            }
        }
    }

    @Test func `the connection to the App Store refuses a response with a Content-Length over the limit`()
        async throws
    {
        try await withAppStore { asking in
            await asking.appStore.answerFirst(
                with: .init(status: 200, body: String(repeating: " ", count: 50 << 20)))
            await #expect(throws: AppStoreFailure.tooLarge(limit: 4 << 20)) {
                try await once(asking).transactionHistory(of: id, in: .production)
            }
        }
    }

    /// Lets the request time out after the server has received it, or has sent the first bytes of a response.
    private func hanging(afterFirstBytes sendsSome: Bool) async throws {
        let reached = Gate()
        let over = Gate()
        let timer = AppStoreTime(
            now: { Calculator.now }, uptime: { 0 },
            sleep: { _ in
                await reached.wait()
                try Task.checkCancellation()
            }, random: { 0 })
        try await withAppStore(transportTime: timer) { asking in
            await asking.appStore.answerFirst(
                with: .init(status: 200) { writer in
                    if sendsSome { try await writer.write(ByteBuffer(string: #"{"hasMore":"#)) }
                    reached.open()
                    await over.wait()
                    try await writer.finish(nil)
                })
            await #expect(throws: AppStoreFailure.timedOut(30)) {
                try await once(asking).transactionHistory(of: id, in: .production)
            }
            over.open()
        }
    }

    @Test func `a request to the App Store times out before the response begins, or during its body`()
        async throws
    {
        try await hanging(afterFirstBytes: false)
        try await hanging(afterFirstBytes: true)
    }

    @Test func `a request to the App Store ends if its task is canceled`() async throws {
        let reached = Gate()
        let over = Gate()
        try await withAppStore { asking in
            await asking.appStore.answerFirst(
                with: .init(status: 200) { writer in
                    try await writer.write(ByteBuffer(string: #"{"hasMore":"#))
                    reached.open()
                    await over.wait()
                    try await writer.finish(nil)
                })
            let connection = try once(asking)
            let outcome = await withTaskGroup(of: Result<TransactionList, AppStoreFailure>?.self) { group in
                group.addTask {
                    do throws(AppStoreFailure) {
                        return .success(try await connection.transactionHistory(of: id, in: .production))
                    } catch {
                        return .failure(error)
                    }
                }
                await reached.wait()
                group.cancelAll()
                return await group.next() ?? nil
            }
            guard case .failure(.canceled)? = outcome else {
                Issue.record("\(String(describing: outcome))")
                return
            }
            over.open()
            #expect(await asking.appStore.asked.count == 1)
        }
    }

    @Test func `a request to the App Store ends if its task is canceled while it waits for a retry`() async throws {
        let waiting = Gate()
        let clock = AppStoreTime(
            now: { Calculator.now }, uptime: { 0 },
            sleep: { _ in
                waiting.open()
                try await Task.sleep(for: .seconds(3600))
            }, random: { 1 })
        let connection = AppStoreClient(
            AppStoreClientTestBed.credentials, verifier: try AppStoreClientTestBed.verifier(),
            transport: AppStoreTransport { _ throws(AppStoreFailure) in throw .unreachable("no connection") },
            time: clock, logger: Calculator.logger)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await #expect(throws: AppStoreFailure.canceled) {
                    try await connection.transactionHistory(of: id, in: .production)
                }
            }
            await waiting.wait()
            group.cancelAll()
        }
    }

    @Test func `the connection to the App Store doesn't follow a redirect, so the token stays with its host`()
        async throws
    {
        try await withAppStore { asking in
            await asking.appStore.answerFirst(
                with: .init(status: 307, headers: ["Location": asking.hosts.sandbox + "inApps/v2/history/1001"]))
            let failure = await #expect(throws: AppStoreFailure.self) {
                try await asking.connection.transactionHistory(of: id, in: .production)
            }
            guard case .refused(let refusal)? = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(refusal.status == 307)
            #expect(await asking.appStore.asked.count == 1)
        }
    }

    @Test func `the connection to the App Store closes when the service stops`() async throws {
        let http = HTTPTransport()
        let running = Gate()
        let last = ClosureService {
            running.open()
            try await gracefulShutdown()
        }
        let group = ServiceGroup(
            configuration: .init(services: [.init(service: http), .init(service: last)], logger: Calculator.logger))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            await running.wait()
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
        await #expect(throws: AppStoreFailure.self) {
            try await http.transport.send(
                .init(method: "GET", url: "http://127.0.0.1:9/", token: Secret("t"), body: nil))
        }
    }

    @Test func `a request to the App Store is repeated if the server doesn't accept the connection`() async throws {
        let hosts = try await withAppStore { $0.hosts }
        // The server at that port has stopped.
        let time = TestTime()
        let http = HTTPTransport()
        let connection = AppStoreClient(
            AppStoreClientTestBed.credentials, hosts: hosts, verifier: try AppStoreClientTestBed.verifier(),
            transport: http.transport, retryPolicy: RetryPolicy(attempts: 3), time: time.time, logger: Calculator.logger
        )
        let failure = await #expect(throws: AppStoreFailure.self) {
            try await connection.transactionHistory(of: id, in: .production)
        }
        try await http.close()
        guard case .unreachable? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(time.sleeps == [0.25, 0.5])
    }
}
