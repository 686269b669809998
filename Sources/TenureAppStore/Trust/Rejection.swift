import TenureJSON

/// Why an artifact of the App Store is rejected.
public struct Rejection: Error, Sendable, Hashable, CustomStringConvertible {
    /// A stable name of the reason, for programs.
    public enum Code: String, CaseIterable, Sendable, Hashable, Codable {
        /// The bytes don't have the artifact's format, or a required field is missing or has the wrong type.
        case malformed
        /// The artifact is signed with an algorithm or a kind of key that the App Store doesn't use for such artifacts.
        case unsupportedAlgorithm
        /// The certificates don't lead to a trusted root.
        case untrustedChain
        /// The certificates lead to a trusted root, but have another purpose.
        case wrongPurpose
        /// A certificate of the chain wasn't valid at the signing date, the artifact has expired, or it is dated in the
        /// future.
        case outsideValidityPeriod
        /// The signature doesn't match these bytes and this certificate.
        case badSignature
        /// The artifact was signed for another app.
        case wrongApp
        /// The artifact was signed in an environment that the verifier doesn't accept.
        case wrongEnvironment
        /// The artifact is of another kind than expected.
        case wrongKind
        /// The bytes are larger than any genuine artifact.
        case tooLarge
        /// There were too many unknown signers in a short time. The artifact wasn't checked; send it again later.
        case tooManyUnknownSigners
        /// The verifier itself is misconfigured; the artifact may be valid.
        case misconfigured
    }

    /// What the verifier's configuration lacks to trust the artifact's signer.
    package enum MissingTrust: Sendable, Hashable {
        /// The root of the artifact's certificates.
        case root
        /// The certificate with which an Xcode signs.
        case xcode
        /// The environments of the App Store: only artifacts of Xcode are accepted.
        case appStore
    }

    /// The stable code of the reason, which programs may compare.
    public let code: Code
    /// The reason as one sentence in lower case, without a final period.
    public let detail: String
    /// What the configuration lacks to trust the signer; nil for any other reason.
    package let missingTrust: MissingTrust?

    package init(_ code: Code, _ detail: String, missingTrust: MissingTrust? = nil) {
        self.code = code
        self.detail = detail
        self.missingTrust = missingTrust
    }

    init(_ error: JSONError) { self.init(.malformed, "\(error)") }

    /// Returns the rejection of a receipt that doesn't have the format of receipts.
    ///
    /// - Parameter reason: what is wrong with the receipt, for the message. In the reason, "it" is the receipt.
    static func unreadable(_ reason: String) -> Rejection {
        Rejection(.malformed, "the receipt can't be read: \(reason)")
    }

    /// Whether the same artifact may be accepted a moment later.
    public var isRetryable: Bool { code == .tooManyUnknownSigners }

    /// Returns the same reason for a part of a larger artifact, with the part's name in the message.
    func inside(_ part: String) -> Rejection { Rejection(code, "`\(part)`: \(detail)", missingTrust: missingTrust) }

    /// The text for logs.
    public var description: String { "\(code.rawValue): \(detail)" }
}
