import Foundation
import TenureCore
import TenurePolicyFile

/// The newest policy that this device has: the bundled policy, or a newer signed policy from a web server.
///
/// The bundled policy is part of the app, so there is always a policy. A stored policy is verified each time it is
/// read, so another process that can write the policy's file can't forge a policy.
struct CurrentPolicy: Sendable {
    /// The public keys that may sign the policy.
    private let keys: [PinnedKey]
    private let bundled: Policy
    /// The newest signed policy, which may be the bundled policy. Nil while a bundled policy without a signature is
    /// used.
    private var newestSigned: SignedPolicy?
    /// The fetched policy to store for the next start. Nil until a policy was fetched or restored.
    private(set) var cachedPolicy: CachedPolicy?

    /// - Parameters:
    ///   - bundled: the output of `tenure policy compile` or `tenure policy sign`. A signed policy has a counter. After
    ///     an update of the app, the counter shows whether the bundled policy is newer than the stored policy.
    ///   - keys: the public keys that may sign the policy. There are two keys while a new key replaces an old key.
    ///   - cached: `cachedPolicy` from an earlier start. If its text can't be verified or is for another app, only its
    ///     highest counter is used.
    /// - Throws: an error if the bundled policy can't be read, or if none of the keys signed it.
    init(bundled: Data, keys: [PinnedKey], cached: CachedPolicy?) throws(SignedPolicyError) {
        self.keys = keys
        // JSON begins with a brace, and a JWS never does.
        if bundled.first(where: { !" \t\r\n".utf8.contains($0) }) == UInt8(ascii: "{") {
            do throws(PolicyFileError) {
                self.bundled = try Policy.compiled(bundled)
            } catch {
                throw .invalidPolicy(error)
            }
        } else {
            let signed = try SignedPolicy.verify(bundled, keys: keys, bundleID: nil)
            self.bundled = signed.policy
            newestSigned = signed
        }
        if let cached { restore(cached) }
    }

    /// Uses the stored policy if it can be verified and is newer than the bundled policy. Otherwise, only its highest
    /// counter is used.
    mutating func restore(_ cached: CachedPolicy) {
        cachedPolicy = cached
        guard let signed = try? SignedPolicy.verify(cached.text.utf8, keys: keys, bundleID: bundled.app.bundleID),
            signed.counter > newestSigned?.counter ?? 0
        else { return }
        newestSigned = signed
    }

    /// The policy to use now.
    var policy: Policy { newestSigned?.policy ?? bundled }

    /// The counter of the policy in use, which is higher in each newer policy. Nil while a bundled policy without a
    /// signature is used.
    var counter: Int64? { newestSigned?.counter }

    /// The server's `ETag` for the policy in use, with which the client asks whether the server has another policy. Nil
    /// if the stored text is lost or isn't the policy in use, so that the client fetches the whole policy.
    var tag: String? { cachedPolicy?.text == newestSigned?.text ? cachedPolicy?.tag : nil }

    /// Uses the server's policy from now on if it is valid and newer. A policy is refused if its counter is lower than
    /// the highest accepted counter, or the same as that of a different policy in use.
    ///
    /// - Parameters:
    ///   - text: the body of the server's response.
    ///   - tag: the `ETag` of the response.
    mutating func update(with text: Data, tag: String?) -> PolicyRefresh {
        do throws(SignedPolicyError) {
            let fetched = try SignedPolicy.verify(text, keys: keys, bundleID: bundled.app.bundleID)
            let known = max(cachedPolicy?.highestCounter ?? 0, newestSigned?.counter ?? 0)
            guard fetched.counter >= known else { throw .older(counter: fetched.counter, known: known) }
            let isNew = fetched.counter > newestSigned?.counter ?? 0
            if !isNew, fetched.policy != newestSigned?.policy { throw .sameCounter(fetched.counter) }
            newestSigned = fetched
            cachedPolicy = CachedPolicy(text: fetched.text, tag: tag, highestCounter: fetched.counter)
            return isNew ? .updated(counter: fetched.counter) : .unchanged
        } catch {
            return .refused(error)
        }
    }
}

/// A signed policy from the web server, as the device stores it for the next start.
package struct CachedPolicy: Sendable, Hashable, Codable {
    /// The signed text.
    package let text: String
    /// The server's `ETag`.
    package let tag: String?
    /// The highest counter that this device has accepted, even if the text is lost.
    let highestCounter: Int64
}

/// The result of a request for a newer policy.
enum PolicyRefresh: Sendable, Hashable {
    /// The server has a newer policy, which is used from now on.
    case updated(counter: Int64)
    /// The server still has the policy that the device knows.
    case unchanged
    /// The server's policy is rejected, for this reason.
    case refused(SignedPolicyError)
    /// The server didn't respond, or had no policy.
    case failed(PolicyFetchError)
}
