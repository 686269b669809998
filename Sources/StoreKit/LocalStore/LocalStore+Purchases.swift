import Synchronization
import TenureJSON

/// The products on sale, and purchases. A test sets `LocalStore.Behavior.purchases` to choose how purchases end.
extension LocalStore {
    /// Returns the products with these IDs that are on sale.
    func products(_ ids: [String]) async throws(StoreKitError) -> [Product] {
        _ = try await applyBehavior(\.products)
        let answer = try await send(.products, ["ids": .array(ids.map(JSONValue.string))])
        return answer.objects("products").compactMap(Product.init)
    }

    /// Buys a product. The purchase ends as the test has set it in `LocalStore.Behavior.purchases`. Throws a
    /// `StoreKitError` or a `Product.PurchaseError`.
    func purchase(_ product: Product, _ options: Set<Product.PurchaseOption>) async throws -> Product.PurchaseResult {
        guard behavior.canMakePayments else { throw Product.PurchaseError.purchaseNotAllowed }
        let parameters = try parameters(of: product, options)
        var flaw: Flaw?
        // While the behavior is `hangs`, the loop waits for another behavior.
        answering: while true {
            switch behavior.purchases {
            case .completes: break answering
            case .isCancelled: return .userCancelled
            case .waitsForApproval: return wait(for: parameters)
            case .fails(let error): throw error
            case .hangs: await hang { if case .hangs = $0.purchases { true } else { false } }
            case .unverified(let wanted):
                flaw = wanted
                break answering
            }
        }
        if options.contains(.simulatesAskToBuyInSandbox(true)), try await contact().isSandbox {
            return wait(for: parameters)
        }
        return .success(try await buy(product.id, parameters, flaw))
    }

    /// Lets a purchase wait for a parent's approval.
    private func wait(for parameters: JSONObject) -> Product.PurchaseResult {
        state.withLock { $0.waitingPurchases.append(parameters) }
        return .pending
    }

    /// Returns the parameters of the request to buy a product, with the options of the purchase.
    private func parameters(
        of product: Product, _ options: Set<Product.PurchaseOption>
    ) throws(Product.PurchaseError) -> JSONObject {
        var parameters: JSONObject = ["product": .string(product.id)]
        for option in options {
            switch option.kind {
            case .appAccountToken(let token): parameters["appAccountToken"] = .string(token.uuidString.lowercased())
            case .quantity(let quantity):
                guard (1...10).contains(quantity),
                    quantity == 1 || product.type == .consumable || product.type == .nonRenewable
                else { throw .invalidQuantity }
                parameters["quantity"] = .number(String(quantity))
            case .promotionalOffer(let id), .winBackOffer(let id):
                guard let id else { throw .missingOfferParameters }
                parameters["offer"] = .string(id)
            case .askToBuy, .custom, .onStorefrontChange, .introductoryOfferEligibility: break
            }
        }
        return parameters
    }

    /// Sends the request to buy. With a flaw, which a test can set for purchases, the returned transaction is
    /// `.unverified`.
    private func buy(
        _ product: String, _ parameters: JSONObject, _ flaw: Flaw?
    ) async throws -> VerificationResult<Transaction> {
        // Creating the verifier needs the app and the trusted roots, so contact the App Store first.
        if state.withLock({ $0.verifier == nil }) { try await contact() }
        // Until the purchase ends, `Transaction.updates` doesn't deliver its transaction.
        state.withLock { $0.purchasesInProgress[product, default: 0] += 1 }
        defer { state.withLock { $0.purchasesInProgress[product, default: 1] -= 1 } }
        let answer: JSONObject
        do throws(ConnectionFailure) {
            answer = try await sendKeepingFailure(.purchase, parameters)
        } catch {
            switch error {
            case .refused(code: "notForSale", _): throw Product.PurchaseError.productUnavailable
            case .refused(code: "notEligible", _): throw Product.PurchaseError.ineligibleForOffer
            case .refused(code: "noOffer", _): throw Product.PurchaseError.invalidOfferIdentifier
            default: throw error.storeKitError
            }
        }
        guard let signed = answer.signedText("transaction"),
            let result: VerificationResult<Transaction> = check(signed, flaw)
        else { throw StoreKitError.unknown }
        state.withLock { _ = $0.boughtHere.insert(result.unsafePayloadValue.id) }
        // The product is bought even if the device can't get the App Store's next report now.
        _ = try? await contact()
        return result
    }

    /// A parent approves all waiting purchases. Their transactions arrive through `Transaction.updates`.
    /// Throws a `StoreKitError` or a `Product.PurchaseError` if a purchase isn't possible. The other purchases continue
    /// to wait.
    public func approvePurchases() async throws {
        // Remove each purchase before it is sent, so that two calls at the same time don't send it twice.
        while let parameters = state.withLock({ $0.waitingPurchases.isEmpty ? nil : $0.waitingPurchases.removeFirst() })
        {
            do {
                _ = try await send(.purchase, parameters)
            } catch {
                state.withLock { $0.waitingPurchases.insert(parameters, at: 0) }
                throw error
            }
        }
        try await contact()
    }

    /// A parent declines all waiting purchases. As with Apple's Ask to Buy, the app isn't notified.
    public func declinePurchases() { state.withLock { $0.waitingPurchases = [] } }
}
