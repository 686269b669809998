import Foundation
import Synchronization
import TenureAppStore
import TenureCore
import TenureJSON

/// Returns transactions and the statuses of subscriptions, and finishes transactions.
extension LocalStore {
    /// Returns the requested transactions with the results of their verification. Returns no transactions if the test
    /// has set `LocalStore.Behavior.transactions` to `fails`, or if the App Store was never reached.
    func transactions(_ selection: TransactionSelection) async -> [VerificationResult<Transaction>] {
        guard let (contents, flaw) = await contentsAndFlaw() else { return [] }
        let withAllConsumables =
            Bundle.main.infoDictionary?["SKIncludeConsumableInAppPurchaseHistory"] as? Bool ?? false
        return contents.selected(selection, at: await deviceTime(contents), withAllConsumables: withAllConsumables)
            .compactMap { check($0.signedText, flaw) }
    }

    /// Returns the statuses of all subscriptions. Empty if `statusesOrError` throws.
    func statuses() async -> [Product.SubscriptionInfo.Status] { (try? await statusesOrError()) ?? [] }

    /// Returns the statuses of all subscriptions. Throws if the test has set `LocalStore.Behavior.transactions` to
    /// `fails`, or if the App Store was never reached.
    func statusesOrError() async throws(StoreKitError) -> [Product.SubscriptionInfo.Status] {
        let flaw = try await applyBehavior(\.transactions)
        let contents: DeviceContents
        do throws(StoreKitError) {
            contents = try await contact()
        } catch {
            guard let known = state.withLock({ $0.contents }) else { throw error }
            contents = known
        }
        let now = await deviceTime(contents)
        return contents.subscriptions.compactMap { status($0, at: now, flaw) }
    }

    private func status(
        _ subscription: ReceivedSubscription, at now: Date, _ flaw: Flaw?
    ) -> Product.SubscriptionInfo.Status? {
        guard let transaction: VerificationResult<Transaction> = check(subscription.transaction.signedText, flaw),
            let renewalInfo: VerificationResult<Product.SubscriptionInfo.RenewalInfo> = check(
                subscription.renewalInfo.signedText, flaw)
        else { return nil }
        return .init(state: subscription.state(at: now), transaction: transaction, renewalInfo: renewalInfo)
    }

    /// Whether the customer never subscribed in the group. Subscriptions that the family shares are ignored. False if
    /// the test has set `LocalStore.Behavior.transactions` to `fails`, or if the App Store was never reached.
    func isEligibleForIntroOffer(_ group: String) async -> Bool {
        guard let (contents, _) = await contentsAndFlaw() else { return false }
        return !contents.subscriptions.contains { $0.group == group && !$0.isFamilyShared }
    }

    /// Returns what the App Store reports, and the flaw that its values must have, if any. Returns nil if the test has
    /// set `LocalStore.Behavior.transactions` to `fails`, or if the App Store was never reached.
    private func contentsAndFlaw() async -> (DeviceContents, Flaw?)? {
        do throws(StoreKitError) {
            let flaw = try await applyBehavior(\.transactions)
            return await knownContents().map { ($0, flaw) }
        } catch {
            return nil
        }
    }

    /// Waits for the next transaction of `Transaction.updates`, and verifies it. Returns nil if the task is canceled.
    func nextUpdate(_ cursor: inout ChangeLogCursor<Transaction>) async -> VerificationResult<Transaction>? {
        while let transaction = await next(of: \.transactions, &cursor) {
            if let result: VerificationResult<Transaction> = check(
                transaction.signedText, await applyBehaviorToUpdates())
            {
                return result
            }
        }
        return nil
    }

    /// Waits for the next changed subscription, and returns its status. Returns nil if the task is canceled.
    func nextStatus(_ cursor: inout ChangeLogCursor<ReceivedSubscription>) async -> Product.SubscriptionInfo.Status? {
        while let subscription = await next(of: \.statuses, &cursor) {
            let flaw = await applyBehaviorToUpdates()
            guard let contents = state.withLock({ $0.contents }) else { continue }
            if let status = status(subscription, at: await deviceTime(contents), flaw) { return status }
        }
        return nil
    }

    /// Returns the flaw that the next update must have. Waits while `LocalStore.Behavior.transactions` is `fails` or
    /// `hangs`, because a sequence of updates can't throw.
    private func applyBehaviorToUpdates() async -> Flaw? {
        while true {
            do throws(StoreKitError) {
                return try await applyBehavior(\.transactions)
            } catch {
                await hang { if case .fails = $0.transactions { true } else { false } }
            }
        }
    }

    /// Marks a transaction as finished on the device, and tells the App Store.
    func finish(_ transaction: Transaction) async {
        state.withLock { state in
            state.finishedHere.insert(transaction.id)
            for index in state.contents?.transactions.indices ?? 0..<0
            where state.contents?.transactions[index].value.id == transaction.id {
                state.contents?.transactions[index].isFinished = true
            }
            state.changeLog.transactions.backlog.removeAll { $0.id == transaction.id }
        }
        // If the App Store can't be reached now, the device reports the finished transaction later.
        _ = try? await contact()
    }

    // MARK: Purchases

    // A test sets `LocalStore.Behavior.purchases` to choose how purchases end.

