import Foundation

/// Clients that do all that is acknowledged, as fast as they can, and remember what was.
actor SoakLoad {
    private nonisolated let world: SoakWorld
    private(set) var acknowledged: [SoakAct] = []
    /// Acts that were refused, or not answered (0), by status.
    private(set) var refusals: [Int: Int] = [:]
    private var lastCustomer = 0
    private var watchers: [AsyncStream<Int>.Continuation] = []

    init(_ world: SoakWorld) {
        self.world = world
    }

    /// So many clients, each with one request after the other, until the task is cancelled.
    func run(clients: Int, on ports: [Int]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<clients {
                let client = SoakClient(port: ports[number % ports.count])
                group.addTask { try await self.run(client) }
            }
            try await group.waitForAll()
        }
    }

    /// Runs clients until `body` is over; what it is told is how many acts were acknowledged so far, again and again.
    func run(
        clients: Int, on ports: [Int], while body: @escaping @Sendable (AsyncStream<Int>) async throws -> Void
    ) async throws {
        let (counts, watcher) = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1))
        watchers.append(watcher)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.run(clients: clients, on: ports) }
            group.addTask { try await body(counts) }
            try await group.next()
            group.cancelAll()
            try await group.waitForAll()
        }
        watcher.finish()
    }

    private nonisolated func run(_ client: SoakClient) async throws {
        while !Task.isCancelled {
            let number = await newCustomer()
            let id = "70400000\(1_000_000_000 + number)"
            let appTransaction = try world.appTransaction(of: id)
            // The app alone, then with a purchase: a new row, and a changed one.
            let first = try await client.sync(appTransaction, nil, of: id)
            await note(first)
            guard case .acknowledged(.sync(let sync)) = first else {
                // The service or its database is away: not thousands of attempts a second.
                try? await Task.sleep(for: .milliseconds(10))
                continue
            }
            await note(try await client.sync(appTransaction, [try world.transaction("9\(number)", of: id)], of: id))
            await note(await client.beginTrial("session \(number)", of: sync))
            await note(await client.grant(to: sync))
            let uuid = UUID().uuidString.lowercased()
            await note(await client.notify(try world.notification(uuid), uuid: uuid))
        }
    }

    private func newCustomer() -> Int {
        lastCustomer += 1
        return lastCustomer
    }

    private func note(_ answer: SoakClient.Answer) {
        switch answer {
        case .acknowledged(let act):
            acknowledged.append(act)
            for watcher in watchers { watcher.yield(acknowledged.count) }
        case .refused(let status):
            // Whoever was told to stop did not wait for the answer.
            if !Task.isCancelled { refusals[status, default: 0] += 1 }
        }
    }
}
