import AsyncHTTPClient
import Foundation
import LocalAppStore
import NIOCore
import NIOHTTP1
import TenureAPI
import TenureCore
import TenureServer

/// A service that a scenario or the demo uses over HTTP, with the requests of apps and of the operator.
struct ServiceUnderTest: Sendable {
    let url: String
    /// The admin key. Nil if only the requests of apps are needed.
    private let secretAdminKey: Secret<String>?
    var adminKey: String? { secretAdminKey?.revealed }

    init(url: String, adminKey: String?) {
        self.url = url.hasSuffix("/") ? String(url.dropLast()) : url
        secretAdminKey = adminKey.map { Secret($0) }
    }

    /// The URL to which the App Store posts its notifications.
    var notificationURL: String { url + "/v1/notifications/apple" }

    /// Sends the request with which the app on a device syncs. Returns nil if the device has no artifacts: then the
    /// service knows no customer.
    func sync(_ device: DeviceArtifacts) async throws -> CustomerResponse? {
        let sync = SyncRequest(
            appTransaction: device.appTransaction, transactions: device.transactions,
            renewalInfos: device.renewalInfos, receipt: device.receipt.map { Data($0).base64EncodedString() },
            deviceVerificationID: device.deviceVerificationID.uuidString,
            deviceIdentifier: device.deviceVerificationID.uuidString)
        let answer = try await send(.POST, "/v1/sync", try JSONEncoder().encode(sync))
        if !device.showsAnything, Self.problem(answer)?.code == .nothingVerified { return nil }
        let customer: CustomerResponse = try decoded(answer)
        if let problem = customer.problems.first {
            throw CommandError("the service refused an artifact of `\(device.customer)`: \(problem.detail)")
        }
        return customer
    }

    /// Sends a sync, and returns the response.
    func sync(_ request: SyncRequest) async throws -> CustomerResponse {
        try await decoded(.POST, "/v1/sync", try JSONEncoder().encode(request))
    }

    /// Returns the packs that the customer may download, by name.
    func packs(for customer: CustomerResponse) async throws -> [String: ContentResponse.Links] {
        guard let token = customer.accessToken?.value else { return [:] }
        return (try decoded(try await send(.GET, "/v1/content", token: token)) as ContentResponse).packs
    }

    /// Whether the service accepts new connections; false while it stops.
    var isAlive: Bool { get async { (try? await send(.GET, "/health/live")) != nil } }

    /// Opens the app on a device: syncs, and returns the outcomes by entitlement. Without artifacts, the service knows
    /// no customer, and every entitlement is undetermined.
    func openApp(_ device: DeviceArtifacts) async throws -> [String: Decision.Outcome] {
        if let customer = try await sync(device) { return customer.outcomes }
        let products: ProductsResponse = try await decoded(.GET, "/v1/products")
        return Dictionary(products.entitlements.map { ($0.name, .undetermined) }) { first, _ in first }
    }

    /// Returns the customer with this ID of the App Store, such as a transaction ID. Nil if the service has no such
    /// customer.
    func customer(_ id: String) async throws -> CustomerResponse? {
        let answer: FoundCustomers = try await decoded(.GET, "/v1/admin/customers?id=\(id)")
        guard let customer = answer.customers.first else { return nil }
        guard answer.customers.count == 1 else {
            throw CommandError(
                "the service has \(answer.customers.count) customers with the ID `\(id)`; use a service with an empty database"
            )
        }
        return (try await decoded(.GET, "/v1/admin/customers/\(customer.id)") as CustomerDetails).customer
    }

    private struct CustomerDetails: Decodable { let customer: CustomerResponse }

    // MARK: Waiting

    /// Waits until the service has fetched all transaction histories.
    func waitForHistories() async throws {
        try await wait(orFailWith: "it hasn't fetched all transaction histories") { metrics in
            // Without a key for the App Store, the service fetches no histories, and this metric is missing.
            metrics["tenure_app_store_histories_waiting"].map { $0 == 0 } ?? true
        }
    }

    /// Waits until the service has all notifications up to this date.
    func waitForNotifications(upTo instant: Date, in environment: AppStoreEnvironment) async throws {
        try await wait(orFailWith: "it hasn't caught up with the App Store's notifications") { metrics in
            metrics["tenure_app_store_notifications_reached_seconds{environment=\"\(environment.rawValue)\"}"]
                // The tolerance of a millisecond allows for rounding.
                .map { $0 >= instant.timeIntervalSince1970 - 0.001 } ?? false
        }
    }

    /// Polls the metrics until `isOver`. Throws an error with the problem if no metric changes for two minutes.
    private func wait(orFailWith problem: String, until isOver: ([String: Double]) -> Bool) async throws {
        let clock = ContinuousClock()
        // The timeout begins again with each change, because a long queue takes time.
        var (lastProgress, lastChange) = ([String: Double](), clock.now)
        while true {
            let metrics = try await self.metrics()
            if isOver(metrics) { return }
            let progress = metrics.filter { $0.key.hasPrefix("tenure_app_store_") }
            if progress != lastProgress { (lastProgress, lastChange) = (progress, clock.now) }
            guard clock.now - lastChange < .seconds(120) else {
                throw CommandError("the service at `\(url)` doesn't finish: \(problem); see its log")
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Returns the service's metrics. A key is a name with its labels, if it has any, such as
    /// `tenure_app_store_histories_waiting`.
    private func metrics() async throws -> [String: Double] {
        let text = String(decoding: try await send(.GET, "/metrics").body, as: UTF8.self)
        var metrics: [String: Double] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " ") else { continue }
            metrics[String(line[..<space])] = Double(line[line.index(after: space)...])
        }
        return metrics
    }

    // MARK: HTTP

    private func decoded<Answer: Decodable>(
        _ method: HTTPMethod, _ path: String, _ body: Data? = nil
    ) async throws -> Answer { try decoded(try await send(method, path, body)) }

    private func decoded<Answer: Decodable>(_ answer: (status: UInt, body: Data)) throws -> Answer {
        guard answer.status == 200 else {
            let detail = Self.problem(answer)?.detail ?? "status \(answer.status)"
            throw CommandError("the service at `\(url)` refused a request: \(detail)")
        }
        return try JSONDecoder().decode(Answer.self, from: answer.body)
    }

    private static func problem(_ answer: (status: UInt, body: Data)) -> Problem? {
        try? JSONDecoder().decode(Problem.self, from: answer.body)
    }

    private func send(
        _ method: HTTPMethod, _ path: String, _ body: Data? = nil, token: String? = nil
    ) async throws -> (status: UInt, body: Data) {
        var request = HTTPClientRequest(url: url + path)
        request.method = method
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: body))
        }
        let needsAdminKey = path.hasPrefix("/v1/admin") || path == "/metrics"
        if let token = needsAdminKey ? adminKey : token {
            request.headers.add(name: "Authorization", value: "Bearer \(token)")
        }
        let answer: HTTPClientResponse
        do {
            answer = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        } catch {
            throw CommandError("no service responds at `\(url)`; start one with `tenure serve`")
        }
        return (answer.status.code, Data(try await answer.body.collect(upTo: 1 << 24).readableBytesView))
    }
}

extension CustomerResponse {
    var outcomes: [String: Decision.Outcome] { entitlements.mapValues(\.outcome) }
}
