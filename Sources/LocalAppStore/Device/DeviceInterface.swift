import Foundation
import ServiceLifecycle
import TenureAppStore
import TenureCore
package import TenureJSON
import TenureMint

/// Answers the requests of Tenure's module `StoreKit` for Linux, which plays the customer's device
/// (`DeviceRequestKind`).
package struct DeviceInterface: Sendable {
    let store: LocalAppStore

    package init(store: LocalAppStore) { self.store = store }

    /// Answers a request. `body` has the parameters of this kind of request.
    package func answer(_ kind: DeviceRequestKind, _ body: JSONObject) async throws(DeviceRefusal) -> JSONObject {
        do {
            return switch kind {
            case .contents: try await DeviceRequest(body, store).contents()
            case .changes: try await changes(body)
            case .appTransaction: try await DeviceRequest(body, store).appTransaction
            case .receipt: try await DeviceRequest(body, store).receipt
            case .products: try await DeviceRequest(body, store).products()
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

    static func base64(_ bytes: [UInt8]) -> JSONValue { .string(Base64.standard.text(bytes)) }

    /// Returns the number of the store's changes, once it exceeds `after` in the body. If the body has `seconds`,
    /// waits at most that long.
    private func changes(_ body: JSONObject) async throws -> JSONObject {
        let lastChange = body.integer("after") ?? 0
        guard let seconds = body.integer("seconds") else {
            return ["change": .integer(Int64(await store.change(after: lastChange)))]
        }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = await store.change(after: lastChange) }
            group.addTask { try await Task.sleep(for: .seconds(max(1, min(seconds, 60)))) }
            // A device that waits for a change doesn't delay the shutdown of the store.
            group.addTask { try? await gracefulShutdown() }
            try await group.next()
            group.cancelAll()
            return ["change": .integer(Int64(await store.changeCount))]
        }
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
        try await store.perform(AppStoreOperation.list(elements, customer: body["customer"]))
        return ["now": .string(await store.state.now.rfc3339)]
    }

    /// Buys a product as the App Store's payment sheet does. If the customer already owns a non-consumable, the
    /// response is the earlier transaction, and nothing is charged. Buying another product of a group with a running
    /// subscription changes the plan.
    func purchase(_ request: DeviceRequest) async throws -> JSONObject {
        guard let product = request.body.text("product") else {
            throw DeviceRefusal(.badRequest, "`product` must be the ID of a product")
        }
        // The response is signed for the device. Refuse a request without a device before the customer is charged.
        _ = try request.device
        let state = request.state
        let index = try state.productIndex(product)
        guard state.app(ofProduct: index) == request.app else { throw AppStoreStateError.noProduct(product) }
        if state.products[index].type == .nonConsumable,
            let owned = state.accounts[request.account].transactions.map({ state.transactions[$0] })
                .last(where: { $0.product == index && $0.revocation == nil && !$0.isFamilyShared })
        {
            return try answer(owned, in: state, request)
        }
        var parameters: [AppStoreOperation.Parameter: String] = [
            .customer: state.accounts[request.account].name, .product: product,
        ]
        parameters[.offer] = request.body.text("offer")
        if let running = state.subscription(of: request.account, inGroupOf: index), running.isRunning,
            state.products[index].type == .autoRenewable
        {
            try await changePlan(running, to: index, parameters)
        } else {
            parameters[.quantity] = request.body.integer("quantity").map(String.init)
            parameters[.appAccountToken] = request.body.text("appAccountToken")
            try await store.perform(AppStoreOperation(.buy, parameters))
        }
        return try await answer(product, request)
    }

    /// Performs the operation that changes the running subscription to `product`: `keepPlan`, `upgrade` or `downgrade`.
    /// If the subscription already renews as `product` and no offer is named, does nothing.
    private func changePlan(
        _ running: Subscription, to product: Int, _ parameters: [AppStoreOperation.Parameter: String]
    ) async throws {
        if running.product == product {
            guard running.renewsAs != product || parameters[.offer] != nil else { return }
            try await store.perform(AppStoreOperation(.keepPlan, parameters))
        } else {
            do {
                try await store.perform(AppStoreOperation(.upgrade, parameters))
            } catch AppStoreStateError.wrongState {
                // The product's level isn't higher.
                try await store.perform(AppStoreOperation(.downgrade, parameters))
            }
        }
    }

    /// Returns the response with the customer's current transaction of a product. For a subscription, that is the
    /// transaction of the current period: a downgrade begins only at the next renewal.
    private func answer(_ product: String, _ request: DeviceRequest) async throws -> JSONObject {
        let state = await store.state
        let index = try state.productIndex(product)
        if state.products[index].type == .autoRenewable,
            let subscription = state.subscription(of: request.account, inGroupOf: index)
        {
            return try answer(state.transactions[subscription.currentTransaction], in: state, request)
        }
        let transactions = state.accounts[request.account].transactions.map { state.transactions[$0] }
        guard let bought = transactions.last(where: { $0.product == index }) else {
            throw DeviceRefusal(.impossible, "the customer never bought `\(product)`; buy it first")
        }
        return try answer(bought, in: state, request)
    }

    /// Returns the response with a signed transaction.
    private func answer(
        _ transaction: AppStoreTransaction, in state: AppStoreState, _ request: DeviceRequest
    ) throws -> JSONObject {
        let jws = try store.signer.transaction(transaction, in: state, for: .device(try request.device))
        return ["transaction": .string(jws), "isFinished": .boolean(transaction.isFinished)]
    }
}

/// A request to `DeviceInterface`, with the customer and the app that the request is about.
struct DeviceRequest: Sendable {
    let body: JSONObject
    // The number of changes of the local App Store when the request arrived, and its state then.
    let change: Int
    let state: AppStoreState
    let signer: AppStoreSigner
    // The indexes of the customer and the app in the lists of `AppStoreState`.
    let account: Int
    let app: Int

    /// Finds the customer and the app that `body` names, or else the only customer and the only app. Throws if there is
    /// no such customer or app.
    init(_ body: JSONObject, _ store: LocalAppStore) async throws {
        (change, state) = await store.changedState
        signer = store.signer
        self.body = body
        if let name = body.text("customer") {
            account = try state.accountIndex(name)
        } else {
            guard state.accounts.count == 1 else {
                throw DeviceRefusal(
                    .badRequest,
                    "the local App Store doesn't have exactly one customer; name a customer with `customer`, or in the environment variable TENURE_LOCAL_STORE_CUSTOMER"
                )
            }
            account = 0
        }
        app = try state.appIndex(body.text("app"))
    }

    /// The ID of the device for which artifacts are signed. Throws if the request has no valid `device`.
    var device: UUID {
        get throws {
            guard let device = body.text("device").flatMap(UUID.init(uuidString:)) else {
                throw DeviceRefusal(.badRequest, "`device` must be the UUID of a device")
            }
            return device
        }
    }

    /// The customer's acquisition of the app. Throws if the customer doesn't have the app.
    private var acquisition: AppStoreAcquisition {
        get throws { try state.acquisition(by: state.accounts[account].name, app: state.apps[app].bundleID) }
    }

    /// The response to a request `appTransaction`.
    var appTransaction: JSONObject {
        get throws {
            let jws = try signer.appTransaction(try acquisition, in: state, for: .device(try device))
            return ["appTransaction": .string(jws)]
        }
    }

    /// The response to a request `receipt`.
    var receipt: JSONObject {
        get throws {
            let receipt = try signer.receipt(of: try acquisition, in: state, device: try device)
            return ["receipt": DeviceInterface.base64(receipt), "environment": .string(state.environment.rawValue)]
        }
    }

    /// Returns the response to a request `products`. Leaves out unknown products, and products that can't be bought
    /// now.
    func products() throws -> JSONObject {
        guard case .array? = body["ids"] else {
            throw DeviceRefusal(.badRequest, "`ids` must be a list of product IDs")
        }
        let storefront = state.accounts[account].storefront
        let products = body.texts("ids").compactMap { try? state.productIndex($0) }
            .filter { state.app(ofProduct: $0) == app && state.products[$0].isOnSale }
            .map { JSONValue.object(state.products[$0].json(in: storefront, groupID: state.groupID(ofProduct: $0))) }
        return ["products": .array(products)]
    }

    /// Returns the response to a request `contents`: everything that the App Store knows about the customer in this
    /// app. The device waits for the next change with `change`.
    func contents() throws -> JSONObject {
        let device = AppStoreSigner.Recipient.device(try device)
        let customer = state.accounts[account]
        let acquisition = state.acquisition(of: account, app: app)
        let version = acquisition.map { $0.installedRelease.reportedVersion(on: $0.installedPlatform) }
        var contents: JSONObject = [
            "change": .integer(Int64(change)), "now": .string(state.now.rfc3339),
            "environment": .string(state.environment.rawValue), "customer": .string(customer.name),
            "bundleID": .string(state.apps[app].bundleID), "appAppleID": .integer(state.apps[app].appAppleID),
            "storefront": .object(customer.storefront.json),
        ]
        contents["appTransactionID"] = acquisition.map { .string(state.id(of: $0)) }
        contents["appVersion"] = version.map(JSONValue.string)
        contents["transactions"] = .array(
            try customer.transactions.map { state.transactions[$0] }.filter { $0.app == app }.map { transaction in
                .object([
                    "jws": .string(try signer.transaction(transaction, in: state, for: device)),
                    "isFinished": .boolean(transaction.isFinished),
                ])
            })
        contents["subscriptions"] = .array(
            try customer.subscriptions.map { state.subscriptions[$0] }.filter { $0.app == app }.map { subscription in
                let current = state.transactions[subscription.currentTransaction]
                return .object([
                    "group": .string(state.groupID(subscription.group, of: app)),
                    "status": .integer(subscription.status.rawValue),
                    "isFamilyShared": .boolean(subscription.sharedFrom != nil),
                    "transaction": .string(try signer.transaction(current, in: state, for: device)),
                    "renewalInfo": .string(try signer.renewalInfo(subscription, in: state, for: device)),
                ])
            })
        return contents
    }
}

extension AppStoreProduct {
    /// The product as the response to a request `products` contains it.
    fileprivate func json(in storefront: Storefront, groupID: String?) -> JSONObject {
        var json: JSONObject = [
            "id": .string(id), "type": .string(type.rawValue), "price": .integer(price(in: storefront)),
            "currency": .string(storefront.currency), "storefront": .string(storefront.code),
            "isFamilyShareable": .boolean(isFamilyShareable),
        ]
        guard type == .autoRenewable else { return json }
        json["group"] = groupID.map(JSONValue.string)
        json["level"] = .integer(Int64(level))
        json["period"] = (period?.iso8601).map(JSONValue.string)
        json["offers"] = .array(
            offers.map { offer in
                var json: JSONObject = [
                    "type": .integer(offer.type.rawValue), "discount": .string(offer.discount.rawValue),
                    "period": .string(offer.period.iso8601), "count": .integer(Int64(offer.count)),
                    "price": .integer(offer.price),
                ]
                json["id"] = offer.id.map(JSONValue.string)
                return .object(json)
            })
        return json
    }
}

extension Storefront {
    fileprivate var json: JSONObject { ["code": .string(code), "id": .string(id), "currency": .string(currency)] }
}
