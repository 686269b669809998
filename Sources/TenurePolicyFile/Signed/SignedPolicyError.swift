/// Why a signed policy is not taken.
package enum SignedPolicyError: Error, Sendable, Hashable {
    case tooLarge(bytes: Int)
    /// It is no signed policy at all; what is missing stands in the detail.
    case notSigned(String)
    /// None of the app's keys made the signature.
    case wrongSignature
    /// Properly signed, and no policy.
    case unsound(PolicyFileError)
    case wrongApp(found: String, wanted: String)
    /// An older one, played back.
    case older(counter: Int64, known: Int64)
    /// Another policy under a counter that was used before.
    case sameCounter(Int64)
}

extension SignedPolicyError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooLarge(let bytes):
            "the signed policy has \(bytes) bytes; a policy has no more than \(SourceText.maximumSize), and one that is signed a third more"
        case .notSigned(let detail): "this is no signed policy: \(detail); write one with `tenure policy sign`"
        case .wrongSignature:
            "none of the pinned keys signed this policy; sign it with the key whose public half the app pins"
        case .unsound(let error): "the signed policy cannot be read: \(error)"
        case .wrongApp(let found, let wanted):
            "the signed policy is about `\(found)`, and this app is `\(wanted)`; publish each app's policy under an address of its own"
        case .older(let counter, let known):
            "the signed policy has the counter \(counter), and \(known) is known; an older policy is never taken back: sign it with a higher counter"
        case .sameCounter(let counter):
            "another policy has the counter \(counter) already; sign each change with a higher counter"
        }
    }
}
