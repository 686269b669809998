import Foundation
import TenureCore

/// Adds what StoreKit returns to what the device knows (`DeviceState`). Only the engine's actor uses it.
final class AppStoreReader {
    private let device: DeviceState
    private var setup: Setup { device.setup }

    init(_ device: DeviceState) { self.device = device }

    /// Adds an app transaction, and records whether reading it succeeded. A nil `result` means that StoreKit wasn't
    /// called.
    func addAppTransaction(_ result: Result<AppStoreResult<AppStoreAppTransaction>, any Error>?) {
        switch result {
        case nil: device.snapshot.note(.appTransaction, .skipped(device.facts.distribution.whyStoreKitIsNotCalled))
        case .success(.verified(let app)):
            guard setup.host.accepts(bundleID: app.bundleID) else {
                return device.snapshot.note(.appTransaction, .failed("the app transaction belongs to another app"))
            }
            if let policyID = device.facts.policy?.app.bundleID, policyID != app.bundleID {
                device.reject(policyOf: policyID, for: app.bundleID)
            }
            addVerified(app)
            device.snapshot.note(.appTransaction, .done)
        case .success(.unverified(let reason)):
            device.snapshot.note(.appTransaction, .failed("StoreKit couldn't verify the app transaction: \(reason)"))
        case .failure(let error): device.snapshot.note(.appTransaction, .failed("\(error)"))
        }
    }

    /// Whether an app transaction belongs to another Apple Account than the stored account. False if it wasn't read.
    func isOfAnotherAccount(_ result: Result<AppStoreResult<AppStoreAppTransaction>, any Error>?) -> Bool {
        guard case .success(.verified(let app))? = result else { return false }
        return device.stored.account.isAnotherAccount(than: app)
    }

    /// Adds an app transaction, unless the purchases belong to another account.
    ///
    /// After the customer signs in to another account, StoreKit immediately lists the purchases of the new account. But
    /// StoreKit returns the app transaction of the previous account until `restore()` refreshes the app transaction.
    /// That old app transaction must not prove anything for the new account.
    ///
    /// - Parameters:
    ///   - listed: the purchases that StoreKit lists.
    ///   - requestedProducts: the products that the client requested to check whether the App Store responds. Without
    ///     this check, an empty list of purchases proves nothing.
    func addAppTransaction(
        _ result: Result<AppStoreResult<AppStoreAppTransaction>, any Error>?,
        comparedWith listed: Result<[AppStoreResult<AppStoreTransaction>], any Error>?, requestedProducts: [String]
    ) {
        guard case .success(.verified(let app))? = result, case .appTransaction(let id)? = app.proof.id else {
            return addAppTransaction(result)
        }
        let purchases = (try? listed?.get())?.compactMap(\.value) ?? []
        let areOfAnotherAccount: Bool? =
            purchases.isEmpty ? nil : purchases.allSatisfy { ($0.appTransactionID ?? id) != id }
        // If the stored account has purchases that always stay listed, but StoreKit lists nothing, that account is
        // signed out, so the account of the app transaction must be signed in. But an empty list counts only if
        // products were requested: only then has the App Store responded.
        let isEmpty = (try? listed?.get())?.isEmpty ?? false
        let isSignedInAgain =
            isEmpty && !requestedProducts.isEmpty
            && device.stored.account.purchases.contains { $0.type?.staysListed ?? false }
        // Without purchases to compare with, an app transaction that was old before is still old, unless its account is
        // signed in again.
        let isOld = areOfAnotherAccount ?? (device.stored.account.staleAppTransactionID == id && !isSignedInAgain)
        guard isOld else { return addAppTransaction(result) }
        device.stored.account.staleAppTransactionID = id
        device.snapshot.appTransaction = nil
        device.snapshot.note(.appTransaction, .failed(Self.whyStale))
    }

    private static let whyStale =
        "the app transaction belongs to another account than the purchases; Restore Purchases refreshes it"

    /// Adds a verified app transaction. If it belongs to another account, discards what is known about the previous
    /// account.
    private func addVerified(_ app: AppStoreAppTransaction) {
        if device.stored.account.isAnotherAccount(than: app) {
            setup.options.log.info("another account is signed in; the previous account's data is discarded")
            device.discardAccount()
        }
        device.snapshot.appTransaction = app
        if device.stored.account.add(app) { device.noteNewEvidence() }
        device.updateTime(signedAt: app.proof.signedDate)
    }

