/// By what a customer is found again: something that the App Store signed, never what a client merely says.
package struct Identity: Sendable, Hashable {
    /// In the order in which they decide: an app transaction's id is one account and one app, for good.
    package enum Kind: UInt8, Sendable, Hashable, Comparable, CaseIterable {
        case appTransactionID = 1
        /// Attribute 15 of a receipt.
        case downloadID = 2
        case originalTransactionID = 3
        /// A purchase of the app (its date and version) on a device (the hash of its id) that it was verified to be
        /// signed for, where it has no id of its own. Never the device alone, which several accounts may use.
        case device = 4
        /// The hash of an artifact. Only where nothing above is known.
        case artifact = 5
        /// What somebody showed who did not prove that it is theirs: a record of its own, beside the customer's.
        case visit = 6
        /// A user of the app, as its own server names them. Nothing but that server's key links one.
        case userID = 8

        package static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
    }

    package let kind: Kind
    package let value: String

    package init(_ kind: Kind, _ value: String) {
        self.kind = kind
        self.value = value
    }
}
