import Foundation

/// Clients that send requests as fast as possible, and record which ones were acknowledged.
actor SoakLoad {
    private nonisolated let testBed: SoakTestBed
    private(set) var acknowledged: [SoakOperation] = []
    /// Requests that were refused or had no response (0), by status code.
    private(set) var refusals: [Int: Int] = [:]
    /// The number of responses to `GET /v1/customer`.
    private(set) var answers = 0
    /// The responses with the data of another customer than the one who asked.
    private(set) var wrongAnswers: [String] = []
    /// Hashes of all artifacts that were sent, acknowledged or not.
    private(set) var sent: Set<String> = []
    private var lastCustomer = 0
    private var watchers: [AsyncStream<Int>.Continuation] = []

    init(_ testBed: SoakTestBed) {
        self.testBed = testBed
    }

    /// Runs clients, each with one request after the other, until the task is canceled.
    func run(clients: Int, on ports: [Int]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<clients {
                let client = SoakClient(port: ports[number % ports.count])
                group.addTask { try await self.run(client) }
            }
            try await group.waitForAll()
        }
    }

    /// Runs clients until `body` returns. Its stream has the number of acknowledged operations so far.
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
            let appTransaction = try testBed.appTransaction(of: id)
            let transaction = try testBed.transaction("9\(number)", of: id)
            await note(sending: [appTransaction, transaction])
            // First only the app, then with a purchase, so that a row is inserted and then changed.
            let first = try await client.sync(appTransaction, nil, of: id)
            await note(first)
            guard case .acknowledged(.sync(let sync)) = first else {
                // Waits while the service or its database is down, instead of thousands of attempts per second.
                try? await Task.sleep(for: .milliseconds(10))
                continue
            }
            await note(try await client.sync(appTransaction, [transaction], of: id))
            await note(read: await client.get("/v1/customer", token: sync.token), of: sync)
            await note(await client.beginTrial("session \(number)", of: sync))
            await note(await client.grant(to: sync))
            let uuid = UUID().uuidString.lowercased()
            await note(await client.notify(try testBed.notification(uuid), uuid: uuid))
        }
    }

    private func newCustomer() -> Int {
        lastCustomer += 1
        return lastCustomer
    }

    private func note(sending artifacts: [String]) { sent.formUnion(artifacts.map(SoakSync.hash)) }

    private func note(read: (status: Int, customer: [String: Any]), of sync: SoakSync) {
        guard read.status == 200 else { return note(.refused(read.status)) }
        answers += 1
        if read.customer["id"] as? String != sync.customer { wrongAnswers.append("\(read.customer)") }
    }

    private func note(_ answer: SoakClient.Answer) {
        switch answer {
        case .acknowledged(let operation):
            acknowledged.append(operation)
            for watcher in watchers { watcher.yield(acknowledged.count) }
        case .refused(let status):
            // A canceled client didn't wait for the response.
            if !Task.isCancelled { refusals[status, default: 0] += 1 }
        }
    }
}
