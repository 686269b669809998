package import Foundation
package import TenureCore
import TenureJSON

/// What the service reports about a customer: the response to `POST /v1/sync` and `GET /v1/customer`.
package struct CustomerResponse: Sendable, Hashable, Decodable {
    /// The customer's ID, an opaque string. If `bound` is false, the ID identifies only the artifacts that were sent.
    package let id: String
    /// Whether the artifacts are bound to the device that sent them. Otherwise, anyone may have sent copies of the
    /// artifacts.
    package let bound: Bool
    /// The App Store environment of the artifacts. Customers of different environments are never mixed.
    package let environment: AppStoreEnvironment
    /// Whether a test authority signed the artifacts instead of Apple.
    package let isTest: Bool
    /// The name of the persona, a test customer that replaced the real one in a test environment; nil if there is no
    /// persona. A response with a persona proves nothing in production.
    package let persona: String?
    /// The decision on each entitlement of the policy, by its name.
    package let entitlements: [String: EntitlementResponse]
    /// What the verified artifacts say about each purchase.
    package let purchases: [PurchaseResponse]
    /// Whether `purchases` contains all of the customer's purchases.
    package let purchasesAreComplete: Bool
    /// The entitlement token, a compact JWS that states the customer's entitlements for this device. Only the response
    /// to a sync with an app transaction that was signed for the device can have it.
    package let entitlementToken: String?
    /// The statements of older keys or an offline root that vouch for the key of `entitlementToken`. Nil
    /// without such statements: then the app must have pinned this key.
    package let signingKey: SigningKeyResponse?
    /// The access token for further requests. Only the response to a sync has it.
    package let accessToken: AccessTokenResponse?
    /// The rejected artifacts. All other artifacts are used.
    package let problems: [ArtifactProblem]

    enum CodingKeys: String, CodingKey {
        case id, bound, environment, isTest, persona, entitlements, purchases, purchasesAreComplete, entitlementToken
        case signingKey, accessToken, problems
    }

    /// Reads the response of this or a later service. Missing optional fields get their defaults.
    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        id = try fields.decode(String.self, forKey: .id)
        bound = try fields.decode(Bool.self, forKey: .bound)
        environment = try fields.decode(AppStoreEnvironment.self, forKey: .environment)
        isTest = try fields.decodeIfPresent(Bool.self, forKey: .isTest) ?? false
        persona = try fields.decodeIfPresent(String.self, forKey: .persona)
        entitlements = try fields.decode([String: EntitlementResponse].self, forKey: .entitlements)
        purchases = try fields.decode([PurchaseResponse].self, forKey: .purchases)
        purchasesAreComplete = try fields.decode(Bool.self, forKey: .purchasesAreComplete)
        entitlementToken = try fields.decodeIfPresent(String.self, forKey: .entitlementToken)
        signingKey = try fields.decodeIfPresent(SigningKeyResponse.self, forKey: .signingKey)
        accessToken = try fields.decodeIfPresent(AccessTokenResponse.self, forKey: .accessToken)
        problems = try fields.decodeIfPresent([ArtifactProblem].self, forKey: .problems) ?? []
    }
}

/// A token for `Authorization: Bearer …`. It gives access to the service's API, and proves nothing to other parties.
package struct AccessTokenResponse: Sendable, Hashable, Decodable {
    /// The token, an opaque string.
    package let value: String
    /// The time at which the token expires. The app gets a new token with its next sync.
    package let expiresAt: Date

    /// Creates a token for a response.
    package init(value: String, expiresAt: Date) {
        self.value = value
        self.expiresAt = expiresAt
    }

    enum CodingKeys: String, CodingKey { case value, expiresAt }
}

/// The values from which the service writes a response about a customer. Clients read the response as
/// `CustomerResponse`, which explains the fields.
package struct CustomerAnswer {
    package let id: String
    let bound: Bool
    let environment: AppStoreEnvironment
    package let isTest: Bool
    /// The name of the persona that replaced the customer; nil if there is no persona.
    let persona: String?
    package let decisions: [Decision]
    package let purchases: [Purchase]
    let purchasesAreComplete: Bool
    package var entitlementToken: String?
    package var signingKey: SigningKeyResponse?
    package var accessToken: AccessTokenResponse?
    package var problems: [ArtifactProblem] = []
    /// The reader's languages, for the titles in sentences. If empty, the policy's first language is used.
    package var languages: [String] = []

    /// Creates a response without tokens and problems, which callers add.
    package init(
        id: String, bound: Bool, environment: AppStoreEnvironment, isTest: Bool, decisions: [Decision],
        purchases: [Purchase], purchasesAreComplete: Bool, persona: String? = nil
    ) {
        self.id = id
        self.bound = bound
        self.persona = persona
        self.environment = environment
        self.isTest = isTest
        self.decisions = decisions
        self.purchases = purchases
        self.purchasesAreComplete = purchasesAreComplete
    }
}

