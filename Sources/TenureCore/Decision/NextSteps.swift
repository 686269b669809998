/// A step that can turn an undetermined decision into a granted or a denied one.
public enum NextStep: String, Sendable, Hashable, CaseIterable, Encodable {
    /// An app transaction of the customer (`AppTransaction.shared`).
    case appTransaction
    /// A refreshed receipt, which has version and date. Refresh the receipt only after a tap by the customer, because
    /// the refresh may show a sign-in.
    case refreshedReceipt
    /// The complete list of purchases: StoreKit's enumeration, or a tap on Restore Purchases.
    case purchases
    /// A grant or revocation by support, because no signed artifact can resolve the decision.
    case support
}

/// Next steps in their order, without duplicates.
struct NextSteps {
    private(set) var list: [NextStep] = []

    mutating func add(_ steps: [NextStep]) { for step in steps where !list.contains(step) { list.append(step) } }
}
