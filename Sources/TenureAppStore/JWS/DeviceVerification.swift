import Crypto
public import Foundation
import TenureCore
import TenureJSON

/// The value by which a device recognizes its artifacts: SHA-384 over the lower-case UUIDs of the nonce and of the
/// device, as the App Store computes it.
public struct DeviceVerification: Sendable, Hashable {
    /// 48 bytes.
    public let hash: [UInt8]
    /// The UUID that the hash was made with, beside the device ID.
    public let nonce: UUID

    /// Nil if both fields are absent. Throws `malformed` if only one is present, or one can't be read.
    init?(hash: String?, nonce: String?) throws(Rejection) {
        guard hash != nil || nonce != nil else { return nil }
        guard let hash, let bytes = Base64.standard.decode(Array(hash.utf8)[...]), bytes.count == SHA384.byteCount
        else {
            throw Rejection(.malformed, "`deviceVerification` must be Base64 of \(SHA384.byteCount) bytes")
        }
        guard let nonce, let uuid = UUID(digits: nonce) else {
            throw Rejection(.malformed, "`deviceVerificationNonce` must be a UUID")
        }
        self.hash = bytes
        self.nonce = uuid
    }

    /// Whether it was signed for the device with this `AppStore.deviceVerificationID`, which the sender claims.
    public func matches(deviceVerificationID: UUID) -> Bool {
        hash == Self.hash(nonce: nonce, deviceVerificationID: deviceVerificationID)
    }

    package static func hash(nonce: UUID, deviceVerificationID: UUID) -> [UInt8] {
        Array(SHA384.hash(data: nonce.lowercaseUTF8 + deviceVerificationID.lowercaseUTF8))
    }
}

extension AppTransactionPayload {
    /// Nil in the server variant. Throws `malformed`.
    public func deviceBinding() throws(Rejection) -> DeviceVerification? {
        try DeviceVerification(hash: deviceVerification, nonce: deviceVerificationNonce)
    }
}

extension TransactionPayload {
    /// Nil if it came from a server. Throws `malformed`.
    public func deviceBinding() throws(Rejection) -> DeviceVerification? {
        try DeviceVerification(hash: deviceVerification, nonce: deviceVerificationNonce)
    }
}

extension RenewalInfoPayload {
    /// Nil if it came from a server. Throws `malformed`.
    public func deviceBinding() throws(Rejection) -> DeviceVerification? {
        try DeviceVerification(hash: deviceVerification, nonce: deviceVerificationNonce)
    }
}
