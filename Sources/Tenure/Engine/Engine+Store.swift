import Foundation
import TenureCore

extension Engine {
    // MARK: Results of StoreKit

    func take(_ result: Result<StoreResult<StoreAppTransaction>, any Error>?) {
        switch result {
        case nil: snapshot.note(.appTransaction, .skipped(distribution.whyNotAsked))
        case .success(.verified(let app)):
            guard setup.host.accepts(bundleID: app.bundleID) else {
                return snapshot.note(.appTransaction, .failed("it belongs to another app"))
            }
            if let policyID = policy?.app.bundleID, policyID != app.bundleID {
                reject(policyOf: policyID, for: app.bundleID)
            }
            take(app)
            snapshot.note(.appTransaction, .done)
        case .success(.unverified(let reason)):
            snapshot.note(.appTransaction, .failed("StoreKit could not verify it: \(reason)"))
        case .failure(let error): snapshot.note(.appTransaction, .failed("\(error)"))
        }
    }

    func isOfAnotherAccount(_ result: Result<StoreResult<StoreAppTransaction>, any Error>?) -> Bool {
        guard case .success(.verified(let app))? = result else { return false }
        return memory.account.isAnother(than: app)
    }

    /// Takes an app transaction unless the purchases belong to another account.
    ///
    /// After a change of account, StoreKit returns the previous account's app transaction until it is refreshed on a
    /// tap. The purchases belong to the present account at once.
    func take(
        _ result: Result<StoreResult<StoreAppTransaction>, any Error>?,
        unlessPurchasesAreOf listed: Result<[StoreResult<StoreTransaction>], any Error>?
    ) {
        guard case .success(.verified(let app))? = result, let id = app.proof.appTransactionID else {
            return take(result)
        }
        let purchases = (try? listed?.get())?.compactMap(\.value) ?? []
        let areOthers = purchases.first.map { _ in purchases.allSatisfy { $0.isOfAnother(than: id) } }
        // An empty list lacks what the account stored here has bought, so another account is signed in. The store was
        // asked in a way that can fail, and such purchases stay in the list.
        let isEmpty = (try? listed?.get())?.isEmpty ?? false
        let isBack =
            isEmpty && !productIDs.isEmpty && memory.account.purchases.contains { $0.type?.staysListed ?? false }
        guard areOthers ?? (memory.account.stale == id && !isBack) else { return take(result) }
        memory.account.stale = id
        snapshot.appTransaction = nil
        snapshot.note(.appTransaction, .failed(Self.whyStale))
    }

    private static let whyStale =
        "it is of another account than the purchases are; Restore Purchases brings the right one"

    private func take(_ app: StoreAppTransaction) {
        if memory.account.isAnother(than: app) {
            setup.options.log.info("another account is signed in: what the first one had is discarded")
            discardAccount()
        }
        snapshot.appTransaction = app
        if memory.account.add(app) { hasNews() }
        learn(signedAt: app.proof.signedDate)
    }

    func take(_ result: Result<[StoreResult<StoreTransaction>], any Error>?) async {
        switch result {
        case nil: snapshot.note(.purchases, .skipped(distribution.whyNotAsked))
        case .failure(let error):
            snapshot.transactions = nil
            snapshot.note(.purchases, .failed("\(error)"))
        case .success(let results):
            let listed = results.compactMap(\.value)
            let counted = take(listed)
            guard listed.count == results.count else {
                snapshot.transactions = nil
                return snapshot.note(
                    .purchases, .failed("StoreKit could not verify \(results.count - listed.count) of them"))
            }
            snapshot.transactions = counted
            snapshot.note(.purchases, .done)
            await readRenewals(of: counted)
        }
    }

    /// The transactions that count: those of this account and of the app's environment.
    @discardableResult
    func take(_ transactions: [StoreTransaction]) -> [StoreTransaction] {
        if let first = transactions.first, transactions.allSatisfy({ memory.account.isAnother(than: $0) }) {
            setup.options.log.info("another account has purchases: what the first one had is discarded")
            let stale = memory.account.key?.appTransactionID
            if snapshot.appTransaction != nil { snapshot.note(.appTransaction, .failed(Self.whyStale)) }
            discardAccount()
            memory.account.stale = stale
            memory.account.adopt(first)
        }
        let environment = self.environment(of: transactions)
        let counted = transactions.filter { transaction in
            transaction.environment == environment && !memory.account.isAnother(than: transaction)
        }
        if counted.count < transactions.count {
            setup.options.log.info(
                "\(transactions.count - counted.count) purchases are another account's, or of another environment")
        }
        if memory.account.add(counted) { hasNews() }
        learn(signedAt: counted.compactMap(\.purchase.signedDate).max())
        return counted
    }

