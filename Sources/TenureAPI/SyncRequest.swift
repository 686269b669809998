package import Foundation

/// The body of `POST /v1/sync`: signed artifacts from the App Store, unchanged. Unknown fields are ignored.
package struct SyncRequest: Sendable, Hashable, Codable {
    /// The `jwsRepresentation` of `AppTransaction.shared`.
    package var appTransaction: String?
    /// The `jwsRepresentation` of each transaction. A list must contain all of the customer's transactions. An empty
    /// list means that the customer has no transactions; nil means that the transactions are unknown.
    package var transactions: [String]?
    /// Renewal infos. Each renewal info is used only together with a transaction of its subscription.
    package var renewalInfos: [String]?
    /// The contents of `appStoreReceiptURL`, in Base64.
    package var receipt: String?
    /// The value of `AppStore.deviceVerificationID`. Artifacts that were signed for this device are bound, as
    /// `CustomerResponse.bound` explains.
    package var deviceVerificationID: String?
    /// The device ID in the receipt's hash: `UIDevice.identifierForVendor` as a UUID, or the MAC address in hexadecimal
    /// on a Mac. The ID helps to prove that the receipt and the app transaction belong to the same customer.
    package var deviceIdentifier: String?
    /// A token of `tenure persona create`. The test customer in the token replaces the real customer. The service
    /// accepts the token only with artifacts from Sandbox and Xcode.
    package var persona: String?
    /// A random value that the device creates for this request, at most 64 bytes in UTF-8. The entitlement token
    /// repeats the nonce, which proves that the token isn't older than the request.
    package var nonce: String?

    /// Creates a request with what the device has. Leave out what it doesn't have.
    package init(
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

/// Reading the body of a sync in the service, with its limits.
extension SyncRequest {
    /// The maximum size of a nonce, in bytes of UTF-8.
    private static let maximumNonceLength = 64

    /// Reads a body. Unknown fields are ignored.
    ///
    /// - Parameter limits: The maximum number of entries in each list.
    /// - Throws: `malformedRequest` if a field has a wrong type or the nonce is too long; `tooLarge` if a list has too
    ///   many entries. The message names the field.
    package init(reading body: Data, limits: (transactions: Int, renewalInfos: Int)) throws(Problem) {
        do {
            self = try JSONDecoder().decode(SyncRequest.self, from: body)
        } catch let DecodingError.typeMismatch(type, context), let DecodingError.valueNotFound(type, context) {
            throw Problem(wrongType: type, at: context.codingPath)
        } catch {
            throw Problem(.malformedRequest, "the body must be a JSON object")
        }
        if let count = transactions?.count, count > limits.transactions {
            throw Problem(.tooLarge, "`transactions` has \(count) entries; send at most \(limits.transactions)")
        }
        if let count = renewalInfos?.count, count > limits.renewalInfos {
            throw Problem(.tooLarge, "`renewalInfos` has \(count) entries; send at most \(limits.renewalInfos)")
        }
        if let nonce, nonce.utf8.count > Self.maximumNonceLength {
            throw Problem(
                .malformedRequest, "`nonce` has \(nonce.utf8.count) bytes; send at most \(Self.maximumNonceLength)")
        }
    }
}
