import Foundation
import TenureCore
import TenureJSON

/// A value that identifies a customer in later requests. The value comes from the App Store or from the app's own
/// server, never from the client alone.
package struct Identity: Sendable, Hashable {
    /// The kinds in order of precedence: if identities of an update name different customers, an earlier kind decides.
    /// An app transaction's ID comes first, because it permanently identifies one account and one app.
    package enum Kind: UInt8, Sendable, Hashable, Comparable, CaseIterable {
        case appTransactionID = 1
        /// The ID of a download of the app: attribute 15 of a receipt.
        case downloadID = 2
        case originalTransactionID = 3
        /// A purchase of the app (its date and version) on a verified device (the hash of its ID).
        ///
        /// In test environments, it's used only if the app transaction has no `appTransactionId`. The device alone
        /// never identifies a customer, because several accounts may use it.
        case device = 4
        /// The hash of an artifact. Used only if no identity of a kind above is known.
        case artifact = 5
        /// A list of artifacts that came without proof that they belong to the sender. The list identifies an *unbound
        /// customer*.
        case unbound = 6
        // Identities of the kinds below name a customer, but a sync never finds a customer by them, because a client
        // could invent them.

        /// A user of the app, by the ID that the app's own server uses. Only a request with an admin key links a user.
        case userID = 8
        /// The UUID that the app gave to a purchase.
        ///
        /// The value is the UUID, a space, and the purchase's original transaction ID, because an app may give one UUID
        /// to several accounts.
        case appAccountToken = 9
        /// A renewal: a transaction that isn't the first one of its subscription.
        case transactionID = 10
        /// The ID of an order line (`webOrderLineItemId`): of a subscription's first purchase, or of a renewal.
        case webOrderLineItemID = 11
        /// A purchase that a member (row of `customers`) shares with another customer, who has the identity
        /// `originalTransactionID` for it. Several accounts can have one purchase. With this identity, a refund to any
        /// of these accounts also applies to unbound customers with the purchase.
        ///
        /// The value is the purchase's original transaction ID, a space, and the member's row ID.
        case sharedPurchase = 12

        /// Whether Apple's App Store Server API accepts this kind as the ID of a customer.
        var isAcceptedByAppStore: Bool { self == .appTransactionID || self == .originalTransactionID }

        package static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
    }

    package let kind: Kind
    /// The value, in the form that the kind describes.
    package let value: String

    package init(_ kind: Kind, _ value: String) {
        self.kind = kind
        self.value = value
    }

    /// Creates the identity for a purchase that the member with this row ID shares with another customer.
    init(sharedPurchase originalTransactionID: String, of member: Int64) {
        self.init(.sharedPurchase, "\(originalTransactionID) \(member)")
    }

    /// Creates the identity for the `appAccountToken` of a purchase. Returns nil if the token is missing or isn't a
    /// UUID.
    package init?(appAccountToken token: String?, of originalTransactionID: String) {
        guard let token, let id = UUID(digits: token) else { return nil }
        self.init(.appAccountToken, "\(String(decoding: id.lowercaseUTF8, as: UTF8.self)) \(originalTransactionID)")
    }

    /// The kind of an unbound customer's leading artifact: its app transaction, or else its receipt, or else its
    /// transactions. None of the artifacts was signed for the sender's device; otherwise the customer wouldn't be
    /// unbound.
    package enum Lead: String, Sendable, Hashable, CaseIterable {
        case app, receipt, transactions

        /// The first part of the values of unbound customers with this kind of leading artifact. `identity` is what
        /// this artifact names; nil if it names nothing.
        func valuePrefix(naming identity: Identity?) -> Substring {
            "\(rawValue) \(identity?.kind.rawValue ?? 0) \(identity?.value ?? "")"
        }
    }

    /// Creates the identity of an unbound customer. Its value is the kind of the leading artifact, the identity that
    /// this artifact names, and the digest of all artifacts, separated by spaces.
    package init(unboundLedBy lead: Lead, naming identity: Identity?, digest: String) {
        self.init(.unbound, lead.valuePrefix(naming: identity) + " " + digest)
    }

    /// The value of an unbound customer without the digest of the artifacts: the same for all unbound customers with
    /// the same kind of leading artifact and the same named identity.
    var valuePrefix: Substring { value[..<(value.lastIndex(of: " ") ?? value.endIndex)] }
}
