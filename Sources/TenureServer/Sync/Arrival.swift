import Foundation
import TenureAppStore
import TenureCore
import TenureStore

/// A verified artifact as it came. It never changes.
///
/// By reference: payloads hold dozens of texts, each of which a copy would have to retain.
final class Arrival<Payload: Sendable & Hashable>: Sendable {
    let place: Place
    let artifact: Artifact
    let verified: Verified<Payload>
    let realm: Realm
    /// Signed for the device that sent it, as far as its id is true.
    let isOnDevice: Bool

    var payload: Payload { verified.payload }

    init(_ verified: Verified<Payload>, _ kind: Artifact.Kind, _ bytes: [UInt8], at place: Place, isOnDevice: Bool) {
        self.place = place
        self.verified = verified
        self.isOnDevice = isOnDevice
        // Of what was signed: around it anybody can write what no signature covers, as often as they like.
        artifact = Artifact(
            kind, bytes: bytes, sha256: verified.signedContentDigest, signedDate: verified.signedDate)
        realm = Realm(verified.environment, isTest: !AppleAnchors.signed(verified.certificates))
    }
}
