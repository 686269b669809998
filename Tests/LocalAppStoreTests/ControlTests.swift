import CalculatorSeller
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import TenureAppStore
import TenureCore
import TenureJSON
import Testing

@testable import LocalAppStore

private let device = "00000000-0000-4000-8000-000000000001"

/// Sends a request to the control interface, and returns the status and the body of the response.
private typealias Send = (_ method: HTTPRequest.Method, _ path: String, _ body: String) async throws -> (
    status: Int, body: String
)

/// Runs a local App Store with these customers, and calls `body` with a client of its control interface.
private func withControl(
    customers: [String], _ body: @escaping @Sendable (LocalAppStore, Send) async throws -> Void
) async throws {
    var state = Shop.state(at: "2026-01-10T12:00:00Z")
    for name in customers {
        try state.addCustomer(name)
        if name != "Eve" { try state.acquire(name) }
    }
    let store = LocalAppStore(state, signer: Shop.signer, sender: { _, _, _ in .success })
    let application = await AppStoreServer(store: store, key: try ServerAPIKey(seed: "kept"), port: 0).application()
    try await application.test(.router) { client in
        try await body(store) { method, path, body in
            try await client.execute(
                uri: "/control/" + path, method: method, headers: [.contentType: "application/json"],
                body: ByteBuffer(string: body)
            ) { ($0.status.code, String(buffer: $0.body)) }
        }
    }
}

private func parsed(_ text: String) throws -> JSONObject {
    guard case .object(let object) = try JSONValue(parsing: Array(text.utf8)) else { throw NothingThere() }
    return object
}

