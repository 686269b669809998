import Foundation
import StoreKit
import TenureCore

#if canImport(UIKit) && !os(watchOS) && !targetEnvironment(macCatalyst)
    import UIKit
#endif

/// Calls the App Store through StoreKit: Apple's framework, or on Linux this package's module of the same name.
///
/// No other type of the client reads purchases from StoreKit, or turns values that StoreKit verified into evidence for
/// decisions.
struct StoreKitAccess: AppStoreAccess {
    /// How this copy was installed, read from the app's files once, at first use.
    var distribution: Tenure.Distribution { Self.distributionOfThisApp }
    private static let distributionOfThisApp = Tenure.Distribution.ofThisApp

    var trustsTestAuthorities: Bool {
        #if os(Linux)
            // On Linux, a local App Store signs with a test authority.
            true
        #else
            distribution == .development
        #endif
    }

    var bundleID: String? {
        #if os(Linux)
            // A process without a bundle uses the bundle ID of the local App Store.
            Bundle.main.bundleIdentifier ?? LocalStore.current?.bundleID
        #else
            Bundle.main.bundleIdentifier
        #endif
    }

    var deviceVerificationID: UUID? { AppStore.deviceVerificationID }

    /// The identifier that a legacy receipt has in its hash, so that the receipt is valid only on this device: the
    /// vendor's ID of an iPhone or iPad, or the MAC address of a Mac. Nil on the watch and on Linux.
    var deviceIdentifier: String? {
        get async {
            #if os(macOS) || targetEnvironment(macCatalyst)
                NetworkAddress.ofThisMac
            #elseif canImport(UIKit) && !os(watchOS)
                await MainActor.run { UIDevice.current.identifierForVendor?.uuidString }
            #else
                nil
            #endif
        }
    }

    var receipt: Data? {
        #if os(Linux)
            (LocalStore.current?.receiptURL).flatMap { try? Data(contentsOf: $0) }
        #else
            // Apple deprecated the receipt in favor of StoreKit 2, but it has fields that StoreKit 2 doesn't have.
            ReceiptFile.url.flatMap { try? Data(contentsOf: $0) }
        #endif
    }

    // MARK: Calls that show no sign-in

    func appTransaction() async throws -> AppStoreResult<AppStoreAppTransaction> {
        Self.result(try await AppTransaction.shared)
    }

    func transactions(productIDs: [String]) async throws -> [AppStoreResult<AppStoreTransaction>] {
        var results = await Self.results(Transaction.all)
        if results.isEmpty { results = await Self.results(Transaction.currentEntitlements) }
        // Both sequences are also empty if the App Store doesn't respond, because they can't throw. The probe can.
        if results.isEmpty { try await Self.probe(productIDs) }
        return results
    }

    private static func results(
        _ transactions: Transaction.Transactions
    ) async -> [AppStoreResult<AppStoreTransaction>] {
        var results: [AppStoreResult<AppStoreTransaction>] = []
        for await transaction in transactions { results.append(result(transaction)) }
        return results
    }

    /// Requests products, and the status of one of their subscription groups, only to find out whether the App Store
    /// responds. Throws if it doesn't. Does nothing if `productIDs` is empty.
    private static func probe(_ productIDs: [String]) async throws {
        guard !productIDs.isEmpty else { return }
        let products = try await Product.products(for: productIDs)
        if let group = products.lazy.compactMap({ $0.subscription?.subscriptionGroupID }).first {
            _ = try await Product.SubscriptionInfo.status(for: group)
        }
    }

    func renewals(of transactions: [AppStoreTransaction]) async throws -> [AppStoreResult<AppStoreRenewal>] {
        var results: [AppStoreResult<AppStoreRenewal>] = []
        for group in Set(transactions.compactMap(\.subscriptionGroupID)).sorted() {
            for status in try await Product.SubscriptionInfo.status(for: group) {
                guard case .verified(let info) = status.renewalInfo else {
                    results.append(.unverified(reason: status.renewalInfo.reason))
                    continue
                }
                let renewal = Renewal(
                    originalTransactionID: String(info.originalTransactionID), productID: info.currentProductID,
                    gracePeriodExpiresDate: info.gracePeriodExpirationDate,
                    isInBillingRetryPeriod: info.isInBillingRetry, signedDate: info.signedDate)
                results.append(.verified(AppStoreRenewal(jws: status.renewalInfo.jwsRepresentation, renewal: renewal)))
            }
        }
        return results
    }

    func unfinished() async throws -> [AppStoreTransaction] {
        await Self.results(Transaction.unfinished).compactMap(\.value)
    }

    func updates() -> AsyncStream<AppStoreResult<AppStoreTransaction>> {
        let (stream, continuation) = AsyncStream.makeStream(of: AppStoreResult<AppStoreTransaction>.self)
        // The task ends when the consumer of the stream stops.
        let listening = Task {
            for await result in Transaction.updates { continuation.yield(Self.result(result)) }
            continuation.finish()
        }
        continuation.onTermination = { _ in listening.cancel() }
        return stream
    }

