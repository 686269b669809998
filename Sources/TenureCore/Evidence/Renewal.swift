public import Foundation

/// The content of one verified renewal info. Renewal info is used only together with a verified transaction with the
/// same `originalTransactionID`, because renewal info doesn't contain the app's bundle ID.
public struct Renewal: Sendable, Hashable {
    /// The ID of the first purchase; the same for all periods of a subscription.
    public let originalTransactionID: String
    /// The product that the subscription renews as. Nil if the artifact contains no such product.
    public let productID: String?
    /// When the billing grace period ends. Nil if there is no grace period.
    public let gracePeriodExpiresDate: Date?
    /// Whether Apple still tries to charge for an expired subscription.
    public let isInBillingRetryPeriod: Bool
    /// When the App Store signed the artifact. Of several artifacts about the same subscription, the latest-signed
    /// artifact is used.
    public let signedDate: Date?

    package init(
        originalTransactionID: String, productID: String?, gracePeriodExpiresDate: Date?, isInBillingRetryPeriod: Bool,
        signedDate: Date?
    ) {
        self.originalTransactionID = originalTransactionID
        self.productID = productID
        self.gracePeriodExpiresDate = gracePeriodExpiresDate
        self.isInBillingRetryPeriod = isInBillingRetryPeriod
        self.signedDate = signedDate
    }

    /// Whether this renewal info replaces the other. The later-signed renewal info is used. If both were signed at the
    /// same time, the renewal info that grants less is used.
    package func supersedes(_ other: Renewal) -> Bool {
        let (signed, otherSigned) = (signedDate ?? .distantPast, other.signedDate ?? .distantPast)
        if signed != otherSigned { return signed > otherSigned }
        let graceEnd = gracePeriodExpiresDate ?? .distantPast
        let otherGraceEnd = other.gracePeriodExpiresDate ?? .distantPast
        if graceEnd != otherGraceEnd { return graceEnd < otherGraceEnd }
        if isInBillingRetryPeriod != other.isInBillingRetryPeriod { return isInBillingRetryPeriod }
        return (productID ?? "") < (other.productID ?? "")
    }
}
