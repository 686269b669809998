public import Foundation
public import TenureCore

/// A verified artifact of any kind.
public enum VerifiedArtifact: Sendable, Hashable {
    /// An app transaction, which is about the app itself, from the device or the App Store Server API.
    case appTransaction(Verified<AppTransactionPayload>)
    /// A transaction, which is about one purchase of a product.
    case transaction(Verified<TransactionPayload>)
    /// Renewal info, which is about the next renewal of a subscription, and doesn't contain the app's bundle ID.
    case renewalInfo(Verified<RenewalInfoPayload>)
    /// A notification with the artifacts inside it, each verified on its own.
    case notification(VerifiedNotification)
    /// The legacy receipt, with all purchases in it.
    case receipt(Verified<ReceiptPayload>)

    /// The environment of the App Store that signed the artifact.
    public var environment: AppStoreEnvironment { signing.environment }

    /// Whether the App Store signed the artifact (or a configured substitute), or only Xcode on a developer's machine.
    public var status: VerificationStatus { signing.status }

    /// The certificates of the signer's chain, the signer's first.
    public var certificates: [CertificateSummary] { signing.certificates }

    /// The SHA-256 digest of the signed bytes, as in `Verified`. For a notification, the digest of the notification
    /// itself.
    package var signedContentDigest: [UInt8] { Array(signing.digest) }

    private var signing: Signing {
        switch self {
        case .appTransaction(let verified): verified.signing
        case .transaction(let verified): verified.signing
        case .renewalInfo(let verified): verified.signing
        case .notification(let verified): verified.notification.signing
        case .receipt(let verified): verified.signing
        }
    }
}

extension AppStoreVerifier {
    /// Verifies an artifact of any kind. Returns nil for a response of `verifyReceipt`, which is unsigned.
    /// `verifyAppTransaction` describes `now` and the order of the checks.
    public func verify(
        _ artifact: AppStoreArtifact, from source: AppTransactionSource = .client, now: Date?
    ) throws(Rejection) -> VerifiedArtifact? {
        switch artifact {
        case .verifyReceiptResponse: return nil
        case .receipt(let bytes): return .receipt(try verifyReceipt(bytes, now: now))
        case .jws(let jws, let bytes):
            switch jws.kind {
            case .appTransaction: return .appTransaction(try verifyAppTransaction(bytes, from: source, now: now))
            case .transaction: return .transaction(try verifyTransaction(bytes, now: now))
            case .renewalInfo: return .renewalInfo(try verifyRenewalInfo(bytes, now: now))
            case .notification: return .notification(try verifyNotification(bytes, now: now))
            case .realtime, nil:
                throw Rejection(
                    .wrongKind,
                    "the artifact's fields aren't those of an app transaction, a transaction, renewal info or a notification"
                )
            }
        }
    }
}
