import CalculatorSeller
import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint

@testable import LocalAppStore

/// Creates the states of local App Stores that sell an invented app, for the tests of this target.
enum Shop: CalculatorSeller {
    static let signer = AppStoreSigner(authority: authority)

    static func state(
        _ environment: AppStoreEnvironment = .production, at now: String = "2014-09-06T10:00:00Z",
        gracePeriodDays: Int? = nil, url: String? = nil
    ) -> AppStoreState {
        AppStoreState(
            seed: "tests", environment: environment, startingAt: date(now),
            apps: [app(gracePeriodDays: gracePeriodDays, url: url)])
    }

    /// Returns a store with one customer who has the app.
    static func state(
        of customer: String, _ environment: AppStoreEnvironment = .production, at now: String = "2014-09-06T10:00:00Z",
        gracePeriodDays: Int? = nil, url: String? = nil
    ) throws -> AppStoreState {
        var state = state(environment, at: now, gracePeriodDays: gracePeriodDays, url: url)
        try state.addCustomer(customer)
        try state.acquire(customer)
        return state
    }
}

extension AppStoreState {
    /// The last notification, verified as a developer's server verifies it.
    func lastNotification() throws -> VerifiedNotification {
        guard let notification = notifications.last else { throw NothingThere() }
        let payload = try Shop.signer.notification(notification, in: self)
        return try Shop.verifier.verifyNotification(Array(payload.utf8), now: now)
    }

    /// Returns the names of the notifications from `first` on, such as `DID_RENEW` and `EXPIRED/VOLUNTARY`.
    func notificationNames(since first: Int = 0) -> [String] { notifications[first...].map(\.name) }
}

extension AppStoreNotification {
    var name: String { [type.rawValue, subtype?.rawValue].compactMap { $0 }.joined(separator: "/") }
}

/// A local App Store has sent no notification, although the test expects one.
struct NothingThere: Error {}

/// A client of a local App Store's Server API. It sends requests with a valid token, without a socket.
struct StoreClient {
    let http: any TestClientProtocol
    let store: LocalAppStore
    let key: ServerAPIKey
    let fault: Fault
    let now: Date

    func get(_ path: String, bundleID: String = Shop.bundleID) async throws -> (status: Int, body: JSONObject) {
        try await send(.get, path, bundleID: bundleID)
    }

    func send(
        _ method: HTTPRequest.Method, _ path: String, _ body: JSONObject? = nil, bundleID: String = Shop.bundleID,
        token: String? = nil
    ) async throws -> (status: Int, body: JSONObject) {
        let token = try token ?? BearerToken.make(key: key, bundleID: bundleID, now: now)
        var headers: HTTPFields = [.authorization: "Bearer \(token)"]
        if body != nil { headers[.contentType] = "application/json" }
        let response = try await http.execute(
            uri: path, method: method, headers: headers,
            body: body.map { ByteBuffer(bytes: JSONValue.object($0).bytes) }
        ) { $0 }
        let bytes = Array(response.body.readableBytesView)
        guard case .object(let object)? = try? JSONValue(parsing: bytes) else { return (response.status.code, [:]) }
        return (response.status.code, object)
    }
}

extension JSONObject {
    func list(_ name: String) -> [JSONValue] { if case .array(let list)? = self[name] { list } else { [] } }
}

/// Runs the App Store Server API of a store, and calls `body` with its client.
func withStoreClient(
    _ state: AppStoreState, rateLimitShare: Double = 1,
    sender: @escaping LocalAppStore.NotificationSender = { _, _, _ in .success },
    _ body: @escaping @Sendable (StoreClient) async throws -> Void
) async throws {
    // 2026-11-20T12:00:00Z. Tokens expire by real time, which is constant in tests.
    let now = Date(timeIntervalSince1970: 1_795_176_000)
    let store = LocalAppStore(state, signer: Shop.signer, sender: sender)
    let key = try ServerAPIKey(seed: state.seed)
    let router = Router(context: BasicRequestContext.self)
    let api = await ServerAPI(store: store, key: key, rateLimitShare: rateLimitShare, now: { now })
    api.add(to: router)
    let application = Application(responder: router.buildResponder())
    try await application.test(.router) { client in
        try await body(StoreClient(http: client, store: store, key: key, fault: api.fault, now: now))
    }
}
