import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

/// A client that sends an admin key.
struct AdminClient {
    let client: Client
    let key: String?

    /// The admin key in the configuration of `withAdminClient`.
    static let adminKey = KeySecret().text

    /// A response of the admin API.
    struct Answer {
        let response: TestResponse

        var status: HTTPResponse.Status { response.status }
        var text: String { String(buffer: response.body) }

        var json: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:]
        }

        var problem: Problem? { try? JSONDecoder().decode(Problem.self, from: Data(text.utf8)) }

        var entries: [[String: Any]] { json["entries"] as? [[String: Any]] ?? [] }

        var kinds: [String] { entries.compactMap { $0["kind"] as? String } }

        var found: [String] { (json["customers"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String } }

        /// Returns the outcome on an entitlement, from a response with a customer, or with a customer and what support
        /// sees.
        func outcome(_ entitlement: String) -> String? {
            let customer = json["customer"] as? [String: Any] ?? json
            let entitlements = customer["entitlements"] as? [String: Any]
            return (entitlements?[entitlement] as? [String: Any])?["outcome"] as? String
        }
    }

    func send(
        _ method: HTTPRequest.Method, _ path: String, _ body: [String: Any?]? = nil, request: String? = nil
    ) async throws -> Answer {
        var headers = HTTPFields()
        if let key { headers[.authorization] = "Bearer \(key)" }
        if let request, let name = HTTPField.Name("Idempotency-Key") { headers[name] = request }
        var buffer: ByteBuffer?
        if let body {
            headers[.contentType] = "application/json"
            buffer = ByteBuffer(bytes: try JSONSerialization.data(withJSONObject: body.compactMapValues { $0 }))
        }
        return try await client.http.execute(uri: path, method: method, headers: headers, body: buffer) {
            Answer(response: $0)
        }
    }

    func get(_ path: String) async throws -> Answer { try await send(.get, path) }

    func post(_ path: String, _ body: [String: Any?], request: String? = nil) async throws -> Answer {
        try await send(.post, path, body, request: request)
    }

    func delete(_ path: String) async throws -> Answer { try await send(.delete, path) }

    /// Returns this client with another key.
    func with(_ key: String?) -> AdminClient { AdminClient(client: client, key: key) }

    /// Syncs a customer who got the app while it was sold.
    func owner(_ id: String = "704000000000000001", transactions: [String]? = []) async throws -> CustomerResponse {
        try await client.sync(
            SyncRequest(
                appTransaction: try Calculator.minter().text(.appTransaction, ["appTransactionId": .string(id)]),
                transactions: transactions))
    }

    func newcomer(_ id: String = "704000000000000002") async throws -> CustomerResponse {
        try await client.sync(SyncRequest(appTransaction: try Calculator.minter().newcomer(id), transactions: []))
    }
}

extension CustomerResponse {
    var publicID: String { get throws { try #require(id.isEmpty ? nil : id) } }
    var token: String { get throws { try #require(accessToken?.value) } }

    func path(_ more: String = "") throws -> String { "/v1/admin/customers/\(try publicID)\(more)" }
}

/// Runs a service with an admin key, and with one key of each scope, named like the scope.
func withAdminClient(
    transfer: Transfer = .never,
    _ body: @escaping @Sendable (AdminClient, [StoredAdminKey.Scope: String]) async throws -> Void
) async throws {
    try await withFolder { folder in
        let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
        var keys: [StoredAdminKey.Scope: String] = [:]
        for scope in StoredAdminKey.Scope.allCases {
            let secret = KeySecret()
            let key = StoredAdminKey(name: scope.rawValue, scope: scope, createdAt: Calculator.now)
            #expect(
                try await store.write(locking: [.adminKeys]) { try $0.create(key, secret: secret.hash, actor: "tests") }
            )
            keys[scope] = secret.text
        }
        try await store.close()
        try await withService(in: folder) { configuration in
            configuration.adminKey = AdminClient.adminKey
            configuration.transfer = transfer
        } _: { [keys] client in
            try await body(AdminClient(client: client, key: AdminClient.adminKey), keys)
        }
    }
}
