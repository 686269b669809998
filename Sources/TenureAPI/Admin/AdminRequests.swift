public import Foundation
import TenureCore

/// What people and servers ask of the admin interface. A field that it does not have is a mistake, such as `untill`, which
/// would else make a grant for good.
package protocol AdminRequest: Decodable {
    associatedtype CodingKeys: CodingKey & CaseIterable
}

/// `POST /v1/admin/customers/{id}/grants`
public struct GrantRequest: Sendable, Hashable, Decodable {
    public let entitlement: String
    /// Why, for those who read the record later.
    public let reason: String
    /// When it ends; nil: for good.
    public let until: Date?

    package enum CodingKeys: String, CodingKey, CaseIterable {
        case entitlement, reason, until
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        entitlement = try fields.decode(String.self, forKey: .entitlement)
        reason = try fields.decode(String.self, forKey: .reason)
        until = try fields.instantIfPresent(.until)
    }
}

/// `POST /v1/admin/customers/{id}/revocations`
public struct RevocationRequest: Sendable, Hashable, Codable {
    public let entitlement: String
    public let reason: String

    package enum CodingKeys: String, CodingKey, CaseIterable {
        case entitlement, reason
    }
}

/// `POST /v1/admin/customers/{id}/links`
public struct UserRequest: Sendable, Hashable, Codable {
    /// As the app's own server calls the user; at most 256 bytes.
    public let userID: String

    package enum CodingKeys: String, CodingKey, CaseIterable {
        case userID
    }
}

/// `POST /v1/link`: an access token that the app got for its user, or a customer whom the server knows.
public struct LinkRequest: Sendable, Hashable, Codable {
    public let userID: String
    public let accessToken: String?
    public let customer: String?

    package enum CodingKeys: String, CodingKey, CaseIterable {
        case userID, accessToken, customer
    }

    public init(userID: String, accessToken: String? = nil, customer: String? = nil) {
        self.userID = userID
        self.accessToken = accessToken
        self.customer = customer
    }
}

/// `POST /v1/admin/customers/{id}/merges`
public struct MergeRequest: Sendable, Hashable, Codable {
    /// The public id of whom they turned out to be as well.
    public let other: String
    public let reason: String

    package enum CodingKeys: String, CodingKey, CaseIterable {
        case other, reason
    }
}

/// `POST /v1/admin/customers/find`
public struct FindRequest: Sendable, Hashable, Codable {
    /// A JWS, a notification, a receipt in Base64, or an answer of verifyReceipt: the text as it was pasted.
    public let artifact: String

    package enum CodingKeys: String, CodingKey, CaseIterable {
        case artifact
    }
}

extension GrantRequest: AdminRequest {}
extension RevocationRequest: AdminRequest {}
extension UserRequest: AdminRequest {}
extension LinkRequest: AdminRequest {}
extension MergeRequest: AdminRequest {}
extension FindRequest: AdminRequest {}
extension PersonaRequest: AdminRequest {}
extension ReadyMadePersonasRequest: AdminRequest {}
extension RehearseRequest: AdminRequest {}
extension PublishRequest: AdminRequest {}
