package import Foundation
package import TenureCore
import TenureJSON

#if canImport(CryptoKit)
    package import CryptoKit
#else
    package import Crypto
#endif

/// A signed policy. Any web server can publish it, because the app pins the public key that verifies it.
///
/// The text is a compact JWS (RFC 7515) with ES256 and a constant header. Its payload is a JSON object with `counter`,
/// which increases with each version; `iat`, the signing time in seconds since 1970; and `policy`, the compiled policy.
package struct SignedPolicy: Sendable, Hashable {
    package let policy: Policy
    /// The counter, at least 1. Of two policies, the one with the higher counter is newer. Dates aren't compared.
    package let counter: Int64
    /// When the policy was signed.
    package let issuedAt: Date
    /// The signed text, to be stored and verified again.
    package let text: String

    /// The maximum size of the text in bytes: a payload of 1 MiB in Base64, the header and the signature.
    package static let maximumTextSize = SourceText.maximumSize / 3 * 4 + 1024

    /// The `typ` in the header of signed policies.
    static let type = "tenure-policy+jwt"
    /// The largest counter. All JSON parsers read numbers up to this counter exactly.
    package static let maximumCounter: Int64 = 1 << 53

    /// Verifies an untrusted text.
    ///
    /// - Parameters:
    ///   - keys: the public keys that the app pins. One of them must verify the signature. An app pins two keys while
    ///     the developer replaces the signing key.
    ///   - bundleID: the bundle ID that the policy must have; nil to accept any, for the policy that is part of the
    ///     app.
    package static func verify(
        _ text: some Collection<UInt8>, keys: [PinnedKey], bundleID: String?
    ) throws(SignedPolicyError) -> SignedPolicy {
        do {
            let signed = try SignedPayload(text, type: type, keys: keys, maximumSize: maximumTextSize)
            let policy = try SignedPolicy(payload: signed.payload, text: signed.text)
            let actualID = policy.policy.app.bundleID
            if let bundleID, actualID != bundleID {
                throw SignedPolicyError.wrongApp(found: actualID, wanted: bundleID)
            }
            return policy
        } catch let error as SignedPayloadError {
            throw SignedPolicyError(error)
        } catch let error as PolicyFileError {
            throw .invalidPolicy(error)
        } catch let error as SignedPolicyError {
            throw error
        } catch {
            throw .notSigned("its payload can't be read")
        }
    }

    /// Reads a payload with a verified signature.
    private init(payload: [UInt8], text: String) throws {
        let keys = Claim.allCases.map(\.rawValue)
        let (root, mistakes) = try PolicyFile.document(
            payload, named: "policy.json",
            as: DocumentKind("a signed policy", beginning: "`{\"counter\":1`", keys: keys))
        var reading = Reading(mistakes: mistakes)
        let fields = Fields(Part(root: root), keys: keys, required: keys.map { ($0, "\($0): …") }, &reading)
        let counter = fields?[Claim.counter.rawValue].flatMap {
            $0.integer(&reading, example: "counter: 1", as: Int64.self)
        }
        let issuedAt = fields?[Claim.iat.rawValue].flatMap {
            $0.integer(&reading, example: "iat: 1433959200", as: Int64.self)
        }
        guard reading.mistakes.isEmpty, let counter, let issuedAt, let policy = fields?[Claim.policy.rawValue] else {
            throw reading.error(mainFile: "policy.json")
        }
        guard (1...Self.maximumCounter).contains(counter), (0...Self.maximumCounter).contains(issuedAt) else {
            throw SignedPolicyError.notSigned("its counter or its time is out of range")
        }
        self.policy = try PolicyReader.read(policy.node, mistakes: []) { _ in throw PolicyFile.NoReleaseList() }
        self.counter = counter
        self.issuedAt = Date(timeIntervalSince1970: Double(issuedAt))
        self.text = text
    }

    // MARK: Signing

    /// Signs a policy.
    ///
    /// - Throws: `tooLarge` or `invalidPolicy` if apps would reject the result. `notSigned` if the counter isn't in the
    ///   range from 1 to `maximumCounter`, or if the key can't sign.
    package init(
        _ policy: Policy, counter: Int64, issuedAt: Date, by key: P256.Signing.PrivateKey
    ) throws(SignedPolicyError) {
        // The bounds keep `Int64` from overflowing.
        let seconds = Int64(max(0, min(issuedAt.timeIntervalSince1970, 1e12)))
        let payload = JSONValue.object([
            Claim.counter.rawValue: .integer(counter), Claim.iat.rawValue: .integer(seconds),
            Claim.policy.rawValue: PolicyFile.json(policy),
        ]).bytes
        guard payload.count <= SourceText.maximumSize else { throw .tooLarge(bytes: payload.count) }
        let text: String
        do throws(SignedPayloadError) {
            text = try SignedPayload.sign(payload, type: Self.type, by: key)
        } catch {
            throw SignedPolicyError(error)
        }
        self = try .verify(text.utf8, keys: [PinnedKey(key.publicKey)], bundleID: policy.app.bundleID)
    }

    /// The fields of the payload.
    private enum Claim: String, CaseIterable {
        case counter, iat, policy
    }
}

/// Why a signed policy is rejected.
package enum SignedPolicyError: Error, Sendable, Hashable, CustomStringConvertible {
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

    init(_ error: SignedPayloadError) {
        switch error {
        case .tooLarge(let bytes): self = .tooLarge(bytes: bytes)
        case .malformed(let reason): self = .notSigned(reason)
        case .wrongSignature: self = .wrongSignature
        }
    }
}
