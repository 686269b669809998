import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint

extension Asker {
    /// Products on sale. Unknown products, and those that can't be bought now, are left out.
    func products(of world: World) throws -> JSONObject {
        guard case .array(let ids)? = body["ids"] else {
            throw DeviceRefusal(.badRequest, "`ids` must be a list of product IDs")
        }
        let storefront = world.accounts[account].storefront
        var products: [JSONValue] = []
        for case .string(let id) in ids {
            guard let place = try? world.productPlace(id), world.app(ofProduct: place) == app,
                world.products[place].isOnSale
            else { continue }
            products.append(.object(world.products[place].json(in: storefront)))
        }
        return ["products": .array(products)]
    }
}

extension StoreProduct {
    fileprivate func json(in storefront: Storefront) -> JSONObject {
        var json: JSONObject = [
            "id": .string(id), "type": .string(type.rawValue), "price": .integer(price(in: storefront)),
            "currency": .string(storefront.currency), "storefront": .string(storefront.code),
            "isFamilyShareable": .boolean(isFamilyShareable),
        ]
        guard type == .autoRenewable else { return json }
        json["group"] = group.map(JSONValue.string)
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
    /// Buys like the App Store's sheet. A customer already has what they own permanently. Buying another product of a
    /// group with a running subscription changes the plan.
    func purchase(_ asker: Asker) async throws -> JSONObject {
        guard let product = asker.body.text("product") else {
            throw DeviceRefusal(.badRequest, "`product` must be the ID of a product")
        }
        let world = await store.world
        let place = try world.productPlace(product)
        guard world.app(ofProduct: place) == asker.app else { throw WorldError.noProduct(product) }
        if world.products[place].type == .nonConsumable,
            let owned = world.accounts[asker.account].transactions.map({ world.transactions[$0] })
                .last(where: { $0.product == place && $0.revocation == nil && !$0.isFamilyShared })
        {
            return try answer(owned, in: world, asker)
        }
        var particulars: [Particular: String] = [
            .customer: world.accounts[asker.account].name, .product: product,
        ]
        particulars[.offer] = asker.body.text("offer")
        if let running = world.subscription(of: asker.account, group: world.products[place].group), running.isRunning,
            world.products[place].type == .autoRenewable
        {
            try await changePlan(running, to: place, particulars, in: world)
        } else {
            particulars[.quantity] = asker.body.integer("quantity").map(String.init)
            particulars[.appAccountToken] = asker.body.text("appAccountToken")
            try await store.perform(Act(.buy, particulars))
        }
        return try await answer(product, asker)
    }

    private func changePlan(
        _ running: Subscription, to product: Int, _ particulars: [Particular: String], in world: World
    ) async throws {
        // The customer already has the running subscription.
        if running.product == product, running.renewsAs == product, particulars[.offer] == nil { return }
        if running.product == product {
            try await store.perform(Act(.keepPlan, particulars))
            return
        }
        do {
            try await store.perform(Act(.upgrade, particulars))
        } catch WorldError.unfit {
            try await store.perform(Act(.downgrade, particulars))
        }
    }

    /// The current transaction. For a subscription, that of the running period, which a downgrade doesn't change.
    private func answer(_ product: String, _ asker: Asker) async throws -> JSONObject {
        let world = await store.world
        let place = try world.productPlace(product)
        if world.products[place].type == .autoRenewable,
            let subscription = world.subscription(of: asker.account, group: world.products[place].group)
        {
            return try answer(world.transactions[subscription.current], in: world, asker)
        }
        guard
            let bought = world.accounts[asker.account].transactions.last(where: {
                world.transactions[$0].product == place
            })
        else { throw DeviceRefusal(.impossible, "nothing was bought") }
        return try answer(world.transactions[bought], in: world, asker)
    }

    private func answer(_ transaction: StoreTransaction, in world: World, _ asker: Asker) throws -> JSONObject {
        let jws = try store.signer.transaction(transaction, in: world, for: .device(try asker.device))
        return ["transaction": .string(jws), "isFinished": .boolean(transaction.isFinished)]
    }
}
