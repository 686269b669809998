import StoreKit

// Code as articles and tutorials about apps that become free publish it, without changes for Linux. It imports only
// StoreKit, and compares versions in the ways that they show.

/// Customers who got the app before this version have bought it.
enum TutorialCode {
    static let firstFreeMajorVersion = "13"

    /// Compares the first component as text.
    static func hasPaidForApp() async -> Bool {
        do {
            let shared = try await AppTransaction.shared
            if case .verified(let appTransaction) = shared {
                let versionComponents = appTransaction.originalAppVersion.split(separator: ".")
                let originalMajorVersion = versionComponents[0]
                if originalMajorVersion < firstFreeMajorVersion {
                    return true
                }
            }
        } catch {
            print("the app transaction isn't there: \(error)")
        }
        return false
    }

    /// Compares the first component as a number.
    static func hasPaidForAppByNumber() async throws -> Bool {
        let result = try await AppTransaction.shared
        switch result {
        case .verified(let appTransaction):
            guard let original = appTransaction.originalAppVersion.split(separator: ".").first.flatMap({ Int($0) }),
                let firstFree = Int(firstFreeMajorVersion)
            else { return false }
            return original < firstFree
        case .unverified:
            return false
        }
    }
}

/// The store class of a typical tutorial: it lists products, buys, listens for updates, and restores purchases.
@MainActor
final class TutorialStore {
    enum StoreError: Error { case failedVerification }

    private(set) var products: [Product] = []
    private(set) var purchasedIDs: Set<String> = []
    private(set) var deliveries = 0
    private var listener: Task<Void, any Error>?

    init() {
        listener = listenForTransactions()
    }

    func stop() {
        listener?.cancel()
    }

    func listenForTransactions() -> Task<Void, any Error> {
        Task {
            for await result in Transaction.updates {
                do {
                    let transaction = try self.checkVerified(result)
                    await self.updateCustomerProductStatus()
                    await transaction.finish()
                    self.deliveries += 1
                } catch {
                    print("a transaction failed verification")
                }
            }
        }
    }

    func requestProducts(_ ids: [String]) async throws {
        products = try await Product.products(for: ids).sorted { $0.price < $1.price }
    }

    func purchase(_ product: Product) async throws -> Transaction? {
        let result = try await product.purchase()
        switch result {
        case .success(let verification):
            let transaction = try checkVerified(verification)
            await updateCustomerProductStatus()
            await transaction.finish()
            return transaction
        case .userCancelled, .pending:
            return nil
        }
    }

    func restore() async throws {
        try await AppStore.sync()
        await updateCustomerProductStatus()
    }

    func checkVerified<T>(_ result: VerificationResult<T>) throws -> T {
        switch result {
        case .unverified: throw StoreError.failedVerification
        case .verified(let safe): return safe
        }
    }

    func updateCustomerProductStatus() async {
        var purchased: Set<String> = []
        for await result in Transaction.currentEntitlements {
            guard let transaction = try? checkVerified(result) else { continue }
            switch transaction.productType {
            case .nonConsumable: purchased.insert(transaction.productID)
            case .nonRenewable:
                let end = Calendar(identifier: .gregorian).date(
                    byAdding: DateComponents(year: 1), to: transaction.purchaseDate)
                if Date() < end ?? .distantPast { purchased.insert(transaction.productID) }
            case .autoRenewable:
                if transaction.revocationDate == nil, !transaction.isUpgraded {
                    purchased.insert(transaction.productID)
                }
            default: break
            }
        }
        purchasedIDs = purchased
    }

    func isSubscribed(to groupID: String) async throws -> Bool {
        for status in try await Product.SubscriptionInfo.status(for: groupID) {
            let renewalInfo = try checkVerified(status.renewalInfo)
            switch status.state {
            case .subscribed, .inGracePeriod: return renewalInfo.currentProductID.isEmpty == false
            case .expired, .revoked, .inBillingRetryPeriod: continue
            default: continue
            }
        }
        return false
    }
}
