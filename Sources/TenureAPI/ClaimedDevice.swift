package import Foundation
import TenureJSON

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
