/// Why a signed policy is rejected.
package enum SignedPolicyError: Error, Sendable, Hashable {
    /// The text is larger than any signed policy may be.
    case tooLarge(bytes: Int)
    /// The text isn't a signed policy. The value says why, such as `its payload can't be read`.
    case notSigned(String)
    /// None of the public keys that the app pins belongs to the key that signed the policy.
    case wrongSignature
    /// The signature is valid, but the contents aren't a valid policy.
    case invalidPolicy(PolicyFileError)
    /// The policy is for another app. Both values are bundle IDs.
    case wrongApp(found: String, wanted: String)
    /// The policy's counter is lower than `known`, the counter of a policy that the app accepted before.
    case older(counter: Int64, known: Int64)
    /// The app already has another policy with the same counter.
    case sameCounter(Int64)
}

extension SignedPolicyError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooLarge(let bytes):
            "the signed policy has \(bytes) bytes; it may have at most \(SignedPolicy.maximumTextSize); check that the URL is that of the signed policy"
        case .notSigned(let detail): "this isn't a signed policy: \(detail); write one with `tenure policy sign`"
        case .wrongSignature:
            "none of the pinned keys signed this policy; sign it with the key that the app pins"
        case .invalidPolicy(let error): "the signed policy can't be read: \(error)"
        case .wrongApp(let found, let wanted):
            "the signed policy is for the app `\(found)`, but this app is `\(wanted)`; publish each app's policy at its own URL"
        case .older(let counter, let known):
            "the signed policy has the counter \(counter), which is lower than the known counter \(known); sign the policy with a higher counter"
        case .sameCounter(let counter):
            "another signed policy already has the counter \(counter); sign each change with a higher counter"
        }
    }
}
