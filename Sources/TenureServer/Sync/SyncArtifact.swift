import Foundation
import TenureAPI
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
    /// The environment that signed the artifact, and whether a test authority signed it instead of Apple.
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

/// An artifact in a sync, or in a response of the App Store, that isn't accepted, and the reason. The response to a
/// sync lists the rejected artifacts.
struct RejectedArtifact: Sendable, Hashable {
    let path: ArtifactPath
    /// A stable code, as in `ArtifactProblem`.
    let code: String
    let detail: String
    /// Whether the same artifact may be accepted later.
    let isRetryable: Bool

    /// The problem that the response to a sync shows.
    var problem: ArtifactProblem { ArtifactProblem(artifact: path.name, code: code, detail: detail) }
}

extension RejectedArtifact {
    /// Creates the rejection of an artifact that can't be verified.
    init(_ path: ArtifactPath, _ rejection: Rejection) {
        self.init(
            path: path, code: rejection.code.rawValue, detail: rejection.detail, isRetryable: rejection.isRetryable)
    }

    /// Creates the rejection of an artifact that can't be used together with the other artifacts, or of a persona.
    init(_ path: ArtifactPath, _ relation: ArtifactProblem.Relation, _ detail: String) {
        self.init(path: path, code: relation.rawValue, detail: detail, isRetryable: false)
    }
}

extension [RejectedArtifact] {
    /// The problems in the order of the request.
    var problems: [ArtifactProblem] { sorted { $0.path < $1.path }.map(\.problem) }

    /// Returns the result of `verify`. If `verify` rejects the artifact at `path`, adds the rejection and returns nil.
    mutating func unlessRejected<Output>(_ path: ArtifactPath, _ verify: () throws(Rejection) -> Output) -> Output? {
        do {
            return try verify()
        } catch {
            append(RejectedArtifact(path, error))
            return nil
        }
    }
}

/// The position of an artifact in the body of a sync, such as `transactions[2]`. Responses name the artifact by its
/// position.
enum ArtifactPath: Sendable, Hashable, Comparable {
    case appTransaction
    case receipt
    case transaction(Int)
    case renewalInfo(Int)
    case persona

    /// The position as text, for responses.
    var name: String {
        switch self {
        case .appTransaction: "appTransaction"
        case .receipt: "receipt"
        case .transaction(let index): "transactions[\(index)]"
        case .renewalInfo(let index): "renewalInfos[\(index)]"
        case .persona: "persona"
        }
    }
}

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
