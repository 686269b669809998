import Foundation
import HTTPTypes
import Hummingbird
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint

/// The HTTP endpoints with which tests and `tenure local-store` control a local App Store. They need no key, so the
/// server is reachable only from this machine.
///
/// - `GET /control/state` returns the time and the numbers of customers, transactions and notifications.
/// - `POST /control/operations` performs one operation or a list.
/// - `GET /control/customers/{name}` returns the signed artifacts on the customer's first device, such as the receipt.
/// - `POST /control/device/{kind}` answers Tenure's module `StoreKit` for Linux.
/// - `POST /control/fault` makes the next requests to the App Store Server API fail.
struct ControlInterface: Sendable {
    let store: LocalAppStore
    /// The errors that the App Store Server API of the same server returns.
    let fault: Fault

    func add(to router: Router<BasicRequestContext>) {
        let control = router.group("control")
        control.get("state") { _, _ in Response.json(await state()) }
        control.post("operations") { request, _ in try await performOperations(request) }
        control.post("device/{kind}") { request, context in
            try await answerDevice(request, context.parameters.get("kind") ?? "")
        }
        control.post("fault") { request, _ in try await injectFault(request) }
        control.get("customers/{name}") { request, context in
            let name = context.parameters.get("name").flatMap { $0.removingPercentEncoding } ?? ""
            return await customer(name, shows: request.uri.queryParameters["shows"].map(String.init))
        }
    }

    private func state() async -> JSONObject {
        let state = await store.state
        return [
            "seed": .string(state.seed), "environment": .string(state.environment.rawValue),
            "now": .string(state.now.rfc3339), "apps": .array(state.apps.map { .string($0.bundleID) }),
            "customers": .integer(Int64(state.accounts.count)),
            "transactions": .integer(Int64(state.transactions.count)),
            "notifications": .integer(Int64(state.notifications.count)), "network": .string(state.network.rawValue),
        ]
    }

    /// Performs operations. Accepts only JSON, because any web page in the user's browser could send a form to
    /// this endpoint.
    private func performOperations(_ request: Request) async throws -> Response {
        guard request.isJSON else { return Self.notJSON }
        do {
            let bytes = Array(try await request.body.collect(upTo: 1 << 24).readableBytesView)
            let operations: [AppStoreOperation]
            switch try JSONValue(parsing: bytes) {
            case .object(let object): operations = [try AppStoreOperation(object)]
            case .array(let elements): operations = try AppStoreOperation.list(elements)
            default: throw OperationMistake("the body must be one operation, or a list of operations")
            }
            let caused = try await store.perform(operations)
            let state = await store.state
            let notifications = caused.map { notification -> JSONValue in
                let transaction = notification.transaction
                // Transactions of family members and of the sandbox have no order ID.
                let hasOrderID = state.environment.isProduction && transaction?.isFamilyShared == false
                var object = JSONObject()
                object.add([
                    "type": .string(notification.type.rawValue),
                    "subtype": (notification.subtype?.rawValue).map(JSONValue.string),
                    "date": .string(notification.date.rfc3339),
                    "transactionId": transaction.map { .string(state.id(of: $0)) },
                    "orderId": hasOrderID ? transaction.map { JSONValue.string(state.orderID(of: $0)) } : nil,
                ])
                return .object(object)
            }
            return .json(["now": .string(state.now.rfc3339), "notifications": .array(notifications)])
        } catch let error as JSONError {
            return Self.refusal("the body is \(error)", .badRequest)
        } catch let error as OperationMistake {
            return Self.refusal(error.description, .badRequest)
        } catch let error as AppStoreStateError {
            return Self.refusal(error.description, .conflict)
        } catch let error as JournalError {
            return Self.refusal(error.description, .internalServerError)
        }
    }

    /// Answers a request of Tenure's module `StoreKit` for Linux. `name` is the raw value of a `DeviceRequestKind`.
    private func answerDevice(_ request: Request, _ name: String) async throws -> Response {
        guard request.isJSON else { return Self.notJSON }
        guard let kind = DeviceRequestKind(rawValue: name) else {
            let names = DeviceRequestKind.allCases.map(\.rawValue).joined(separator: ", ")
            return Self.refusal("there is no device request `\(name)`; the requests are \(names)", .notFound)
        }
        let bytes = Array(try await request.body.collect(upTo: 1 << 20).readableBytesView)
        guard case .object(let body)? = try? JSONValue(parsing: bytes) else {
            return Self.refusal("the body must be a JSON object", .badRequest)
        }
        do throws(DeviceRefusal) {
            return .json(try await DeviceInterface(store: store).answer(kind, body))
        } catch {
            return .json(
                ["error": .string(error.description), "code": .string(error.code.rawValue)], status: .conflict)
        }
    }

    /// Makes the next requests to the App Store Server API fail with an error.
    private func injectFault(_ request: Request) async throws -> Response {
        guard request.isJSON else { return Self.notJSON }
        let bytes = Array(try await request.body.collect(upTo: 1 << 10).readableBytesView)
        guard case .object(let body)? = try? JSONValue(parsing: bytes),
            let error = body.integer("code").flatMap(ServerAPIError.init(rawValue:)),
            let requests = body.integer("requests", in: 0...1_000_000)
        else {
            return Self.refusal(
                "`code` must be an error code of the App Store Server API, and `requests` a number up to 1000000, such as `{\"code\": 5000001, \"requests\": 3}`",
                .badRequest)
        }
        await fault.inject(error, requests: requests)
        return .json([
            "code": .integer(Int64(error.rawValue)), "message": .string(error.message),
            "requests": .integer(Int64(requests)),
        ])
    }

    /// Returns the signed artifacts that the customer's first device has now.
    ///
    /// - Parameter shows: which artifacts: the raw value of a `Scenario.Showing`. Nil for all.
    private func customer(_ name: String, shows: String?) async -> Response {
        // Nil if `shows` isn't a known value.
        let showing = shows.map { Scenario.Showing(rawValue: $0) } ?? .both
        guard let showing else {
            return Self.refusal("`shows` must be appTransaction, receipt, both or nothing", .badRequest)
        }
        do {
            let device = try await store.artifacts(of: name, showing: showing)
            var object = JSONObject()
            object.add([
                "customer": .string(name),
                "deviceVerificationID": .string(device.deviceVerificationID.uuidString.lowercased()),
                "appTransactionId": device.appTransactionID.map(JSONValue.string),
                "appTransaction": device.appTransaction.map(JSONValue.string),
                "receipt": device.receipt.map { .string(Base64.standard.text($0)) },
                "transactions": device.transactions.map { .array($0.map(JSONValue.string)) },
                "renewalInfos": .array(device.renewalInfos.map(JSONValue.string)),
            ])
            return .json(object)
        } catch let error as AppStoreStateError {
            return Self.refusal(error.description, .notFound)
        } catch {
            return Self.refusal("the artifacts of `\(name)` can't be signed: \(error)", .internalServerError)
        }
    }

    private static var notJSON: Response {
        refusal("the body must be JSON; send it with `Content-Type: application/json`", .unsupportedMediaType)
    }

    private static func refusal(_ detail: String, _ status: HTTPResponse.Status) -> Response {
        .json(["error": .string(detail)], status: status)
    }
}

extension Request {
    fileprivate var isJSON: Bool { headers[.contentType]?.lowercased().hasPrefix("application/json") == true }
}
