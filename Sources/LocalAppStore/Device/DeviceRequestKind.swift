/// The requests of a customer's device. Tenure's module `StoreKit` for Linux sends them, in process or over HTTP
/// (`POST /control/device/NAME`).
///
/// Each request has the `customer` (by default the only customer) and the `app` (by default the only app). Artifacts in
/// the response are signed for the `device`, a UUID.
package enum DeviceRequestKind: String, CaseIterable, Sendable, Hashable {
    /// Everything that the App Store knows about the customer in this app: transactions, subscriptions, storefront.
    case contents
    /// The number of changes of the store so far. The response comes as soon as the number is greater than `after`. If
    /// the request has `seconds` (1 to 60), the response comes after this time at the latest.
    case changes
    /// The signed app transaction.
    case appTransaction
    /// The app receipt, in Base64.
    case receipt
    /// The products of `ids` that are on sale, at the prices of the customer's storefront.
    case products
    /// Buys a `product`. Optional: `quantity`, `offer`, `appAccountToken`.
    case purchase
    /// Records that the app has finished a `transaction`.
    case finish
    /// The root certificates of the store's test authority, in Base64 of DER.
    case roots
    /// The time of the local App Store's clock.
    case now
    /// Performs `operations`, in the form of the control interface. If an operation needs a customer and names none, it
    /// is performed for the request's `customer`.
    case operations
}
