import Foundation
import TenureCore

/// The format of an account in the stored state.
///
/// The types of `TenureCore` aren't `Codable`, because only verification may create evidence, such as proofs and
/// purchases. Reading evidence from the stored state is safe: this device verified the evidence before it was stored,
/// and a seal protects the state against changes.
extension Account: Codable {
    private enum CodingKeys: String, CodingKey {
        case environment, bundleID, appTransactionID, proofs, purchases, renewals, entitlementToken, keyStatements,
            serviceAnswers, answeredAt, denials, stale, persona, sentEverything, unanswered, refused, delivered, granted
    }

    package init(from decoder: any Decoder) throws {
        self.init()
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        let environment = try fields.decodeIfPresent(AppStoreEnvironment.self, forKey: .environment)
        let bundleID = try fields.decodeIfPresent(String.self, forKey: .bundleID)
        restore(
            environment: environment, bundleID: bundleID,
            appTransactionID: try fields.decodeIfPresent(String.self, forKey: .appTransactionID),
            proofs: try fields.decodeIfPresent([StoredProof].self, forKey: .proofs)?.compactMap(\.proof) ?? [],
            purchases: try fields.decodeIfPresent([StoredPurchase].self, forKey: .purchases)?.map(\.purchase) ?? [],
            renewals: try fields.decodeIfPresent([StoredRenewal].self, forKey: .renewals)?.map(\.renewal) ?? [])
        entitlementToken = try fields.decodeIfPresent(String.self, forKey: .entitlementToken)
        keyStatements = try fields.decodeIfPresent([String].self, forKey: .keyStatements) ?? []
        serviceAnswers = try fields.decodeIfPresent([String: Tenure.Answer].self, forKey: .serviceAnswers) ?? [:]
        answeredAt = try fields.decodeIfPresent(Date.self, forKey: .answeredAt)
        staleAppTransactionID = try fields.decodeIfPresent(String.self, forKey: .stale)
        persona = try fields.decodeIfPresent(String.self, forKey: .persona)
        denials = try fields.decodeIfPresent(Set<String>.self, forKey: .denials) ?? []
        sentEverything = try fields.decodeIfPresent(Bool.self, forKey: .sentEverything) ?? false
        unansweredTransactions = try fields.decodeIfPresent(Set<String>.self, forKey: .unanswered) ?? []
        refusedTransactions = try fields.decodeIfPresent(Set<String>.self, forKey: .refused) ?? []
        deliveredTransactions = try fields.decodeIfPresent(Set<String>.self, forKey: .delivered) ?? []
        grantedByDevice = try fields.decodeIfPresent([String: Tenure.Answer].self, forKey: .granted) ?? [:]
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encodeIfPresent(environment, forKey: .environment)
        try fields.encodeIfPresent(bundleID, forKey: .bundleID)
        try fields.encodeIfPresent(key?.appTransactionID, forKey: .appTransactionID)
        if !proofs.isEmpty { try fields.encode(proofs.map(StoredProof.init), forKey: .proofs) }
        if !purchases.isEmpty { try fields.encode(purchases.map(StoredPurchase.init), forKey: .purchases) }
        if !renewals.isEmpty { try fields.encode(renewals.map(StoredRenewal.init), forKey: .renewals) }
        try fields.encodeIfPresent(entitlementToken, forKey: .entitlementToken)
        if !keyStatements.isEmpty { try fields.encode(keyStatements, forKey: .keyStatements) }
        if !serviceAnswers.isEmpty { try fields.encode(serviceAnswers, forKey: .serviceAnswers) }
        try fields.encodeIfPresent(answeredAt, forKey: .answeredAt)
        try fields.encodeIfPresent(staleAppTransactionID, forKey: .stale)
        try fields.encodeIfPresent(persona, forKey: .persona)
        if sentEverything { try fields.encode(sentEverything, forKey: .sentEverything) }
        if !unansweredTransactions.isEmpty { try fields.encode(unansweredTransactions.sorted(), forKey: .unanswered) }
        if !refusedTransactions.isEmpty { try fields.encode(refusedTransactions.sorted(), forKey: .refused) }
        if !deliveredTransactions.isEmpty { try fields.encode(deliveredTransactions.sorted(), forKey: .delivered) }
        if !grantedByDevice.isEmpty { try fields.encode(grantedByDevice, forKey: .granted) }
        if !denials.isEmpty { try fields.encode(denials.sorted(), forKey: .denials) }
    }
}