    private func readRenewals(of transactions: [StoreTransaction]) async {
        let subscriptions = transactions.filter { $0.purchase.type == .autoRenewable }
        guard !subscriptions.isEmpty else {
            snapshot.renewals = []
            snapshot.knowsRenewals = true
            return snapshot.note(.renewals, .skipped("there is no subscription"))
        }
        switch await attempt(true, { try await $0.renewals(of: subscriptions) }) {
        case .success(let results):
            let renewals = results.compactMap(\.value)
            snapshot.renewals = renewals
            snapshot.knowsRenewals = renewals.count == results.count
            if memory.account.add(renewals.map(\.renewal)) { hasNews() }
            learn(signedAt: renewals.compactMap(\.renewal.signedDate).max())
            snapshot.note(
                .renewals,
                snapshot.knowsRenewals
                    ? .done : .failed("StoreKit could not verify \(results.count - renewals.count) of them"))
        case .failure(let error):
            snapshot.knowsRenewals = false
            snapshot.note(.renewals, .failed("\(error)"))
        case nil: break
        }
    }

    /// The environment of this copy of the app.
    private func environment(of transactions: [StoreTransaction]) -> AppStoreEnvironment {
        if let known = memory.account.environment { return known }
        let signed = transactions.lazy.map(\.environment).first
        // A test authority signs for any environment.
        if setup.access.isRehearsal, let signed { return signed }
        return distribution.environment(of: signed)
    }

    /// Marks that there is new evidence, which the service's last response doesn't cover.
    private func hasNews() {
        newsCount += 1
        memory.account.askedAt = nil
        memory.account.denials = []
    }

    func learn(signedAt date: Date?) {
        guard let date else { return }
        learn { $0.learn(signedAt: date, clock: $1) }
    }

    func learn(_ lesson: (inout DeviceTime, _ clock: Date) -> Void) {
        let floor = memory.time.floor
        // A result that was requested before a later clock was observed can't correct that clock.
        let latest = customerState.latest
        lesson(&memory.time, latest > searchFloor ? max(latest, setup.clock()) : setup.clock())
        if memory.time.floor < floor { heals += 1 }
    }

    private func discardAccount() {
        memory.discardAccount()
        forgetReadings()
        claims = nil
    }

    /// Forgets what was read and what the service said about an account that isn't the present one anymore.
    func forgetReadings() {
        accountChanges += 1
        snapshot.appTransaction = nil
        snapshot.transactions = nil
        snapshot.renewals = []
        snapshot.knowsRenewals = false
        fresh = nil
        token = nil
    }

    // MARK: Transactions while the app runs

    /// Observes `Transaction.updates`, until its task is canceled.
    func observeTransactions() async {
        load()
        guard distribution.hasPurchases else { return }
        for await result in setup.access.updates() {
            switch result {
            case .unverified(let reason):
                setup.options.log.error("StoreKit could not verify a new transaction: \(reason)")
            case .verified(let transaction):
                record(transaction)
                // The service gets it with all the others: only their whole list can be called complete. The next
                // transaction doesn't wait for that.
                _ = searchForNews()
            }
        }
    }

    /// Throws if this process can't sell.
    func preparePurchase() throws(Tenure.Error) {
        load()
        do throws(HostLimit) {
            try setup.host.checkMayBuy()
        } catch {
            throw .purchasesUnavailable(error.problem)
        }
        guard distribution.hasPurchases else { throw .purchasesUnavailable(distribution.whyNotAsked) }
    }

    /// Records a purchase of this app, decides, and finishes the transaction as configured.
    func process(_ transaction: StoreTransaction) async {
        load()
        record(transaction)
        if !memory.account.purchases.contains(where: { $0.transactionID == transaction.purchase.transactionID }) {
            setup.options.log.error("a purchase belongs to another account or environment than the app")
        }
        // The device has decided already. StoreKit and the service may take their time.
        let rest = setup.service == nil ? Task { await finishRecorded() } : searchForNews()
        _ = await value(of: rest, within: setup.purchaseTimeout)
    }

    /// Starts a search that covers what was recorded until now. Several callers share it.
    private func searchForNews() -> Task<Void, Never> {
        isSearchWanted = true
        if let pendingSearch { return pendingSearch }
        let search = Task {
            while isSearchWanted {
                isSearchWanted = false
                await searchAgain()
            }
            pendingSearch = nil
        }
        pendingSearch = search
        return search
    }

