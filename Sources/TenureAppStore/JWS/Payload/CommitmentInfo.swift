public import Foundation

/// The commitment of a subscription that is billed monthly for a longer time.
public struct CommitmentInfo: Sendable, Hashable, FieldObject {
    /// The number of this installment, from 1.
    public let billingPeriodNumber: Int64?
    /// The number of installments of the commitment.
    public let totalBillingPeriods: Int64?
    /// When the commitment ends.
    public let commitmentExpiresDate: Date?
    /// The price of the commitment, in thousandths of the currency's unit.
    public let commitmentPrice: Int64?

    init(reading read: FieldReader) throws(Rejection) {
        billingPeriodNumber = try read("billingPeriodNumber")
        totalBillingPeriods = try read("totalBillingPeriods")
        commitmentExpiresDate = try read("commitmentExpiresDate")
        commitmentPrice = try read("commitmentPrice")
    }
}

/// What happens to a commitment at its renewal.
public struct RenewalCommitmentInfo: Sendable, Hashable, FieldObject {
    /// The product ID with which the subscription continues after the commitment.
    public let commitmentAutoRenewProductID: String?
    /// Whether another commitment follows this commitment.
    public let commitmentAutoRenewStatus: Open<AutoRenewStatus>?
    /// Whether the next commitment is billed once or every month.
    public let commitmentRenewalBillingPlanType: Open<BillingPlanType>?
    /// When the commitment renews.
    public let commitmentRenewalDate: Date?
    /// The price of the next commitment, in thousandths of the currency's unit.
    public let commitmentRenewalPrice: Int64?

    init(reading read: FieldReader) throws(Rejection) {
        commitmentAutoRenewProductID = try read("commitmentAutoRenewProductId")
        commitmentAutoRenewStatus = try read("commitmentAutoRenewStatus")
        commitmentRenewalBillingPlanType = try read("commitmentRenewalBillingPlanType")
        commitmentRenewalDate = try read("commitmentRenewalDate")
        commitmentRenewalPrice = try read("commitmentRenewalPrice")
    }
}
