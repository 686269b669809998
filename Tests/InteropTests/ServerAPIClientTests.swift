import Foundation
import Hummingbird
import NIOCore
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

@testable import LocalAppStore

/// Apple's own client calls the App Store Server API of a local store.
@Suite(.enabled(if: AppleLibrary.python != nil, "TENURE_INTEROP_PYTHON names no Python with Apple's library"))
struct ServerAPIClientTests {
    private static let monthly = "com.example.calculator.monthly"
    private static let coins = "com.example.calculator.coins"

    private static func state() throws -> AppStoreState {
        func date(_ text: String) -> Date { Date(written: text) ?? .distantPast }
        let app = AppStoreApp(
            bundleID: "com.example.calculator", appAppleID: 828_838_134,
            releases: [AppStoreRelease(platform: .iOS, build: "37", version: "1.4", releasedAt: date("2014-01-10"))],
            products: [
                AppStoreProduct(id: monthly, type: .autoRenewable, price: 1990, group: "plans"),
                AppStoreProduct(id: coins, type: .consumable, price: 990),
            ], notificationURL: "https://example.com/hook")
        var state = AppStoreState(seed: "interop", startingAt: date("2026-01-10"), apps: [app])
        try state.addCustomer("Ada")
        try state.acquire("Ada")
        try state.buy(monthly, "Ada")
        for _ in 0..<45 { try state.buy(coins, "Ada") }
        try state.refund("Ada", coins, reason: .issueInTheApp)
        try state.refund("Ada", coins, reason: .issueInTheApp, periodsAgo: 1)
        state.advance(to: date("2026-02-15"))
        return state
    }

    private static let expected = """
        {"transaction":true,"app transaction":"37","pages":[20,20,7],"descending":true,"subscriptions":[2],
        "revoked":[2],"kept":[20,20,5],"statuses":[[1,"com.example.calculator.monthly",1]],"expired":[],
        "refunds":[1,1],"order":1,
        "notifications":["DID_RENEW SUCCESS","ONE_TIME_CHARGE SUCCESS","REFUND SUCCESS","SUBSCRIBED TIMED_OUT",49],
        "failures":["SUBSCRIBED TIMED_OUT",1],"test":"TEST","consumption":null,"token":null,"finish":null,
        "version 1":46,"extend":true,"extend all":[true,1,0],"extend again":"403 4030005",
        "4000006":"400 4000006","4000008":"400 4000008","4000009":"400 4000009","4000011":"400 4000011",
        "4000005":"400 4000005","4000013":"400 4000013","4000048":"400 4000048","4000187":"400 4000187",
        "4030005":"403 4030005","4040005":"404 4040005","4040008":"404 4040008","4040009":"404 4040009",
        "4040010":"404 4040010","wrong app":"401 None","wrong key":"401 None"}
        """

    @Test func `Apple's client library gets the expected results from the local App Store`() async throws {
        let authority = try TestAuthority()
        let store = LocalAppStore(try Self.state(), signer: AppStoreSigner(authority: authority)) {
            _, _, notification in
            notification.type == .subscribed ? .timedOut : .success
        }
        // This delivers the waiting notifications.
        try await store.perform(AppStoreOperation(.advance, [.by: "0"]))
        let key = try ServerAPIKey(seed: "interop")
        try await AppStoreServer(store: store, key: key, port: 0).serve { port in
            let input = await Self.input(store, key, port: port, root: Data(authority.jws.root.der))
            let results = try await AppleLibrary.run("client.py", JSONValue.object(input).bytes)
            guard case .object(let told) = results,
                case .object(let expected) = try JSONValue(parsing: Array(Self.expected.utf8))
            else { throw AppleLibrary.Failure(said: "no object") }
            #expect(told.members.map(\.name) == expected.members.map(\.name) + ["errors"])
            let errors = ServerAPIError.allCases.map { JSONValue.string("\($0.status) \($0.rawValue)") }
            #expect(told["errors"] == .array(errors))
            for member in expected.members { #expect(told[member.name] == member.value, "\(member.name)") }
        }
    }

    private static func input(
        _ store: LocalAppStore, _ key: ServerAPIKey, port: Int, root: Data
    ) async -> JSONObject {
        let state = await store.state
        func milliseconds(_ date: Date) -> JSONValue { .number(String(Int64(date.timeIntervalSince1970 * 1000))) }
        let renewal = state.transactions.last { $0.originalTransaction == 0 } ?? state.transactions[0]
        return [
            "url": .string("http://127.0.0.1:\(port)"), "key": .string(key.pem), "keyID": .string(key.keyID),
            "issuerID": .string(key.issuerID), "bundleID": .string("com.example.calculator"),
            "appAppleID": .number("828838134"), "root": .string(root.base64EncodedString()),
            "environment": .string(state.environment.rawValue), "product": .string(monthly),
            "subscription": .string(state.id(of: state.transactions[0])),
            "renewal": .string(state.id(of: renewal)),
            "consumable": .string(state.id(of: state.transactions[1])),
            "appTransaction": .string(state.id(of: state.acquisitions[0])),
            "order": .string(state.orderID(of: state.transactions[1])),
            "errors": .array(ServerAPIError.allCases.map { .number(String($0.rawValue)) }),
            "start": milliseconds(state.now.addingTimeInterval(-100 * 86_400)), "end": milliseconds(state.now),
        ]
    }
}
