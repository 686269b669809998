import Foundation
import ServiceLifecycle
import TenureAppStore
import TenureCore
package import TenureJSON
import TenureMint

/// Answers the requests of this package's module `StoreKit`. On Linux, that module plays the customer's device.
package struct DeviceInterface: Sendable {
    let store: LocalAppStore

    package init(store: LocalAppStore) { self.store = store }

    /// Answers a request. `body` has the parameters of this kind of request.
    package func answer(_ kind: DeviceRequestKind, _ body: JSONObject) async throws(DeviceRefusal) -> JSONObject {
        do {
            return switch kind {
            case .contents: try await contents(DeviceRequest(body, store))
            case .changes: try await changes(body)
            case .appTransaction: try await appTransaction(DeviceRequest(body, store))
            case .receipt: try await receipt(DeviceRequest(body, store))
            case .products: try await DeviceRequest(body, store).products(of: store.state)
            case .purchase: try await purchase(DeviceRequest(body, store))
            case .finish: try await finish(DeviceRequest(body, store))
            case .roots: ["roots": .array(try store.signer.authority.anchors.certificates.map { Self.base64($0.der) })]
            case .now: ["now": .string(await store.state.now.rfc3339)]
            case .operations: try await performOperations(body)
            }
        } catch {
            throw DeviceRefusal(error)
        }
    }

    /// Returns bytes as a JSON string in Base64.
    static func base64(_ bytes: [UInt8]) -> JSONValue { .string(Base64.standard.text(bytes)) }

    private func contents(_ request: DeviceRequest) async throws -> JSONObject {
        let (change, state) = await store.changedState
        return try request.contents(of: state, at: change, signer: store.signer)
    }

    /// Waits until the store has changed more than `after` times, or until `seconds` have passed, and returns the
    /// number of changes. Both are fields of `body`. Without `seconds`, there is no time limit.
    private func changes(_ body: JSONObject) async throws -> JSONObject {
        let last = body.integer("after") ?? 0
        guard let seconds = body.integer("seconds") else {
            return ["change": .integer(Int64(await store.change(after: last)))]
        }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = await store.change(after: last) }
            group.addTask { try await Task.sleep(for: .seconds(max(1, min(seconds, 60)))) }
            // A device that waits for a change doesn't delay the shutdown of the store.
            group.addTask { try? await gracefulShutdown() }
            try await group.next()
            group.cancelAll()
            return ["change": .integer(Int64(await store.changeCount))]
        }
    }

    private func appTransaction(_ request: DeviceRequest) async throws -> JSONObject {
        let state = await store.state
        let acquisition = try request.acquisition(in: state)
        return [
            "appTransaction": .string(
                try store.signer.appTransaction(acquisition, in: state, for: .device(try request.device)))
        ]
    }

    private func receipt(_ request: DeviceRequest) async throws -> JSONObject {
        let state = await store.state
        let receipt = try store.signer.receipt(
            of: try request.acquisition(in: state), in: state, device: try request.device)
        return ["receipt": Self.base64(receipt), "environment": .string(state.environment.rawValue)]
    }

    private func finish(_ request: DeviceRequest) async throws -> JSONObject {
        guard let id = request.body.text("transaction") else {
            throw DeviceRefusal(.badRequest, "`transaction` must be the ID of a transaction")
        }
        // Finishing a transaction again has no effect.
        if let transaction = await store.state.transaction(id), !transaction.isFinished {
            try await store.perform(AppStoreOperation(.finish, [.transaction: id]))
        }
        return [:]
    }

    private func performOperations(_ body: JSONObject) async throws -> JSONObject {
        guard case .array(let elements)? = body["operations"] else {
            throw DeviceRefusal(.badRequest, "`operations` must be a list of operations")
        }
        var operations: [AppStoreOperation] = []
        for element in elements {
            guard case .object(let object) = element else {
                throw OperationMistake("an operation must be a JSON object")
            }
            operations.append(try AppStoreOperation(object.withDefaultCustomer(body["customer"])))
        }
        try await store.perform(operations)
        return ["now": .string(await store.state.now.rfc3339)]
    }
}

extension JSONObject {
    /// Returns this operation for `customer`, if the operation needs a customer and names none. Returns any other
    /// operation unchanged.
    fileprivate func withDefaultCustomer(_ customer: JSONValue?) -> JSONObject {
        guard self["customer"] == nil,
            AppStoreOperation.Kind(rawValue: text("operation") ?? "")?.concernsCustomer == true
        else { return self }
        var object = self
        object["customer"] = customer
        return object
    }
}