/// The format of a proof of when and in which version the account got the app. Short names keep the state small.
private struct StoredProof: Codable {
    var kind: String
    var signed: Date?
    var appTransactionID: String?
    var downloadID: String?
    var platform: String?
    var version: String?
    var date: Date?
    var preorder: Date?
    var revoked: Date?
    var expires: Date?
}

extension StoredProof {
    fileprivate init(_ proof: AppProof) {
        self.init(
            kind: proof.kind.rawValue, signed: proof.signedDate, platform: proof.originalPlatform?.rawValue,
            version: proof.originalAppVersion, date: proof.originalPurchaseDate, preorder: proof.preorderDate,
            revoked: proof.revocationDate, expires: proof.expirationDate)
        switch proof.id {
        case .appTransaction(let id): appTransactionID = id
        case .download(let id): downloadID = id
        case nil: break
        }
    }

    /// The proof. Nil if another release of Tenure stored a kind that this release doesn't know.
    fileprivate var proof: AppProof? {
        AppProof.Kind(rawValue: kind).map {
            AppProof(
                kind: $0, signedDate: signed,
                id: appTransactionID.map { .appTransaction($0) } ?? downloadID.map { .download($0) },
                originalPlatform: platform.flatMap { Platform(rawValue: $0) }, originalAppVersion: version,
                originalPurchaseDate: date, preorderDate: preorder, revocationDate: revoked, expirationDate: expires)
        }
    }
}

/// The format of a purchase. Fields that are false or unknown are left out.
private struct StoredPurchase: Codable {
    var id: String
    var original: String
    var product: String
    var type: String?
    var bought: Date?
    var expires: Date?
    var revoked: Date?
    var upgraded: Bool?
    var shared: Bool?
    var signed: Date?
}

extension StoredPurchase {
    fileprivate init(_ purchase: Purchase) {
        self.init(
            id: purchase.transactionID, original: purchase.originalTransactionID, product: purchase.productID,
            type: purchase.type?.storedName, bought: purchase.purchaseDate, expires: purchase.expiresDate,
            revoked: purchase.revocationDate, upgraded: purchase.isUpgraded ? true : nil,
            shared: purchase.isFamilyShared ? true : nil, signed: purchase.signedDate)
    }

    fileprivate var purchase: Purchase {
        Purchase(
            transactionID: id, originalTransactionID: original, productID: product,
            type: type.map { Purchase.ProductType(storedName: $0) }, purchaseDate: bought, expiresDate: expires,
            revocationDate: revoked, isUpgraded: upgraded ?? false, isFamilyShared: shared ?? false, signedDate: signed)
    }
}

/// The format of a subscription's renewal info.
private struct StoredRenewal: Codable {
    var original: String
    var product: String?
    /// The end of the App Store's grace period after a failed charge.
    var grace: Date?
    var retries: Bool?
    var signed: Date?
}

extension StoredRenewal {
    fileprivate init(_ renewal: Renewal) {
        self.init(
            original: renewal.originalTransactionID, product: renewal.productID, grace: renewal.gracePeriodExpiresDate,
            retries: renewal.isInBillingRetryPeriod ? true : nil, signed: renewal.signedDate)
    }

    fileprivate var renewal: Renewal {
        Renewal(
            originalTransactionID: original, productID: product, gracePeriodExpiresDate: grace,
            isInBillingRetryPeriod: retries ?? false, signedDate: signed)
    }
}

extension Purchase.ProductType {
    /// The name in the stored state. `?` marks a type that this release doesn't know.
    fileprivate var storedName: String {
        switch self {
        case .nonConsumable: "nonConsumable"
        case .consumable: "consumable"
        case .nonRenewing: "nonRenewing"
        case .autoRenewable: "autoRenewable"
        case .unknown(let name): "?" + name
        }
    }

    fileprivate init(storedName: String) {
        let known: [Self] = [.nonConsumable, .consumable, .nonRenewing, .autoRenewable]
        self = known.first { $0.storedName == storedName } ?? .unknown(String(storedName.drop { $0 == "?" }))
    }
}
