/// The ID by which an operation names a customer. For a merged customer, it names one member (row of `customers`).
package enum CustomerName: Sendable, Hashable {
    /// The ID that clients and support see.
    case publicID(String)
    /// The row ID that access tokens contain.
    case rowID(Int64)
}
