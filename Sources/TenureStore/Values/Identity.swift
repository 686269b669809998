import Foundation
import TenureCore
import TenureJSON

/// By what a customer is found again: something that the App Store signed, never what a client merely says.
package struct Identity: Sendable, Hashable {
    /// In the order in which they decide: an app transaction's id is one account and one app, for good.
    package enum Kind: UInt8, Sendable, Hashable, Comparable, CaseIterable {
        case appTransactionID = 1
        /// Attribute 15 of a receipt.
        case downloadID = 2
        case originalTransactionID = 3
        /// A purchase of the app (its date and version) on a device (the hash of its id) that it was verified to be
        /// signed for; in test environments only where it has no id of its own. Never the device alone, which several
        /// accounts may use.
        case device = 4
        /// The hash of an artifact. Only where nothing above is known.
        case artifact = 5
        /// What somebody showed who did not prove that it is theirs: a record of its own, beside the customer's.
        case unbound = 6
        // The ones below name a customer, and nobody is found by them who sends something: a client could say them.

        /// A user of the app, as its own server names them. Nothing but that server's key links one.
        case userID = 8
        /// The UUID that the app gave to a purchase, then a blank and the purchase's original transaction: an app may
        /// give one to several accounts.
        case appAccountToken = 9
        /// A transaction that is not its subscription's first.
        case transactionID = 10
        /// An event of a subscription, its first or a renewal, as its order has it.
        case webOrderLineItemID = 11

        /// Whether the App Store's server knows somebody by it.
        var isAppStores: Bool { self == .appTransactionID || self == .originalTransactionID }

        package static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
    }

    package let kind: Kind
    package let value: String

    package init(_ kind: Kind, _ value: String) {
        self.kind = kind
        self.value = value
    }

    /// Nil where there is no token, or it is no UUID.
    package init?(appAccountToken token: String?, of originalTransactionID: String) {
        guard let token, let id = UUID(digits: token) else { return nil }
        self.init(.appAccountToken, "\(String(decoding: id.lowercaseUTF8, as: UTF8.self)) \(originalTransactionID)")
    }
}

extension Identity {
    /// What somebody led with who showed what they may have found.
    package enum Lead: String, Sendable, Hashable, CaseIterable {
        case app, receipt, transactions

        /// How the value of each such visit begins that names `identity`.
        func shown(_ identity: Identity?) -> Substring {
            "\(rawValue) \(identity?.kind.rawValue ?? 0) \(identity?.value ?? "")"
        }
    }

    /// A visit: what it leads with, whom that names, and after a blank the digest of what was shown.
    package init(unboundLedBy lead: Lead, naming identity: Identity?, showing digest: String) {
        self.init(.unbound, lead.shown(identity) + " " + digest)
    }

    /// Of a visit: all but the digest of what was shown.
    var shown: Substring { value[..<(value.lastIndex(of: " ") ?? value.endIndex)] }
}