    func finish(_ transactionID: String) async throws {
        for await result in Transaction.unfinished {
            guard case .verified(let transaction) = result, String(transaction.id) == transactionID else { continue }
            return await transaction.finish()
        }
    }

    // MARK: Calls that may show a sign-in

    func synchronize() async throws { try await Self.prompting { try await AppStore.sync() } }

    func refreshAppTransaction() async throws -> AppStoreResult<AppStoreAppTransaction> {
        try await Self.prompting { Self.result(try await AppTransaction.refresh()) }
    }

    /// Makes a call that may show a sign-in. Throws `SignInCanceled` if the customer closes it.
    private static func prompting<Value>(_ call: () async throws -> Value) async throws -> Value {
        do {
            return try await call()
        } catch StoreKitError.userCancelled {
            throw SignInCanceled()
        }
    }

    // MARK: Evidence

    /// Converts StoreKit's app transaction.
    private static func result(_ result: VerificationResult<AppTransaction>) -> AppStoreResult<AppStoreAppTransaction> {
        guard case .verified(let app) = result else { return .unverified(reason: result.reason) }
        guard let environment = AppStoreEnvironment(rawValue: app.environment.rawValue) else {
            return .unverified(reason: "StoreKit reported an unknown environment `\(app.environment.rawValue)`")
        }
        let fields = try? JSONDecoder().decode(SignedFields.self, from: app.jsonRepresentation)
        let proof = AppProof(
            kind: .appTransaction, signedDate: app.signedDate, id: fields?.appTransactionID.map { .appTransaction($0) },
            originalPlatform: fields?.originalPlatform.flatMap { Platform(appStoreName: $0) },
            originalAppVersion: app.originalAppVersion, originalPurchaseDate: app.originalPurchaseDate,
            preorderDate: app.preorderDate, revocationDate: fields?.revocationDate)
        return .verified(
            AppStoreAppTransaction(
                jws: result.jwsRepresentation, bundleID: app.bundleID, environment: environment, proof: proof))
    }

    /// Converts a transaction of StoreKit.
    static func result(_ result: VerificationResult<Transaction>) -> AppStoreResult<AppStoreTransaction> {
        guard case .verified(let transaction) = result else { return .unverified(reason: result.reason) }
        guard let environment = AppStoreEnvironment(rawValue: transaction.environment.rawValue) else {
            return .unverified(reason: "StoreKit reported an unknown environment `\(transaction.environment.rawValue)`")
        }
        let fields = try? JSONDecoder().decode(SignedFields.self, from: transaction.jsonRepresentation)
        let purchase = Purchase(
            transactionID: String(transaction.id), originalTransactionID: String(transaction.originalID),
            productID: transaction.productID, type: transaction.productType.purchaseType,
            purchaseDate: transaction.purchaseDate, expiresDate: transaction.expirationDate,
            revocationDate: transaction.revocationDate, isUpgraded: transaction.isUpgraded,
            isFamilyShared: transaction.ownershipType == .familyShared, signedDate: transaction.signedDate)
        return .verified(
            AppStoreTransaction(
                jws: result.jwsRepresentation, environment: environment, appTransactionID: fields?.appTransactionID,
                subscriptionGroupID: transaction.subscriptionGroupID, purchase: purchase))
    }
}

/// Fields of a signed transaction or app transaction for which older SDKs have no property. The App Store writes dates
/// as milliseconds since 1970.
private struct SignedFields: Decodable {
    let appTransactionID: String?
    let originalPlatform: String?
    let revocationDate: Date?

    private enum CodingKeys: String, CodingKey { case appTransactionId, originalPlatform, revocationDate }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        let id = try? fields.decodeIfPresent(String.self, forKey: .appTransactionId)
        appTransactionID = id.flatMap { $0.isEmpty ? nil : $0 }
        originalPlatform = try? fields.decodeIfPresent(String.self, forKey: .originalPlatform)
        revocationDate = (try? fields.decodeIfPresent(Double.self, forKey: .revocationDate))
            .map { Date(timeIntervalSince1970: $0 / 1000) }
    }
}

extension VerificationResult {
    /// Why the value is unverified; empty for a verified value.
    fileprivate var reason: String {
        switch self {
        case .unverified(_, let error): "\(error)"
        case .verified: ""
        }
    }
}

extension Product.ProductType {
    fileprivate var purchaseType: Purchase.ProductType {
        switch self {
        case .nonConsumable: .nonConsumable
        case .consumable: .consumable
        case .nonRenewable: .nonRenewing
        case .autoRenewable: .autoRenewable
        default: .unknown(rawValue)
        }
    }
}
