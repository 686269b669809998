public import Foundation

/// The commitment of a subscription that is billed monthly for a longer time.
public struct CommitmentInfo: Sendable, Hashable {
    public let billingPeriodNumber: Int64?
    public let totalBillingPeriods: Int64?
    public let commitmentExpiresDate: Date?
    /// Thousandths of the currency.
    public let commitmentPrice: Int64?

    enum Fields {
        static let billingPeriodNumber = Field<Int64>("billingPeriodNumber")
        static let totalBillingPeriods = Field<Int64>("totalBillingPeriods")
        static let commitmentExpiresDate = Field<Date>("commitmentExpiresDate")
        static let commitmentPrice = Field<Int64>("commitmentPrice")
    }
}

extension CommitmentInfo: FieldObject {
    static let fields: [FieldDescription] = [
        Fields.billingPeriodNumber.description, Fields.totalBillingPeriods.description,
        Fields.commitmentExpiresDate.description, Fields.commitmentPrice.description,
    ]

    init(reading read: FieldReader) throws(Rejection) {
        billingPeriodNumber = try read(Fields.billingPeriodNumber)
        totalBillingPeriods = try read(Fields.totalBillingPeriods)
        commitmentExpiresDate = try read(Fields.commitmentExpiresDate)
        commitmentPrice = try read(Fields.commitmentPrice)
    }
}

/// What happens to a commitment at its renewal.
public struct RenewalCommitmentInfo: Sendable, Hashable {
    public let commitmentAutoRenewProductID: String?
    public let commitmentAutoRenewStatus: Open<AutoRenewStatus>?
    public let commitmentRenewalBillingPlanType: Open<BillingPlanType>?
    public let commitmentRenewalDate: Date?
    /// Thousandths of the currency.
    public let commitmentRenewalPrice: Int64?

    enum Fields {
        static let commitmentAutoRenewProductID = Field<String>("commitmentAutoRenewProductId")
        static let commitmentAutoRenewStatus = Field<Open<AutoRenewStatus>>("commitmentAutoRenewStatus")
        static let commitmentRenewalBillingPlanType = Field<Open<BillingPlanType>>("commitmentRenewalBillingPlanType")
        static let commitmentRenewalDate = Field<Date>("commitmentRenewalDate")
        static let commitmentRenewalPrice = Field<Int64>("commitmentRenewalPrice")
    }
}

extension RenewalCommitmentInfo: FieldObject {
    static let fields: [FieldDescription] = [
        Fields.commitmentAutoRenewProductID.description, Fields.commitmentAutoRenewStatus.description,
        Fields.commitmentRenewalBillingPlanType.description, Fields.commitmentRenewalDate.description,
        Fields.commitmentRenewalPrice.description,
    ]

    init(reading read: FieldReader) throws(Rejection) {
        commitmentAutoRenewProductID = try read(Fields.commitmentAutoRenewProductID)
        commitmentAutoRenewStatus = try read(Fields.commitmentAutoRenewStatus)
        commitmentRenewalBillingPlanType = try read(Fields.commitmentRenewalBillingPlanType)
        commitmentRenewalDate = try read(Fields.commitmentRenewalDate)
        commitmentRenewalPrice = try read(Fields.commitmentRenewalPrice)
    }
}
