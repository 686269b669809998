/// Why a signed policy is refused.
package enum SignedPolicyError: Error, Sendable, Hashable {
    case tooLarge(bytes: Int)
    /// It isn't a signed policy; the detail says what is missing.
    case notSigned(String)
    /// None of the app's keys made the signature.
    case wrongSignature
    /// Properly signed, but not a policy.
    case unsound(PolicyFileError)
    case wrongApp(found: String, wanted: String)
    /// An older one, sent again.
    case older(counter: Int64, known: Int64)
    /// Another policy under a counter that was used before.
    case sameCounter(Int64)
}

extension SignedPolicyError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooLarge(let bytes):
            "the signed policy has \(bytes) bytes; a policy has no more than \(SourceText.maximumSize), and one that is signed a third more; check that the URL leads to the signed policy"
        case .notSigned(let detail): "this isn't a signed policy: \(detail); write one with `tenure policy sign`"
        case .wrongSignature:
            "none of the pinned keys signed this policy; sign it with the key that the app pins"
        case .unsound(let error): "the signed policy cannot be read: \(error)"
        case .wrongApp(let found, let wanted):
            "the signed policy is about `\(found)`, and this app is `\(wanted)`; publish each app's policy under a separate address"
        case .older(let counter, let known):
            "the signed policy has the counter \(counter), and \(known) is known; an older policy is never accepted: sign it with a higher counter"
        case .sameCounter(let counter):
            "another policy has the counter \(counter) already; sign each change with a higher counter"
        }
    }
}