    /// Returns the products on sale. Throws a `StoreKitError`.
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

    /// Sends the request to buy. If a test set a flaw for purchases (`Behavior`), the returned transaction is
    /// `.unverified` because of this flaw.
    private func buy(
        _ product: String, _ parameters: JSONObject, _ flaw: Flaw?
    ) async throws -> VerificationResult<Transaction> {
        if state.withLock({ $0.verifier == nil }) { try await contact() }
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
        _ = try? await contact()
        return result
    }

    /// A parent approves all waiting purchases. Their transactions arrive through `Transaction.updates`.
    /// Throws a `StoreKitError` or a `Product.PurchaseError` if a purchase isn't possible. The other purchases continue
    /// to wait.
    public func approvePurchases() async throws {
        // Each purchase is removed before it is sent, so that two calls at the same time don't send it twice.
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

    // MARK: The app transaction, the sign-in, and the receipt

    /// Returns the app transaction that the device has stored, or gets one from the App Store if the device has none.
    func appTransaction() async throws(StoreKitError) -> VerificationResult<AppTransaction> {
        let flaw = try await applyBehavior(\.appTransaction)
        if let copy = state.withLock({ $0.appTransaction }),
            let result: VerificationResult<AppTransaction> = check(copy, flaw)
        {
            return result
        }
        return try await fetchAppTransaction(flaw)
    }

    /// Asks the customer to sign in, and replaces the device's copies of the app transaction and of the receipt.
    func refreshAppTransaction() async throws(StoreKitError) -> VerificationResult<AppTransaction> {
        try await askToSignIn()
        let flaw = try await applyBehavior(\.appTransaction)
        defer { wakeListeners() }
        let result = try await fetchAppTransaction(flaw)
        try await fetchReceipt()
        return result
    }

    /// Asks the customer to sign in, and replaces everything that the device has stored from the App Store.
    func sync() async throws(StoreKitError) {
        try await askToSignIn()
        try await contact(isFresh: true)
        // A customer without an app transaction has nothing to synchronize.
        if state.withLock({ $0.contents?.appVersion != nil }) { _ = try await fetchAppTransaction(nil) }
        try await fetchReceipt()
    }

    /// Renews the device's copies of the app transaction and of the receipt without a sign-in, as the system sometimes
    /// does. If the App Store can't be reached, the device keeps the copies that it has.
    public func renewArtifacts() async {
        _ = try? await fetchAppTransaction(nil)
        try? await fetchReceipt()
    }

    /// Gets the app transaction from the App Store, gives it the flaw (if any), verifies it, and stores it on the
    /// device.
    private func fetchAppTransaction(_ flaw: Flaw?) async throws(StoreKitError) -> VerificationResult<AppTransaction> {
        // Creating the verifier needs the app and the trusted roots, so contact the App Store first.
        if state.withLock({ $0.verifier == nil }) { try await contact() }
        guard let signed = try await send(.appTransaction).signedText("appTransaction"),
            let result: VerificationResult<AppTransaction> = check(signed, flaw)
        else { throw .unknown }
        state.withLock { $0.appTransaction = signed }
        return result
    }

    /// Shows the sign-in, which ends as the test has set it in `LocalStore.Behavior.signIn`.
    private func askToSignIn() async throws(StoreKitError) {
        state.withLock { $0.signInRequests += 1 }
        while true {
            switch behavior.signIn {
            case .succeeds: return
            case .isCancelled: throw .userCancelled
            case .hangs: await hang { $0.signIn == .hangs }
            }
        }
    }

    // MARK: The receipt

    /// Fetches the receipt, and writes it where apps look for it. Writes no file for a customer without a receipt.
    /// Throws if the folder isn't writable; otherwise an app would look for a receipt that never exists.
    func fetchReceipt() async throws(StoreKitError) {
        if let answer = try? await send(.receipt) { try keepReceipt(answer) }
    }

    /// Fetches the receipt without suspending if its file is missing. Writes errors to standard error, because
    /// `receiptURL` can't throw them.
    func fetchReceiptIfMissing() {
        guard !behavior.isOffline, !FileManager.default.fileExists(atPath: receiptFile.path) else { return }
        guard let answer = connection.sendBlocking(.receipt, body()) else { return }
        do {
            try keepReceipt(answer)
        } catch {
            FileHandle.standardError.write(Data("StoreKit: \(error.localizedDescription)\n".utf8))
        }
    }

    /// Writes the receipt from the App Store's response to `receiptFile`. Does nothing if the response has no receipt.
    private func keepReceipt(_ answer: JSONObject) throws(StoreKitError) {
        guard let receipt = answer.text("receipt").flatMap({ Base64.standard.decode(Array($0.utf8)[...]) }) else {
            return
        }
        state.withLock { $0.isSandbox = answer.text("environment") == AppStore.Environment.sandbox.rawValue }
        let receiptURL = receiptFile
        do {
            try FileManager.default.createDirectory(
                at: receiptURL.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(receipt).write(to: receiptURL, options: .atomic)
        } catch {
            throw .systemError(
                Failure(
                    "the receipt can't be saved as `\(receiptURL.path)`; make the folder writable, or set TENURE_LOCAL_STORE_FOLDER to another folder"
                ))
        }
    }
}
