import Foundation
import TenureAPI
import TenureCore

/// Creates the request of a sync from what was read from the App Store.
extension SyncRequest {
    /// Creates the request with everything that was read from StoreKit and that the App Store signed. Nil if nothing
    /// was read.
    ///
    /// The request has a receipt only if there is no app transaction, which contains the same facts.
    init?(_ snapshot: AppStoreSnapshot, from access: any AppStoreAccess) async {
        self.init(appTransaction: snapshot.appTransaction?.jws)
        if let listed = snapshot.transactions {
            transactions = Self.mostRelevant(listed).map(\.jws)
            renewalInfos = Array(snapshot.renewals.prefix(Self.maximumRenewals)).map(\.jws)
        }
        if appTransaction == nil, let bytes = access.receipt, !bytes.isEmpty, bytes.count <= Self.maximumReceiptSize {
            receipt = bytes.base64EncodedString()
            // The service needs the device identifier to check the receipt's hash. The identifier isn't sent otherwise.
            if ReceiptAttributes(bytes)?.hasDeviceHash == true { deviceIdentifier = await access.deviceIdentifier }
        }
        guard appTransaction != nil || receipt != nil || transactions?.isEmpty == false else { return nil }
        deviceVerificationID = access.deviceVerificationID?.uuidString
    }

    /// Returns the transactions to send. The service accepts 2,000 transactions and 4 MiB in all. If there are more,
    /// old periods of subscriptions are left out.
    static func mostRelevant(_ transactions: [AppStoreTransaction]) -> [AppStoreTransaction] {
        let total = transactions.reduce(0) { $0 + $1.jws.utf8.count }
        guard transactions.count > maximumTransactions || total > maximumTransactionsSize else { return transactions }
        let ordered = transactions.sorted { left, right in
            let isLeftPeriod = left.purchase.type == .autoRenewable
            if isLeftPeriod != (right.purchase.type == .autoRenewable) { return !isLeftPeriod }
            return (left.purchase.purchaseDate ?? .distantPast) > (right.purchase.purchaseDate ?? .distantPast)
        }
        var size = 0
        return ordered.prefix(maximumTransactions).filter { transaction in
            size += transaction.jws.utf8.count
            return size <= maximumTransactionsSize
        }
    }

    // Limits of one request. The sizes are in bytes.
    private static let maximumTransactions = 2000
    private static let maximumRenewals = 100
    private static let maximumTransactionsSize = 3 * 1024 * 1024
    private static let maximumReceiptSize = 512 * 1024
}
