public import StoreKit
import TenureCore

/// Buys products, and processes purchases that the app made with StoreKit itself.
extension Tenure {
    /// How a purchase ended. Failures are thrown instead.
    public enum PurchaseResult: Sendable {
        /// The transaction is verified and recorded (stored on this device), and the customer has the entitlements that
        /// it grants.
        ///
        /// Tenure finishes the transaction as `Options.finishing` says. The app itself finishes transactions of
        /// consumables, and of products that are neither in the policy nor in the service's list of products.
        case purchased(Transaction, Customer)
        /// The purchase waits for approval, such as a parent's. When it is approved, `updates` yields the change.
        case pending
        /// The customer closed the sheet, which isn't an error.
        case userCancelled
    }

    // On visionOS, use `purchase(_:using:options:)` or `purchase(_:confirmIn:options:)`.
    #if !os(visionOS)
        /// Purchases a product: verifies and records the transaction, updates the customer's entitlements, and
        /// finishes the transaction according to `Options.finishing`.
        ///
        /// If the service doesn't respond, this purchase grants what the app's policy or the stored copy of the
        /// service's list of products says.
        ///
        /// - Parameter options: passed to StoreKit unchanged. Tenure never adds an `appAccountToken`.
        /// - Throws: StoreKit's own errors. `Error.unverified` if StoreKit couldn't verify the transaction, which then
        ///   stays unfinished. `Error.purchasesUnavailable` in an extension, and if the app isn't from the App Store,
        ///   TestFlight or Xcode.
        @MainActor
        public func purchase(
            _ product: Product, options: Set<Product.PurchaseOption> = []
        ) async throws -> PurchaseResult {
            try await purchase { try await product.purchase(options: options) }
        }
    #endif

    /// Buys a product by calling `perform`, and processes the result.
    @MainActor
    func purchase(_ perform: @MainActor () async throws -> Product.PurchaseResult) async throws -> PurchaseResult {
        try await engine.preparePurchase()
        do {
            return try await process(perform())
        } catch StoreKitError.userCancelled {
            return .userCancelled
        }
    }

    /// Processes the result of a purchase that the app made with StoreKit itself: verifies and records the transaction,
    /// updates the customer's entitlements, and finishes the transaction according to `Options.finishing`.
    ///
    /// - Throws: `Error.unverified` if StoreKit couldn't verify the transaction, which then stays unfinished.
    public func process(_ result: Product.PurchaseResult) async throws -> PurchaseResult {
        switch result {
        case .success(let transaction): return try await process(transaction)
        case .pending: return .pending
        case .userCancelled: return .userCancelled
        @unknown default: return .pending
        }
    }

    /// Processes the result that StoreKit's views pass to `onInAppPurchaseCompletion`.
    ///
    /// - Throws: the error of the result; `Error.unverified` if StoreKit couldn't verify the transaction, which then
    ///   stays unfinished.
    public func process(_ result: Result<Product.PurchaseResult, any Swift.Error>) async throws -> PurchaseResult {
        do {
            return try await process(try result.get())
        } catch StoreKitError.userCancelled {
            return .userCancelled
        }
    }

    /// Processes a transaction that the app got from StoreKit itself, in the same way as a purchase.
    ///
    /// - Throws: `Error.unverified` if StoreKit couldn't verify the transaction, which then stays unfinished.
    public func process(_ result: VerificationResult<Transaction>) async throws -> PurchaseResult {
        switch StoreKitAccess.result(result) {
        case .unverified(let reason): throw Tenure.Error.unverified(reason)
        case .verified(let transaction):
            await engine.process(transaction)
            return .purchased(result.unsafePayloadValue, state.customer)
        }
    }

    /// Tells Tenure that the app has delivered what the customer bought: it has credited the consumable, or unpacked
    /// the content. Tenure finishes the transaction as soon as the transaction is recorded: see
    /// `Options.Finishing.whenRecorded`.
    public func contentArrived(for transaction: Transaction) async {
        await engine.contentArrived(ofPurchase: String(transaction.originalID), transaction: String(transaction.id))
    }

    /// Tells Tenure that the app has delivered the content of a product, for which `Options.Finishing.afterContent`
    /// waits. Tenure finishes the product's current transactions, and later transactions of the same subscription. It
    /// doesn't finish consumables: for a consumable, pass its transaction.
    public func contentArrived(for productID: String) async { await engine.contentArrived(forProduct: productID) }
}
