package import Foundation
import TenureAPI
import TenureCore

/// What people and servers ask of the admin interface. A field that it does not have is a mistake, such as `untill`, which
/// would else make a grant for good.
package protocol AdminRequest: Decodable {
    associatedtype CodingKeys: CodingKey & CaseIterable
}

/// `POST /v1/admin/customers/{id}/grants`
package struct GrantRequest: Sendable, Hashable, Decodable {
    package let entitlement: String
    /// Why, for those who read the record later.
    package let reason: String
    /// When it ends; nil: for good.
    package let until: Date?

    package enum CodingKeys: String, CodingKey, CaseIterable {
        case entitlement, reason, until
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        entitlement = try fields.decode(String.self, forKey: .entitlement)
        reason = try fields.decode(String.self, forKey: .reason)
        until = try fields.instantIfPresent(.until)
    }
}

/// `POST /v1/admin/customers/{id}/revocations`
package struct RevocationRequest: Sendable, Hashable, Codable {
    package let entitlement: String
    package let reason: String

    package enum CodingKeys: String, CodingKey, CaseIterable {
        case entitlement, reason
    }
}

/// `POST /v1/admin/customers/{id}/links`
package struct UserRequest: Sendable, Hashable, Codable {
    /// As the app's own server calls the user; at most 256 bytes.
    package let userID: String

    package enum CodingKeys: String, CodingKey, CaseIterable {
        case userID
    }
}

/// `POST /v1/link`: an access token that the app got for its user, or a customer whom the server knows.
package struct LinkRequest: Sendable, Hashable, Codable {
    package let userID: String
    package let accessToken: String?
    package let customer: String?

    package enum CodingKeys: String, CodingKey, CaseIterable {
        case userID, accessToken, customer
    }

    package init(userID: String, accessToken: String? = nil, customer: String? = nil) {
        self.userID = userID
        self.accessToken = accessToken
        self.customer = customer
    }
}

/// `POST /v1/admin/customers/{id}/merges`
package struct MergeRequest: Sendable, Hashable, Codable {
    /// The public id of whom they turned out to be as well.
    package let other: String
    package let reason: String

    package enum CodingKeys: String, CodingKey, CaseIterable {
        case other, reason
    }
}

/// `POST /v1/admin/customers/find`
package struct FindRequest: Sendable, Hashable, Codable {
    /// A JWS, a notification, a receipt in Base64, or an answer of verifyReceipt: the text as it was pasted.
    package let artifact: String

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
