/// The body of `POST /v1/sync`: signed artifacts from the App Store, unchanged. Unknown fields are ignored.
public struct SyncRequest: Sendable, Hashable, Codable {
    /// `AppTransaction.shared`, as `jwsRepresentation`.
    public var appTransaction: String?
    /// `jwsRepresentation` of each. There, even empty: that is all the customer has.
    public var transactions: [String]?
    /// Each counts beside a transaction of its subscription.
    public var renewalInfos: [String]?
    /// The contents of `appStoreReceiptURL`, in Base64.
    public var receipt: String?
    /// `AppStore.deviceVerificationID`. What was signed for that device counts as bound.
    public var deviceVerificationID: String?
    /// `UIDevice.identifierForVendor` as a UUID, on a Mac the MAC address in hexadecimal: what the receipt's hash was
    /// made with. Helps to tie the receipt to the app transaction.
    public var deviceIdentifier: String?
    /// The token of `tenure persona create`: replaces the customer. It counts only beside Sandbox and Xcode
    /// artifacts.
    public var persona: String?
    /// Made by the device for this request alone. The entitlement token repeats it, so that it cannot be an older one that
    /// somebody kept. At most 64 bytes in UTF-8.
    public var nonce: String?

    public init(
        appTransaction: String? = nil, transactions: [String]? = nil, renewalInfos: [String]? = nil,
        receipt: String? = nil, deviceVerificationID: String? = nil, deviceIdentifier: String? = nil,
        persona: String? = nil, nonce: String? = nil
    ) {
        self.appTransaction = appTransaction
        self.transactions = transactions
        self.renewalInfos = renewalInfos
        self.receipt = receipt
        self.deviceVerificationID = deviceVerificationID
        self.deviceIdentifier = deviceIdentifier
        self.persona = persona
        self.nonce = nonce
    }
}
