/// The ID by which an operation names a customer. For a merged customer, it names one member.
package enum CustomerName: Sendable, Hashable {
    /// The ID that clients and support see.
    case publicID(String)
    /// The number in access tokens.
    case number(Int64)
}
