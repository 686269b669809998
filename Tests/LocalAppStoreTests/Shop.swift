import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import LocalAppStore
import NIOCore
import TenureAppStore
import TenureCore
import TenureMint

/// An invented app in a local store of its own.
enum Shop {
    static let authority: TestAuthority = {
        do {
            return try TestAuthority(seed: "local store tests")
        } catch {
            fatalError("no test authority can be made: \(error)")
        }
    }()
    static let signer = StoreSigner(authority: authority)

    static let bundleID = "com.example.calculator"
    static let everything = "com.example.calculator.everything"
    static let coins = "com.example.calculator.coins"
    static let season = "com.example.calculator.season"
    static let monthly = "com.example.calculator.monthly"
    static let yearly = "com.example.calculator.yearly"
    static let pro = "com.example.calculator.pro"

    static func date(_ text: String) -> Date { Date(written: text) ?? .distantPast }

    static func app(gracePeriodDays: Int? = nil, url: String? = nil) -> StoreApp {
        StoreApp(
            bundleID: bundleID, appAppleID: 828_838_134,
            releases: [
                StoreRelease(platform: .iOS, build: "37", version: "1.4", releasedAt: date("2014-01-10")),
                StoreRelease(platform: .macOS, build: "900", version: "1.9", releasedAt: date("2014-02-01")),
                StoreRelease(platform: .iOS, build: "120", version: "2.0", releasedAt: date("2015-06-10T18:00:00Z")),
            ],
            prices: [
                AppPrice(from: date("2014-01-10"), price: 4990), AppPrice(from: date("2015-06-10T18:00:00Z"), price: 0),
            ],
            products: [
                StoreProduct(
                    id: everything, type: .nonConsumable, price: 9990, prices: ["DEU": 10990], isFamilyShareable: true),
                StoreProduct(id: coins, type: .consumable, price: 990),
                StoreProduct(id: season, type: .nonRenewing, price: 2990),
                StoreProduct(
                    id: monthly, type: .autoRenewable, price: 1990, group: "plans", level: 2,
                    period: CalendarPeriod(months: 1), isFamilyShareable: true,
                    offers: [
                        SubscriptionOffer(
                            type: .introductory, discount: .freeTrial, period: CalendarPeriod(days: 7)),
                        SubscriptionOffer(
                            id: "comeback", type: .winBack, discount: .payAsYouGo, period: CalendarPeriod(months: 1),
                            count: 2, price: 990),
                        SubscriptionOffer(
                            id: "thanks", type: .promotional, discount: .payUpFront,
                            period: CalendarPeriod(months: 3), price: 2990),
                    ]),
                StoreProduct(
                    id: yearly, type: .autoRenewable, price: 19990, group: "plans", level: 2,
                    period: CalendarPeriod(months: 12)),
                StoreProduct(
                    id: pro, type: .autoRenewable, price: 4990, group: "plans", level: 1,
                    period: CalendarPeriod(months: 1)),
            ], gracePeriodDays: gracePeriodDays, notificationURL: url)
    }

    static func world(
        _ environment: AppStoreEnvironment = .production, at now: String = "2014-09-06T10:00:00Z",
        gracePeriodDays: Int? = nil, url: String? = nil
    ) -> World {
        World(
            seed: "tests", environment: environment, startingAt: date(now),
            apps: [app(gracePeriodDays: gracePeriodDays, url: url)])
    }

    /// With one customer who has the app.
    static func world(
        of customer: String, _ environment: AppStoreEnvironment = .production, at now: String = "2014-09-06T10:00:00Z",
        gracePeriodDays: Int? = nil, url: String? = nil
    ) throws -> World {
        var world = world(environment, at: now, gracePeriodDays: gracePeriodDays, url: url)
        try world.addCustomer(customer)
        try world.acquire(customer)
        return world
    }

    static let verifier: AppStoreVerifier = {
        do {
            let anchors = try authority.anchors
            return AppStoreVerifier(
                app: AppIdentity(bundleID: bundleID, appAppleID: 828_838_134),
                trust: try TrustConfiguration(anchors: [.production: anchors, .sandbox: anchors]))
        } catch {
            fatalError("the authority's roots cannot be trusted: \(error)")
        }
    }()
}

extension World {
    /// The last notification, verified as a developer's server would.
    func lastNotification() throws -> VerifiedNotification {
        guard let notification = notifications.last else { throw NothingThere() }
        let payload = try Shop.signer.notification(notification, in: self)
        return try Shop.verifier.verifyNotification(Array(payload.utf8), now: now)
    }

    /// What was told since, in words: `DID_RENEW`, `EXPIRED/VOLUNTARY`.
    func told(since first: Int = 0) -> [String] { notifications[first...].map(\.name) }
}

extension StoreNotification {
    var name: String { [type.rawValue, subtype?.rawValue].compactMap { $0 }.joined(separator: "/") }
}

struct NothingThere: Error {}

/// A running store whose interfaces are asked without a socket.
struct Counter {
    let http: any TestClientProtocol
    let store: LocalAppStore
    let key: ServerAPIKey
    let trouble: Trouble
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
    func text(_ name: String) -> String? { if case .string(let text)? = self[name] { text } else { nil } }
    func number(_ name: String) -> Int? { if case .number(let text)? = self[name] { Int(text) } else { nil } }
    func list(_ name: String) -> [JSONValue] { if case .array(let list)? = self[name] { list } else { [] } }
    func texts(_ name: String) -> [String] {
        list(name).compactMap { if case .string(let text) = $0 { text } else { nil } }
    }
}

/// Asks a store over its HTTP interfaces.
func withCounter(
    _ world: World, rateLimitShare: Double = 1, courier: @escaping LocalAppStore.Courier = { _, _, _ in .success },
    _ body: @escaping @Sendable (Counter) async throws -> Void
) async throws {
    // 2026-11-20T12:00:00Z: tokens run by real time, and a test's stands still.
    let now = Date(timeIntervalSince1970: 1_795_176_000)
    let store = LocalAppStore(world, signer: Shop.signer, courier: courier)
    let key = try ServerAPIKey(seed: world.seed)
    let router = Router(context: BasicRequestContext.self)
    let api = await ServerAPI(store: store, key: key, rateLimitShare: rateLimitShare, now: { now })
    api.add(to: router)
    let application = Application(responder: router.buildResponder())
    try await application.test(.router) { client in
        try await body(Counter(http: client, store: store, key: key, trouble: api.trouble, now: now))
    }
}