@Test func `the local App Store's control interface refuses what it can't read, and says what to write`() async throws {
    try await withControl(customers: ["Ada"]) { store, send in
        let cases: [(HTTPRequest.Method, String, String, Int, String)] = [
            (.post, "operations", "[1]", 400, "an operation must be a JSON object"),
            (.post, "operations", "1", 400, "the body must be one operation, or a list of operations"),
            (.post, "device/flights", "{}", 404, "there is no device request `flights`"),
            (.post, "device/contents", "[]", 400, "the body must be a JSON object"),
            (.post, "fault", #"{"code": 1, "requests": 3}"#, 400, "`code` must be an error code"),
            (.post, "fault", #"{"code": 5000001, "requests": -1}"#, 400, "`code` must be an error code"),
            (.post, "fault", #"{"code": 5000001}"#, 400, "`code` must be an error code"),
            (.post, "fault", #"{"code": 5000001, "requests": 1000001}"#, 400, "`requests` a number up to 1000000"),
            (.post, "fault", "3", 400, "`code` must be an error code"),
            (.post, "operations", "{", 400, "the body is "),
            (.get, "customers/Ada?shows=all", "", 400, "`shows` must be appTransaction, receipt, both or nothing"),
            (.get, "customers/Zoe", "", 404, "there is no customer `Zoe`"),
        ]
        for (method, path, body, status, words) in cases {
            let answer = try await send(method, path, body)
            #expect(answer.status == status && answer.body.contains(words), "\(path) \(body): \(answer)")
        }
        #expect(await store.state.transactions.isEmpty)
    }
}

@Test func `a list of operations is performed up to the first that isn't possible`() async throws {
    try await withControl(customers: ["Ada"]) { store, send in
        func operation(_ product: String) -> String { #"{"operation":"buy","customer":"Ada","product":"\#(product)"}"# }
        let list = [Shop.coins, "unknown", Shop.everything].map(operation).joined(separator: ",")
        let answer = try await send(.post, "operations", "[\(list)]")
        #expect(answer.status == 409 && answer.body.contains("has no product `unknown`"), "\(answer)")
        let state = await store.state
        #expect(state.transactions.map { state.products[$0.product].id } == [Shop.coins])
        let bought = try await send(.post, "operations", "[\(operation(Shop.everything)),\(operation(Shop.coins))]")
        #expect(bought.status == 200 && bought.body.components(separatedBy: "ONE_TIME_CHARGE").count == 3, "\(bought)")
    }
}

@Test func `the local App Store refuses a device's request without the field that it needs`() async throws {
    try await withControl(customers: ["Ada"]) { _, send in
        let cases = [
            ("contents", "{}", "badRequest", "`device` must be the UUID of a device"),
            ("contents", #"{"device": "first"}"#, "badRequest", "`device` must be the UUID of a device"),
            ("contents", #"{"device": "\#(device)", "customer": "Zoe"}"#, "badRequest", "there is no customer `Zoe`"),
            ("products", "{}", "badRequest", "`ids` must be a list of product IDs"),
            ("purchase", #"{"device": "\#(device)"}"#, "badRequest", "`product` must be the ID of a product"),
            ("purchase", #"{"device": "\#(device)", "product": "x"}"#, "unknown", "has no product `x`"),
            ("finish", "{}", "badRequest", "`transaction` must be the ID of a transaction"),
            ("operations", "{}", "badRequest", "`operations` must be a list of operations"),
            ("operations", #"{"operations": [1]}"#, "badRequest", "an operation must be a JSON object"),
        ]
        for (kind, body, code, words) in cases {
            let answer = try await send(.post, "device/" + kind, body)
            #expect(answer.status == 409, "\(kind) \(body): \(answer)")
            #expect(answer.body.contains(#""code":"\#(code)""#) && answer.body.contains(words), "\(answer.body)")
        }
    }
}

@Test(arguments: [[], ["Ada"], ["Ada", "Byron"]])
func `a device must name its customer unless the local App Store has exactly one customer`(names: [String]) async throws
{
    try await withControl(customers: names) { _, send in
        let answer = try await send(.post, "device/contents", #"{"device": "\#(device)"}"#)
        if names.count == 1 {
            #expect(answer.status == 200 && answer.body.contains(#""customer":"Ada""#), "\(answer)")
        } else {
            #expect(answer.status == 409 && answer.body.contains("doesn't have exactly one customer"), "\(answer)")
        }
        guard let name = names.last else { return }
        let named = try await send(.post, "device/contents", #"{"device": "\#(device)", "customer": "\#(name)"}"#)
        #expect(named.status == 200 && named.body.contains(#""customer":"\#(name)""#), "\(named)")
    }
}

@Test func `a customer who never got the app has no app transaction and no receipt`() async throws {
    try await withControl(customers: ["Eve"]) { _, send in
        for kind in ["appTransaction", "receipt"] {
            let answer = try await send(.post, "device/" + kind, #"{"device": "\#(device)"}"#)
            #expect(answer.status == 409 && answer.body.contains(#""code":"unknown""#), "\(answer)")
        }
    }
}

@Test func `the control interface answers an operation with its notifications, and with the order ID of a purchase`()
    async throws
{
    try await withControl(customers: ["Ada", "Byron"]) { store, send in
        let coins = #"{"operation":"buy","customer":"Byron","product":"\#(Shop.coins)"}"#
        let answer = try await send(.post, "operations", coins)
        let state = await store.state
        let id = state.id(of: state.transactions[0])
        #expect(id.count == 15)
        let notification =
            #"{"type":"ONE_TIME_CHARGE","date":"2026-01-10T12:00:00Z","transactionId":"\#(id)","orderId":"M000000000"}"#
        #expect(answer.body == #"{"now":"2026-01-10T12:00:00Z","notifications":[\#(notification)]}"#)
        let summary =
            #"{"seed":"tests","environment":"Production","now":"2026-01-10T12:00:00Z","apps":["\#(Shop.bundleID)"],"#
            + #""customers":2,"transactions":1,"notifications":1,"network":"up"}"#
        #expect(try await send(.get, "state", "").body == summary)
        let fault = try await send(.post, "fault", #"{"code": 5000001, "requests": 3}"#)
        let message = "An unknown error occurred. Please try again."
        #expect(fault.body == #"{"code":5000001,"message":"\#(message)","requests":3}"#)
    }
}

@Test func `a refused request of a device has the code by which StoreKit on Linux chooses its error`() async throws {
    let monthly = #""product":"\#(Shop.monthly)""#
    let cancel = #"{"operation":"cancel","customer":"Ada",\#(monthly)}"#
    let cases: [(before: AppStoreOperation?, kind: String, fields: String, code: String)] = [
        (nil, "purchase", #"\#(monthly),"offer":"nothing""#, "noOffer"),
        (nil, "purchase", #"\#(monthly),"offer":"comeback""#, "notEligible"),
        (nil, "purchase", #"\#(monthly),"app":"com.example.none""#, "badRequest"),
        (nil, "purchase", #"\#(monthly),"customer":"Zoe""#, "badRequest"),
        (nil, "purchase", #"\#(monthly),"quantity":11"#, "badRequest"),
        (nil, "operations", #""operations":[\#(cancel)]"#, "impossible"),
        (
            AppStoreOperation(.withdraw, [.product: Shop.coins]), "purchase", #""product":"\#(Shop.coins)""#,
            "notForSale"
        ),
        (
            AppStoreOperation(.failBilling, [.customer: "Ada"]), "purchase", #""product":"\#(Shop.everything)""#,
            "notPayable"
        ),
    ]
    try await withControl(customers: ["Ada"]) { store, send in
        for (before, kind, fields, code) in cases {
            if let before { try await store.perform(before) }
            let answer = try await send(.post, "device/" + kind, #"{"device":"\#(device)",\#(fields)}"#)
            #expect(answer.status == 409, "\(answer)")
            #expect(answer.body.contains(#""code":"\#(code)""#), "\(kind) \(fields): \(answer.body)")
        }
        #expect(await store.state.transactions.isEmpty)
    }
}

@Test func `every request of the control interface with a body must be JSON`() async throws {
    let store = LocalAppStore(try Shop.state(of: "Ada"), signer: Shop.signer) { _, _, _ in .success }
    let application = await AppStoreServer(store: store, key: try ServerAPIKey(seed: "kept"), port: 0).application()
    try await application.test(.router) { client in
        for path in ["operations", "device/now", "fault"] {
            for (type, status) in [("text/plain", 415), ("Application/JSON; charset=utf-8", 200)] {
                let advance = #"{"operation": "advance", "by": "1d"}"#
                let body = ByteBuffer(string: path == "fault" ? #"{"code": 5000001, "requests": 0}"# : advance)
                let answer = try await client.execute(
                    uri: "/control/" + path, method: .post, headers: [.contentType: type], body: body
                ) { ($0.status.code, String(buffer: $0.body)) }
                #expect(answer.0 == status, "\(path) \(type): \(answer.1)")
                let advice = "the body must be JSON; send it with `Content-Type: application/json`"
                #expect((answer.1 == #"{"error":"\#(advice)"}"#) == (status == 415), "\(path) \(type)")
            }
        }
    }
}

@Test func `a fault from the control interface affects the Server API of the same store`() async throws {
    let key = try ServerAPIKey(seed: "kept")
    var state = try Shop.state(of: "Ada", at: "2026-01-10T12:00:00Z")
    try state.buy(Shop.coins, "Ada")
    let store = LocalAppStore(state, signer: Shop.signer) { _, _, _ in .success }
    let application = await AppStoreServer(store: store, key: key, port: 0).application()
    try await application.test(.router) { [state] client in
        // The token is valid by the store's clock.
        let token = try BearerToken.make(key: key, bundleID: Shop.bundleID, now: state.now)
        let path = "/inApps/v1/transactions/\(state.id(of: state.transactions[0]))"
        func status() async throws -> Int {
            try await client.execute(uri: path, method: .get, headers: [.authorization: "Bearer \(token)"]) {
                $0.status.code
            }
        }
        #expect(try await status() == 200)
        let fault = try await client.execute(
            uri: "/control/fault", method: .post, headers: [.contentType: "application/json"],
            body: ByteBuffer(string: #"{"code": 4040001, "requests": 1}"#)
        ) { $0.status.code }
        #expect(fault == 200)
        #expect(try await status() == 404)
        #expect(try await status() == 200)
    }
}

@Test func `the control interface returns the artifacts that it is asked for, even of a name with a space`()
    async throws
{
    try await withControl(customers: ["Ada Lovelace", "Eve"]) { store, send in
        for (shows, keys) in [
            ("", ["appTransaction", "receipt", "transactions"]),
            ("?shows=appTransaction", ["appTransaction", "transactions"]), ("?shows=receipt", ["receipt"]),
            ("?shows=both", ["appTransaction", "receipt", "transactions"]), ("?shows=nothing", []),
        ] {
            let answer = try await send(.get, "customers/Ada%20Lovelace" + shows, "")
            let object = try parsed(answer.body)
            let found = ["appTransaction", "receipt", "transactions"].filter { object[$0] != nil }
            #expect(answer.status == 200 && found == keys, "\(shows)")
            #expect(object.text("customer") == "Ada Lovelace")
            let state = await store.state
            #expect(object.text("appTransactionId") == state.id(of: state.acquisitions[0]))
            let device = state.accounts[0].devices[0].uuidString.lowercased()
            #expect(object.text("deviceVerificationID") == device)
        }
        // A customer without the app has a device, but nothing to show.
        let eve = try await send(.get, "customers/Eve", "")
        let object = try parsed(eve.body)
        #expect(object.members.map(\.name) == ["customer", "deviceVerificationID", "transactions", "renewalInfos"])
    }
}

@Test func `only the payer's transaction in production has an order ID in the control interface's answer`()
    async throws
{
    for environment in [AppStoreEnvironment.production, .sandbox] {
        var state = Shop.state(environment, at: "2026-01-10T12:00:00Z")
        for name in ["Ada", "Byron"] {
            try state.addCustomer(name, family: "Lovelace")
            try state.acquire(name)
        }
        let store = LocalAppStore(state, signer: Shop.signer) { _, _, _ in .success }
        let application = await AppStoreServer(store: store, key: try ServerAPIKey(seed: "kept"), port: 0).application()
        try await application.test(.router) { client in
            func perform(_ words: String) async throws -> [JSONObject] {
                let body = #"{\#(words),"customer":"Ada","product":"\#(Shop.everything)"}"#
                let text = try await client.execute(
                    uri: "/control/operations", method: .post, headers: [.contentType: "application/json"],
                    body: ByteBuffer(string: body)
                ) { String(buffer: $0.body) }
                return try parsed(text).objects("notifications")
            }
            let bought = try await perform(#""operation":"buy""#)
            #expect(bought.map { $0.text("orderId") } == [environment.isProduction ? "M000000000" : nil])
            let shared = try await perform(#""operation":"share""#)
            #expect(shared.map { $0.text("orderId") } == [nil])
            let id = try #require(shared.first?.text("transactionId"))
            #expect(id.count == (environment.isProduction ? 15 : 16))
            #expect(String(id.prefix(1)) == (environment.isProduction ? "4" : "2"))
            let state = await store.state
            #expect(id == state.id(of: state.transactions[1]))
        }
    }
}
