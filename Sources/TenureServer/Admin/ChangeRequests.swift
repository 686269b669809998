import Foundation

/// The body of `POST /v1/admin/customers/{id}/grants`.
struct GrantRequest: AdminRequest {
    let entitlement: String
    /// The reason that the timeline and exports show.
    let reason: String
    /// The end of the grant; nil if the grant is permanent.
    let until: Date?

    enum CodingKeys: String, CodingKey, CaseIterable { case entitlement, reason, until }
}

/// The body of `POST /v1/admin/customers/{id}/revocations`.
struct RevocationRequest: AdminRequest {
    let entitlement: String
    /// The reason that the timeline and exports show.
    let reason: String

    enum CodingKeys: String, CodingKey, CaseIterable { case entitlement, reason }
}

/// The body of `POST /v1/admin/customers/{id}/links`.
struct UserRequest: AdminRequest {
    /// The ID that the app's server has for the user; at most 256 bytes.
    let userID: String

    enum CodingKeys: String, CodingKey, CaseIterable { case userID }
}

/// The body of `POST /v1/link`. It has either `accessToken` or `customer`.
struct LinkRequest: AdminRequest {
    /// The ID that the app's server has for the user.
    let userID: String
    /// The access token that the user's app received from the service.
    let accessToken: String?
    /// The public ID of a customer.
    let customer: String?

    enum CodingKeys: String, CodingKey, CaseIterable { case userID, accessToken, customer }
}

/// The body of `POST /v1/admin/customers/{id}/merges`.
struct MergeRequest: AdminRequest {
    /// The public ID of the other customer.
    let other: String
    /// Why support merges the customers, for the audit trail.
    let reason: String

    enum CodingKeys: String, CodingKey, CaseIterable { case other, reason }
}
