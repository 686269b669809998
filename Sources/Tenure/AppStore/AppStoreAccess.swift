package import Foundation
package import TenureCore

/// The client's access to the App Store on the device.
///
/// Calls may wait, throw, show a sign-in or return unverified results. One file calls StoreKit. Tests use a store that
/// does all of that on command.
package protocol AppStoreAccess: Sendable {
    /// How this copy of the app was installed, which is known without StoreKit.
    var distribution: Tenure.Distribution { get }
    /// Whether test authorities replace Apple: on Linux, and in development builds. Never in a build that customers
    /// buy.
    var isRehearsal: Bool { get }
    /// `CFBundleIdentifier`; nil without a bundle.
    var bundleID: String? { get }
    /// `AppStore.deviceVerificationID`.
    var deviceVerificationID: UUID? { get }
    /// What a receipt's hash is made with: `identifierForVendor`, on a Mac the MAC address in hexadecimal. Read only
    /// for a receipt that is sent and carries such a hash.
    var deviceIdentifier: String? { get async }
    /// The file at `appStoreReceiptURL`; nil if it doesn't exist.
    var receipt: Data? { get }

    /// `AppTransaction.shared`: what the device has, or gets without a sign-in.
    func appTransaction() async throws -> StoreResult<StoreAppTransaction>
    /// All transactions of `Transaction.all`, including refunded and expired ones.
    ///
    /// Throws where the store does not answer, which an empty list alone does not tell: then `productIDs`, which the
    /// app sells, are asked for as well.
    func transactions(productIDs: [String]) async throws -> [StoreResult<StoreTransaction>]
    /// The state of the subscriptions among `transactions`.
    func renewals(of transactions: [StoreTransaction]) async throws -> [StoreResult<StoreRenewal>]
    /// `Transaction.unfinished`, by id.
    func unfinished() async throws -> [StoreTransaction]
    /// `Transaction.updates`, until the task is canceled.
    func updates() -> AsyncStream<StoreResult<StoreTransaction>>
    /// Finishes a transaction.
    func finish(_ transactionID: String) async throws

    /// `AppStore.sync()`: may show a sign-in. Only ever on a tap.
    func synchronize() async throws
    /// `AppTransaction.refresh()`: may show a sign-in. Only ever on a tap.
    func refreshAppTransaction() async throws -> StoreResult<StoreAppTransaction>
}

/// A result of StoreKit, verified or not.
package enum StoreResult<Value: Sendable>: Sendable {
    case verified(Value)
    /// It proves nothing, not even that a purchase is missing.
    case unverified(reason: String)

    package var value: Value? {
        if case .verified(let value) = self { value } else { nil }
    }
}

/// A verified app transaction.
package struct StoreAppTransaction: Sendable, Hashable {
    /// As the App Store signed it, for the service.
    package let jws: String
    package let bundleID: String
    package let environment: AppStoreEnvironment
    package let proof: AppProof

    package init(jws: String, bundleID: String, environment: AppStoreEnvironment, proof: AppProof) {
        self.jws = jws
        self.bundleID = bundleID
        self.environment = environment
        self.proof = proof
    }
}

/// A verified transaction.
package struct StoreTransaction: Sendable, Hashable {
    package let jws: String
    package let environment: AppStoreEnvironment
    /// The app transaction that the purchase belongs to, if the artifact names it.
    package let appTransactionID: String?
    var subscriptionGroupID: String?
    let purchase: Purchase
}

/// A verified renewal info.
package struct StoreRenewal: Sendable, Hashable {
    package let jws: String
    let renewal: Renewal
}