extension JSONWriter {
    /// Writes the response that `CustomerResponse` reads.
    package mutating func value(_ customer: CustomerAnswer) {
        typealias Key = CustomerResponse.CodingKeys
        beginObject()
        field(Key.id, customer.id)
        field(Key.bound, customer.bound)
        field(Key.environment, customer.environment.rawValue)
        if customer.isTest { field(Key.isTest, true) }
        field(Key.persona, ifPresent: customer.persona)
        key(Key.entitlements)
        beginObject()
        // Many entitlements have the same reasons, so the bytes of a repeated reason are copied.
        var written = WrittenReasons()
        for index in customer.decisions.indices {
            key(customer.decisions[index].entitlement)
            value(customer.decisions[index], namesEntitlement: false, in: customer.languages, written: &written)
        }
        endObject()
        key(Key.purchases)
        beginArray()
        // A loop is faster than `array` with a closure, which isn't specialized in this module.
        for index in customer.purchases.indices { value(customer.purchases[index]) }
        endArray()
        field(Key.purchasesAreComplete, customer.purchasesAreComplete)
        field(Key.entitlementToken, ifPresent: customer.entitlementToken)
        if let keys = customer.signingKey {
            key(Key.signingKey)
            value(keys)
        }
        if let token = customer.accessToken {
            key(Key.accessToken)
            value(token)
        }
        if !customer.problems.isEmpty { field(Key.problems, customer.problems) { $0.value($1) } }
        endObject()
    }

    private mutating func value(_ token: AccessTokenResponse) {
        beginObject()
        field(AccessTokenResponse.CodingKeys.value, token.value)
        field(AccessTokenResponse.CodingKeys.expiresAt, token.expiresAt)
        endObject()
    }
}

/// One purchase, with Apple's field names. A date is nil if it doesn't apply to the purchase.
package struct PurchaseResponse: Sendable, Hashable, Decodable {
    /// The ID of the transaction, unique in the environment. A restored purchase can have a new ID.
    package let transactionID: String
    /// The ID of the first transaction of the purchase. All periods of a subscription have the same original ID.
    package let originalTransactionID: String
    /// The product ID in App Store Connect.
    package let productID: String
    /// Apple's name of the product's type, such as `Non-Consumable`; nil if an old receipt doesn't contain it.
    package let type: String?
    /// The date at which the product was bought or renewed.
    package let purchaseDate: Date?
    /// The end of a subscription's period; nil for other products.
    package let expiresDate: Date?
    /// The date at which Apple refunded the purchase, or at which Family Sharing of the purchase ended.
    package let revocationDate: Date?
    /// The end of the grace period of a subscription that couldn't be charged; nil if there is no grace period.
    package let gracePeriodExpiresDate: Date?
    /// Whether a higher plan replaced the subscription during this period.
    package let isUpgraded: Bool
    /// Whether a family member bought the product.
    package let isFamilyShared: Bool
    /// Whether Apple still tries to charge for an expired subscription.
    package let isInBillingRetryPeriod: Bool

    enum CodingKeys: String, CodingKey {
        case transactionID, originalTransactionID, productID, type, purchaseDate, expiresDate, revocationDate
        case gracePeriodExpiresDate, isUpgraded, isFamilyShared, isInBillingRetryPeriod
    }

    /// Reads a purchase. A missing flag is false.
    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        transactionID = try fields.decode(String.self, forKey: .transactionID)
        originalTransactionID = try fields.decode(String.self, forKey: .originalTransactionID)
        productID = try fields.decode(String.self, forKey: .productID)
        type = try fields.decodeIfPresent(String.self, forKey: .type)
        purchaseDate = try fields.decodeIfPresent(Date.self, forKey: .purchaseDate)
        expiresDate = try fields.decodeIfPresent(Date.self, forKey: .expiresDate)
        revocationDate = try fields.decodeIfPresent(Date.self, forKey: .revocationDate)
        gracePeriodExpiresDate = try fields.decodeIfPresent(Date.self, forKey: .gracePeriodExpiresDate)
        isUpgraded = try fields.decodeIfPresent(Bool.self, forKey: .isUpgraded) ?? false
        isFamilyShared = try fields.decodeIfPresent(Bool.self, forKey: .isFamilyShared) ?? false
        isInBillingRetryPeriod = try fields.decodeIfPresent(Bool.self, forKey: .isInBillingRetryPeriod) ?? false
    }
}

extension JSONWriter {
    /// Writes a purchase. Fields that don't apply are left out, as in Apple's payloads.
    package mutating func value(_ purchase: Purchase) {
        typealias Key = PurchaseResponse.CodingKeys
        beginObject()
        field(Key.transactionID, purchase.transactionID)
        field(Key.originalTransactionID, purchase.originalTransactionID)
        field(Key.productID, purchase.productID)
        field(Key.type, ifPresent: purchase.type?.wireName)
        if let date = purchase.purchaseDate { field(Key.purchaseDate, date) }
        if let date = purchase.expiresDate { field(Key.expiresDate, date) }
        if let date = purchase.revocationDate { field(Key.revocationDate, date) }
        if let date = purchase.gracePeriodExpiresDate { field(Key.gracePeriodExpiresDate, date) }
        if purchase.isUpgraded { field(Key.isUpgraded, true) }
        if purchase.isFamilyShared { field(Key.isFamilyShared, true) }
        if purchase.isInBillingRetryPeriod { field(Key.isInBillingRetryPeriod, true) }
        endObject()
    }
}

extension Purchase.ProductType {
    /// The product's type as Apple's signed transactions write it in `type`.
    fileprivate var wireName: String {
        switch self {
        case .nonConsumable: "Non-Consumable"
        case .consumable: "Consumable"
        case .nonRenewing: "Non-Renewing Subscription"
        case .autoRenewable: "Auto-Renewable Subscription"
        case .unknown(let name): name
        }
    }
}
