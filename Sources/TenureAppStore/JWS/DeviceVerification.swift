import Crypto
public import Foundation
import TenureJSON

/// The value that binds an artifact to a device. The App Store computes it: the SHA-384 hash of the nonce and the
/// device's ID, both as lowercase UUIDs.
public struct DeviceVerification: Sendable, Hashable {
    /// The SHA-384 hash, 48 bytes.
    public let hash: [UInt8]
    /// The random UUID that was hashed together with the device's ID, so that hashes of one device differ.
    public let nonce: UUID

    /// Reads both fields; nil if both are missing. Throws `malformed` if only one field is present or a field is
    /// invalid.
    init?(hash: String?, nonce: String?) throws(Rejection) {
        guard hash != nil || nonce != nil else { return nil }
        guard let hash, let bytes = Base64.standard.decode(Array(hash.utf8)[...]), bytes.count == SHA384.byteCount
        else { throw Rejection(.malformed, "`deviceVerification` must be Base64 of \(SHA384.byteCount) bytes") }
        guard let nonce, let uuid = UUID(digits: nonce)
        else { throw Rejection(.malformed, "`deviceVerificationNonce` must be a UUID") }
        self.hash = bytes
        self.nonce = uuid
    }

    /// Whether the artifact was signed for the device with this `AppStore.deviceVerificationID`.
    ///
    /// The client that sends the artifact also sends the ID. The artifact has only a hash of the ID, so the ID can't be
    /// found from a copy of the artifact. But a match doesn't prove that the client runs on the device: any client that
    /// knows the ID can send it.
    public func matches(deviceVerificationID: UUID) -> Bool {
        hash == Self.hash(nonce: nonce, deviceVerificationID: deviceVerificationID)
    }

    /// Computes the hash as the App Store does.
    package static func hash(nonce: UUID, deviceVerificationID: UUID) -> [UInt8] {
        Array(SHA384.hash(data: nonce.lowercaseUTF8 + deviceVerificationID.lowercaseUTF8))
    }
}