    /// Adds the list of transactions, and records whether reading it succeeded. If StoreKit verified all of them, also
    /// reads the state of subscriptions.
    ///
    /// - Parameter requestedProducts: the products that the client requested to check whether the App Store responds.
    ///   Without this check, an empty list of purchases proves nothing.
    nonisolated(nonsending) func addTransactions(
        _ result: Result<[AppStoreResult<AppStoreTransaction>], any Error>?, requestedProducts: [String]
    ) async {
        switch result {
        case nil: device.snapshot.note(.purchases, .skipped(device.facts.distribution.whyStoreKitIsNotCalled))
        case .failure(let error):
            device.snapshot.transactions = nil
            device.snapshot.note(.purchases, .failed("\(error)"))
        case .success(let results):
            if results.isEmpty, requestedProducts.isEmpty, !device.productIDsToRequest.isEmpty {
                return noteUncheckedPurchases()
            }
            let listed = results.compactMap(\.value)
            let accepted = addTransactions(listed)
            guard listed.count == results.count else {
                device.snapshot.transactions = nil
                let unverified = results.count - listed.count
                let failure = "StoreKit couldn't verify \(unverified) of \(results.count) transactions"
                return device.snapshot.note(.purchases, .failed(failure))
            }
            device.snapshot.transactions = accepted
            device.snapshot.note(.purchases, .done)
            await readRenewals(of: accepted)
        }
    }

    /// Records that an empty list of purchases doesn't count, because no product was requested to check whether the App
    /// Store responds. The app's products became known only afterward.
    func noteUncheckedPurchases() {
        device.snapshot.transactions = nil
        let failure = "StoreKit listed no purchases, and no product was requested to check that the App Store responds"
        device.snapshot.note(.purchases, .failed(failure))
    }

    /// Adds and returns the transactions of this account and of the app's environment. Ignores all other transactions.
    @discardableResult func addTransactions(_ transactions: [AppStoreTransaction]) -> [AppStoreTransaction] {
        let account = device.stored.account
        if let first = transactions.first, transactions.allSatisfy({ account.isAnotherAccount(than: $0) }) {
            setup.options.log.info("the purchases belong to another account; the previous account's data is discarded")
            if device.snapshot.appTransaction != nil { device.snapshot.note(.appTransaction, .failed(Self.whyStale)) }
            device.discardAccount()
            device.stored.account.staleAppTransactionID = account.key?.appTransactionID
            device.stored.account.setIDIfMissing(from: first)
        }
        let environment = self.environment(of: transactions)
        let accepted = transactions.filter { transaction in
            transaction.environment == environment && !device.stored.account.isAnotherAccount(than: transaction)
        }
        if accepted.count < transactions.count {
            setup.options.log.info(
                "ignored purchases of another account or environment: \(transactions.count - accepted.count)")
        }
        if device.stored.account.add(accepted) { device.noteNewEvidence() }
        device.updateTime(signedAt: accepted.compactMap(\.purchase.signedDate).max())
        return accepted
    }

    /// Reads the state of the subscriptions among the transactions.
    private nonisolated(nonsending) func readRenewals(of transactions: [AppStoreTransaction]) async {
        let subscriptions = transactions.filter { $0.purchase.type == .autoRenewable }
        guard !subscriptions.isEmpty else {
            device.snapshot.renewals = []
            device.snapshot.knowsRenewals = true
            return device.snapshot.note(.renewals, .skipped("there is no subscription"))
        }
        switch await setup.callAppStore({ try await $0.renewals(of: subscriptions) }) {
        case .success(let results):
            let renewals = results.compactMap(\.value)
            device.snapshot.renewals = renewals
            let unverified = results.count - renewals.count
            device.snapshot.knowsRenewals = unverified == 0
            if device.stored.account.add(renewals.map(\.renewal)) { device.noteNewEvidence() }
            device.updateTime(signedAt: renewals.compactMap(\.renewal.signedDate).max())
            let failure = "StoreKit couldn't verify \(unverified) of \(results.count) renewal infos"
            device.snapshot.note(.renewals, unverified == 0 ? .done : .failed(failure))
        case .failure(let error):
            device.snapshot.knowsRenewals = false
            device.snapshot.note(.renewals, .failed("\(error)"))
        case nil: break
        }
    }

    /// Returns the environment of this copy of the app: the stored environment, otherwise the environment that its
    /// transactions or its installation show.
    private func environment(of transactions: [AppStoreTransaction]) -> AppStoreEnvironment {
        if let known = device.stored.account.environment { return known }
        let signed = transactions.lazy.map(\.environment).first
        // A test authority may sign for any environment, so use the environment of the transactions.
        if setup.access.trustsTestAuthorities, let signed { return signed }
        return device.facts.distribution.environment(of: signed)
    }
}

extension Tenure.Distribution {
    /// Returns the App Store environment of a copy of the app that was installed in this way. Used until an app
    /// transaction was read.
    ///
    /// - Parameter signed: the environment of a transaction, which matters only in development; nil without a
    ///   transaction.
    func environment(of signed: AppStoreEnvironment?) -> AppStoreEnvironment {
        switch self {
        case .appStore, .setapp, .direct: .production
        case .testFlight: .sandbox
        case .development: signed.flatMap { $0.isProduction ? nil : $0 } ?? .xcode
        }
    }
}

extension Purchase.ProductType {
    /// Whether `Transaction.all` still lists a transaction of this type after it was finished.
    var staysListed: Bool {
        switch self {
        case .nonConsumable, .nonRenewing, .autoRenewable: true
        case .consumable, .unknown: false
        }
    }
}