    private func record(_ transaction: StoreTransaction) {
        look()
        take([transaction])
        noteGrants()
        save()
        post()
    }

    // MARK: Finishing

    /// Finishes each transaction that is recorded. Until then it must come again at the next start.
    ///
    /// - Parameter isStoreResponding: whether the store has just listed the purchases. `Transaction.unfinished` is
    ///   empty also if the store doesn't respond.
    func finishRecorded(isStoreResponding: Bool = false) async {
        guard setup.host.mayFinishTransactions, !setup.isListening, setup.options.finishing != .never,
            distribution.hasPurchases,
            case (let named, .success(let unfinished)?) = (
                memory.account.delivered, await attempt(true, { try await $0.unfinished() })
            )
        else { return }
        if isStoreResponding || !unfinished.isEmpty {
            // The app has finished the others itself.
            let ids = Set(unfinished.map(\.purchase.transactionID))
            memory.account.delivered.subtract(named.subtracting(ids))
        }
        let ours = Set(productIDs).union(memory.catalog?.catalog?.ids ?? [])
        for transaction in unfinished where mayFinish(transaction, ours) && isRecorded(transaction) {
            let id = transaction.purchase.transactionID
            guard finishing.insert(id).inserted else { continue }
            if case .failure(let error)? = await attempt(true, { try await $0.finish(id) }) {
                setup.options.log.error("a transaction could not be finished: \(error)")
                finishing.remove(id)
                // A store that hangs would hang for the next one, too.
                if error is TimedOut { return }
            } else if memory.account.delivered.remove(id) != nil {
                save()
            }
        }
    }

    private func isRecorded(_ transaction: StoreTransaction) -> Bool {
        let id = transaction.purchase.transactionID
        guard let stored = state.stored?.account, stored.purchases.contains(where: { $0.transactionID == id }) else {
            return false
        }
        guard setup.service != nil else { return true }
        return !stored.unanswered.contains(id) && (!stored.refused.contains(id) || stored.delivered.contains(id))
    }

    /// Whether Tenure may finish the transaction. Other code in the app sells, delivers and finishes other products. A
    /// consumable that is finished before its delivery is lost permanently.
    private func mayFinish(_ transaction: StoreTransaction, _ ours: Set<String>) -> Bool {
        let purchase = transaction.purchase
        let isNamed = memory.account.delivered.contains(purchase.transactionID)
        switch purchase.type {
        case .nonConsumable, .nonRenewing, .autoRenewable: break
        case .consumable, .unknown, nil: return isNamed
        }
        if isNamed || delivered.contains(purchase.originalTransactionID) { return true }
        guard ours.contains(purchase.productID) else { return false }
        guard case .afterContent(let products) = setup.options.finishing else { return true }
        return !products.contains(purchase.productID)
    }

    func contentArrived(ofPurchase original: String, transaction id: String) async {
        load()
        delivered.insert(original)
        memory.account.delivered.insert(id)
        await finishDelivered()
    }

    /// The product's transactions that exist now: the next one isn't delivered yet.
    func contentArrived(forProduct product: String) async {
        load()
        await searchIsOver()
        let unfinished = (try? await attempt(true) { try await $0.unfinished() }?.get()) ?? []
        let known = (memory.account.purchases + unfinished.map(\.purchase)).filter {
            $0.productID == product && $0.type?.staysListed ?? false
        }
        delivered.formUnion(known.map(\.originalTransactionID))
        // Also for the next start, if the service can't confirm them now.
        memory.account.delivered.formUnion(known.map(\.transactionID))
        await finishDelivered()
    }

    private func finishDelivered() async {
        await searchIsOver()
        save()
        await finishRecorded()
    }
}

extension Tenure.Distribution {
    /// The environment of the app's artifacts, as far as it is known without an app transaction.
    func environment(of signed: AppStoreEnvironment?) -> AppStoreEnvironment {
        switch self {
        case .appStore, .setapp, .direct: .production
        case .testFlight: .sandbox
        case .development: signed.flatMap { $0.isProduction ? nil : $0 } ?? .xcode
        }
    }
}

extension Purchase.ProductType {
    /// Whether `Transaction.all` lists it after it was finished.
    fileprivate var staysListed: Bool {
        switch self {
        case .nonConsumable, .nonRenewing, .autoRenewable: true
        case .consumable, .unknown: false
        }
    }
}

extension StoreTransaction {
    fileprivate func isOfAnother(than id: String) -> Bool { appTransactionID.map { $0 != id } ?? false }
}

extension AppProof {
    fileprivate var appTransactionID: String? {
        if case .appTransaction(let id)? = id { id } else { nil }
    }
}
