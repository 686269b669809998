import CommandRunner
import Foundation
import PostgresServer
import Testing

/// Two services with one database behave like one service.
@Suite(.serialized) struct `two services beside one PostgreSQL` {
    /// Bodies of syncs and notifications, in the order in which they happened.
    private struct Traffic: Sendable {
        let path: String
        let body: Data
    }

    private func traffic(_ testBed: SoakTestBed) throws -> [Traffic] {
        var all: [Traffic] = []
        func add(_ path: String, _ body: [String: Any]) throws {
            all.append(Traffic(path: path, body: try JSONSerialization.data(withJSONObject: body)))
        }
        for number in 0..<SoakScale.sharedCustomers {
            let id = "70400000\(2_000_000_000 + number)"
            let appTransaction = try testBed.appTransaction(of: id)
            // First known by a purchase without an account, then merged with the account.
            let loose = try testBed.looseTransaction("8\(number)")
            try add("/v1/sync", SoakClient.body(nil, [loose]))
            try add("/v1/sync", SoakClient.body(appTransaction, nil))
            try add("/v1/sync", SoakClient.body(appTransaction, [try testBed.transaction("9\(number)", of: id)]))
            try add("/v1/sync", SoakClient.body(appTransaction, [loose]))
            // Bought, refunded, and for every other customer the refund is reversed. The latest-signed state counts.
            let words = [("ONE_TIME_CHARGE", false), ("REFUND", true), ("REFUND_REVERSED", false)]
            for (place, word) in words.enumerated() where place < 2 || number.isMultiple(of: 2) {
                let uuid = "3a4b0d0e-0000-4000-8\(place)00-\(100_000_000_000 + number)"
                let notification = try testBed.notification(
                    uuid, word.0, about: "7\(number)", of: id, isRevoked: word.1, ago: Double(50 - 10 * place))
                try add("/v1/notifications/apple", ["signedPayload": notification])
            }
        }
        return all
    }

    @Test(.timeLimit(.minutes(60)))
    func `two services on one PostgreSQL database store the same data as one service, in any request order`()
        async throws
    {
        let alone = try SoakTestBed()
        let traffic = try traffic(alone)
        let (single, port) = try await alone.start()
        for one in traffic { #expect(await Self.send(one, to: port) == 200) }
        let expected = try await alone.dump().state()
        #expect(await single.end(by: SIGTERM) == 0)
        #expect(expected.count >= SoakScale.sharedCustomers)

        let server = try PostgresServer()
        let shared = try SoakTestBed(database: server.url(), authority: alone.authority)
        let services = [try await shared.start(), try await shared.start()]
        let shuffled = (traffic + traffic).shuffled()
        let failures = try await withThrowingTaskGroup(of: [Int].self) { group in
            for client in 0..<8 {
                let port = services[client % 2].port
                group.addTask {
                    var failures: [Int] = []
                    for index in stride(from: client, to: shuffled.count, by: 8) {
                        let status = await Self.send(shuffled[index], to: port)
                        if status != 200 { failures.append(status) }
                    }
                    return failures
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(failures == [])
        let state = try await shared.dump().state()
        #expect(state == expected, "\(state.symmetricDifference(expected).prefix(2).joined(separator: "\n--\n"))")
        try await shared.expectHealthy()
        for service in services { #expect(await service.service.end(by: SIGTERM) == 0) }
    }

    private static func send(_ one: Traffic, to port: Int) async -> Int {
        let body = (try? JSONSerialization.jsonObject(with: one.body)) as? [String: Any] ?? [:]
        return await SoakClient(port: port).post(one.path, body).0
    }
}
