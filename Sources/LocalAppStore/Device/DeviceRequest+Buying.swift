import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint

extension DeviceRequest {
    /// Returns the requested products that are on sale. Unknown products, and products that can't be bought now, are
    /// left out.
    func products(of state: AppStoreState) throws -> JSONObject {
        guard case .array(let ids)? = body["ids"] else {
            throw DeviceRefusal(.badRequest, "`ids` must be a list of product IDs")
        }
        let storefront = state.accounts[account].storefront
        var products: [JSONValue] = []
        for case .string(let id) in ids {
            guard let index = try? state.productIndex(id), state.app(ofProduct: index) == app,
                state.products[index].isOnSale
            else { continue }
            products.append(
                .object(state.products[index].json(in: storefront, groupID: state.groupID(ofProduct: index))))
        }
        return ["products": .array(products)]
    }
}

extension AppStoreProduct {
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

extension DeviceInterface {
    /// Buys a product as the App Store's payment sheet does. If the customer already owns a non-consumable, the
    /// response is the earlier transaction, and nothing is charged. Buying another product of a group with a running
    /// subscription changes the plan.
    func purchase(_ request: DeviceRequest) async throws -> JSONObject {
        guard let product = request.body.text("product") else {
            throw DeviceRefusal(.badRequest, "`product` must be the ID of a product")
        }
        let state = await store.state
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
            try await changePlan(running, to: index, parameters, in: state)
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
        _ running: Subscription, to product: Int, _ parameters: [AppStoreOperation.Parameter: String],
        in state: AppStoreState
    ) async throws {
        if running.product == product, running.renewsAs == product, parameters[.offer] == nil { return }
        if running.product == product {
            try await store.perform(AppStoreOperation(.keepPlan, parameters))
            return
        }
        do {
            try await store.perform(AppStoreOperation(.upgrade, parameters))
        } catch AppStoreStateError.wrongState {
            // The product's level isn't higher.
            try await store.perform(AppStoreOperation(.downgrade, parameters))
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
        guard
            let bought = state.accounts[request.account].transactions.last(where: {
                state.transactions[$0].product == index
            })
        else { throw DeviceRefusal(.impossible, "the customer never bought `\(product)`; buy it first") }
        return try answer(state.transactions[bought], in: state, request)
    }

    /// Returns the response with a signed transaction.
    private func answer(_ transaction: AppStoreTransaction, in state: AppStoreState, _ request: DeviceRequest) throws
        -> JSONObject
    {
        let jws = try store.signer.transaction(transaction, in: state, for: .device(try request.device))
        return ["transaction": .string(jws), "isFinished": .boolean(transaction.isFinished)]
    }
}
