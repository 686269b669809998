import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Clients that sync as fast as they can, and remember what was acknowledged.
actor SoakLoad {
    private let world: SoakWorld
    private(set) var acknowledged: [SoakSync] = []
    /// Requests that were refused or not answered, by status; 0 is no answer.
    private(set) var failures: [Int: Int] = [:]
    private var nextCustomer = 0
    private var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

    init(_ world: SoakWorld) {
        self.world = world
    }

    /// So many clients, one request after the other each, until the task is cancelled or `isOver` says so.
    func run(clients: Int, on ports: [Int], until isOver: @escaping @Sendable () async -> Bool) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<clients {
                let port = ports[client % ports.count]
                group.addTask { try await self.client(on: port, until: isOver) }
            }
            try await group.waitForAll()
        }
    }

    /// Returns when so many syncs were acknowledged since the beginning.
    func reaches(_ count: Int) async {
        guard acknowledged.count < count else { return }
        await withCheckedContinuation { waiting.append((count, $0)) }
    }

    private nonisolated func client(on port: Int, until isOver: @Sendable () async -> Bool) async throws {
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        while !Task.isCancelled, await !isOver() {
            let id = await newCustomer()
            let number = "9" + id.suffix(9)
            let appTransaction = try world.appTransaction(of: id)
            // First the app alone, then a purchase of the same customer: a new row and a changed one.
            for transactions in [nil, [try world.transaction(number, of: id)]] as [[String]?] {
                let sync = try await SoakHTTP.sync(appTransaction, transactions, of: id, on: port, session)
                await note(sync)
                if case .failure(0) = sync {
                    // Nobody answers: the service is gone, or its database; ask again when others were served.
                    try? await Task.sleep(for: .milliseconds(20))
                    break
                }
            }
        }
    }

    private func newCustomer() -> String {
        nextCustomer += 1
        return "70400000\(1_000_000_000 + nextCustomer)"
    }

    private func note(_ sync: SoakHTTP.Answer) {
        switch sync {
        case .success(let sync):
            acknowledged.append(sync)
            for waiter in waiting where waiter.count <= acknowledged.count { waiter.continuation.resume() }
            waiting.removeAll { $0.count <= acknowledged.count }
        case .failure(let status): failures[status, default: 0] += 1
        }
    }
}

/// One request, as an app sends it.
enum SoakHTTP {
    enum Answer: Sendable {
        case success(SoakSync)
        /// The status; 0 where no answer came.
        case failure(Int)
    }

    static func sync(
        _ appTransaction: String, _ transactions: [String]?, of id: String, on port: Int, _ session: URLSession
    ) async throws -> Answer {
        var body: [String: Any] = [
            "appTransaction": appTransaction, "deviceVerificationID": SoakWorld.device.uuidString,
        ]
        if let transactions { body["transactions"] = transactions }
        var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)/v1/sync")))
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONSerialization.data(withJSONObject: body)
        let data: Data
        let status: Int
        do {
            let (body, response) = try await session.data(for: request)
            data = body
            status = (response as? HTTPURLResponse)?.statusCode ?? 0
        } catch {
            return .failure(0)
        }
        guard status == 200, let json = try? JSONSerialization.jsonObject(with: data) as? [String: Any] else {
            return .failure(status)
        }
        return .success(
            SoakSync(
                appTransactionID: id, customer: try #require(json["id"] as? String),
                token: try #require((json["accessToken"] as? [String: Any])?["value"] as? String),
                hashes: Set(([appTransaction] + (transactions ?? [])).map(SoakSync.hash))))
    }

    /// What the service says of the customer of a token.
    static func customer(_ token: String, on port: Int, _ session: URLSession) async throws -> [String: Any] {
        var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)/v1/customer")))
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        let (data, response) = try await session.data(for: request)
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        return (try JSONSerialization.jsonObject(with: data)) as? [String: Any] ?? [:]
    }
}
