import TenureAppStore
import TenureCore
import TenureStore

/// A verified artifact from a client, or from the App Store Server API.
///
/// `SyncArtifact` is a class because copying a payload would retain dozens of strings.
final class SyncArtifact<Payload: Sendable & Hashable>: Sendable {
    let path: ArtifactPath
    /// The artifact as the database stores it.
    let storedArtifact: Artifact
    let verified: Verified<Payload>
    /// The artifact's environment, and whether a test authority signed it instead of Apple.
    let realm: Realm
    /// Whether the artifact was signed for the device ID that the client sent with it.
    let isOnDevice: Bool

    var payload: Payload { verified.payload }

    init(
        _ verified: Verified<Payload>, _ kind: Artifact.Kind, _ bytes: [UInt8], at path: ArtifactPath, isOnDevice: Bool
    ) {
        self.path = path
        self.verified = verified
        self.isOnDevice = isOnDevice
        // Only the signed content is hashed, because anyone can change the bytes around it.
        storedArtifact = Artifact(
            kind, bytes: bytes, sha256: verified.signedContentDigest, signedDate: verified.signedDate)
        realm = Realm(verified.environment, isTest: !AppleAnchors.containAnchor(of: verified.certificates))
    }
}

/// Adding the artifacts of a sync, with what each proves.
extension ProvenArtifacts {
    mutating func add(_ artifact: SyncArtifact<AppTransactionPayload>) {
        artifacts.append(artifact.storedArtifact)
        proofs.append(artifact.verified.proof)
        namedIdentities.add(artifact.payload)
    }

    mutating func add(_ artifact: SyncArtifact<ReceiptPayload>) {
        artifacts.append(artifact.storedArtifact)
        proofs.append(artifact.verified.proof)
        purchases += artifact.verified.purchases
        namedIdentities.add(artifact.verified)
    }

    mutating func add(_ artifact: SyncArtifact<TransactionPayload>, _ purchase: Purchase) {
        artifacts.append(artifact.storedArtifact)
        purchases.append(purchase)
        namedIdentities.add(artifact.payload, purchase)
    }

    mutating func add(_ artifact: SyncArtifact<RenewalInfoPayload>, _ renewal: Renewal) {
        artifacts.append(artifact.storedArtifact)
        renewals.append(renewal)
        namedIdentities.add(artifact.payload, renewal)
    }
}
