package import Foundation
package import TenureCore

/// How Tenure's client, which runs in the app, calls the App Store on the device.
///
/// Calls may wait, throw, show a sign-in or return unverified results. `StoreKitAccess` calls StoreKit. Tests use a
/// simulated App Store that fails in each of these ways on command.
package protocol AppStoreAccess: Sendable {
    /// How this copy of the app was installed. It is read from the app's files, without StoreKit.
    var distribution: Tenure.Distribution { get }
    /// Whether the client trusts artifacts of a test authority, such as that of a local App Store.
    /// True on Linux and in development builds, never in a build that customers buy.
    var trustsTestAuthorities: Bool { get }
    /// The `CFBundleIdentifier` of this process. Nil if it has no bundle.
    var bundleID: String? { get }
    /// `AppStore.deviceVerificationID`, for which the App Store signs all values on this device. Nil if StoreKit
    /// doesn't provide it.
    var deviceVerificationID: UUID? { get }
    /// The device's identifier in the hash of a receipt: `identifierForVendor`, or on a Mac the MAC address in
    /// hexadecimal. The client reads it only to send it with a receipt that has such a hash.
    var deviceIdentifier: String? { get async }
    /// The file at `appStoreReceiptURL`; nil if it doesn't exist.
    var receipt: Data? { get }

    /// `AppTransaction.shared`: the app transaction that the device has stored, or can fetch without a sign-in.
    func appTransaction() async throws -> AppStoreResult<AppStoreAppTransaction>
    /// All transactions of `Transaction.all`, including refunded and expired transactions.
    ///
    /// `Transaction.all` is also empty if the App Store doesn't respond. So if it is empty, this method reads
    /// `Transaction.currentEntitlements`. If that is empty, too, this method requests the products with `productIDs`,
    /// and throws if that request fails.
    func transactions(productIDs: [String]) async throws -> [AppStoreResult<AppStoreTransaction>]
    /// The renewal infos of the subscriptions among `transactions`.
    func renewals(of transactions: [AppStoreTransaction]) async throws -> [AppStoreResult<AppStoreRenewal>]
    /// The verified transactions of `Transaction.unfinished`.
    func unfinished() async throws -> [AppStoreTransaction]
    /// The elements of `Transaction.updates`. The stream ends when the task that iterates over it is canceled.
    func updates() -> AsyncStream<AppStoreResult<AppStoreTransaction>>
    /// Finishes a transaction.
    func finish(_ transactionID: String) async throws

    /// `AppStore.sync()`. It may show a sign-in, so call it only after the customer tapped a button.
    func synchronize() async throws
    /// `AppTransaction.refresh()`. It may show a sign-in, so call it only after the customer tapped a button.
    func refreshAppTransaction() async throws -> AppStoreResult<AppStoreAppTransaction>
}

/// A value from StoreKit, with the result of its verification.
package enum AppStoreResult<Value: Sendable>: Sendable {
    /// StoreKit verified the value.
    case verified(Value)
    /// StoreKit couldn't verify the value. So the value doesn't show whether a purchase exists.
    case unverified(reason: String)

    /// The value if it is verified, otherwise nil.
    package var value: Value? {
        if case .verified(let value) = self { value } else { nil }
    }
}

/// A verified app transaction.
package struct AppStoreAppTransaction: Sendable, Hashable {
    /// The JWS that the App Store signed. The client sends it to the service.
    package let jws: String
    package let bundleID: String
    package let environment: AppStoreEnvironment
    /// What the app transaction proves: when, where and as which version the customer got the app.
    package let proof: AppProof

    package init(jws: String, bundleID: String, environment: AppStoreEnvironment, proof: AppProof) {
        self.jws = jws
        self.bundleID = bundleID
        self.environment = environment
        self.proof = proof
    }
}

/// A verified transaction.
package struct AppStoreTransaction: Sendable, Hashable {
    /// The JWS that the App Store signed. The client sends it to the service.
    package let jws: String
    package let environment: AppStoreEnvironment
    /// The `appTransactionId` of the app transaction to which the purchase belongs, if the transaction has it.
    package let appTransactionID: String?
    /// Nil if the product isn't an auto-renewable subscription.
    var subscriptionGroupID: String?
    /// The facts in the transaction that decide about entitlements.
    let purchase: Purchase
}

/// A verified renewal info: the App Store's information about the next renewal of a subscription.
package struct AppStoreRenewal: Sendable, Hashable {
    /// The JWS that the App Store signed. The client sends it to the service.
    package let jws: String
    let renewal: Renewal
}
