package import Foundation
import TenureCore
import TenureJSON

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

extension Problem {
    /// Creates the problem of a field with another JSON type than the Swift type `type` needs.
    package init(wrongType type: Any.Type, at path: [any CodingKey]) {
        let wanted =
            switch type {
            case is String.Type: "a string"
            case is Bool.Type: "`true` or `false`"
            case is any BinaryInteger.Type, is any BinaryFloatingPoint.Type: "a number"
            case is any RangeReplaceableCollection.Type: "a list"
            default: "an object"
            }
        let name = path.isEmpty ? "the body" : "`\(path.text)`"
        self.init(.malformedRequest, "\(name) has the wrong type; send \(wanted)")
    }
}

extension [any CodingKey] {
    /// The path of a field as messages write it, such as `transactions[3]`; `the body` if the path is empty.
    package var text: String {
        let text = reduce(into: "") { text, key in
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
        return text.isEmpty ? "the body" : text
    }
}

/// The device IDs that a client sends in a sync. Anyone can send them, so only artifacts that were signed for the
/// device prove them.
package struct ClaimedDevice: Sendable {
    /// The value of `AppStore.deviceVerificationID`. StoreKit 2's artifacts are signed for it.
    package let verificationID: UUID?
    /// The device ID in the receipt's hash: `identifierForVendor`, or the MAC address on macOS.
    package let identifier: [UInt8]?

    /// Reads the IDs in a request. Throws `malformedRequest` if an ID is invalid.
    package init(of request: SyncRequest) throws(Problem) {
        verificationID = try request.deviceVerificationID.map { text throws(Problem) in
            guard let id = UUID(digits: text) else {
                throw Problem(.malformedRequest, "`deviceVerificationID` must be a UUID")
            }
            return id
        }
        identifier = try request.deviceIdentifier.map { text throws(Problem) in
            guard let bytes = Self.bytes(ofIdentifier: text) else {
                throw Problem(
                    .malformedRequest,
                    "`deviceIdentifier` must be a UUID, or the six bytes of a MAC address in hexadecimal")
            }
            return bytes
        }
    }

    /// The bytes of a UUID, or of a MAC address with or without separators; nil for any other text.
    private static func bytes(ofIdentifier text: String) -> [UInt8]? {
        if let id = UUID(digits: text) { return withUnsafeBytes(of: id.uuid) { Array($0) } }
        let characters = text.utf8.filter { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "-") }
        let digits = characters.compactMap(HexDigit.value)
        guard characters.count == 12, digits.count == 12 else { return nil }
        return stride(from: 0, to: 12, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
