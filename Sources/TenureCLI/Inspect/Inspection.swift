import Foundation
import TenureAppStore
import TenureCore
import TenureJSON

/// The result of `tenure inspect`: the kind, the verdict, every field, and the certificates.
struct Inspection {
    enum Verdict {
        /// The artifact is genuine. The status says whether the App Store or a developer's Xcode signed it.
        case accepted(VerificationStatus, AppStoreEnvironment)
        case rejected(Rejection)
        /// The artifact is a response of verifyReceipt, which has no signature.
        case unsigned

        var isAccepted: Bool { if case .accepted = self { true } else { false } }
    }

    /// The kind of artifact, such as `appTransaction`; nil for a JWS of an unknown kind.
    let kind: String?
    let verdict: Verdict
    /// The artifact's fields. Empty for a receipt that can't be parsed.
    let payload: JSONObject
    /// The payloads of the JWS inside a notification, by field name.
    let nested: [(name: String, payload: JSONObject)]
    /// The certificates in the artifact, beginning with the signer's. Empty if it has no signature.
    let certificates: [CertificateSummary]

    /// Whether the chain ends in one of Apple's roots, not in a root from `--trust`.
    var isUnderAppleRoot: Bool { AppleAnchors.containAnchor(of: certificates) }

    /// Throws a `Rejection` if the artifact can't be parsed. An artifact that can be parsed but is invalid gets a
    /// verdict.
    init(of artifact: AppStoreArtifact, by verifier: AppStoreVerifier, now: Date) throws(Rejection) {
        kind = artifact.kindName
        var verified: VerifiedArtifact?
        do {
            verified = try verifier.verify(artifact, from: .appStoreServer, now: now)
            verdict = verified.map { .accepted($0.status, $0.environment) } ?? .unsigned
        } catch {
            verdict = .rejected(error)
        }
        switch artifact {
        case .jws(let jws, _):
            payload = jws.payload
            nested = jws.nested
            certificates = verified?.certificates ?? jws.certificates
        case .receipt(let bytes):
            let receipt: UnverifiedReceipt?
            do {
                receipt = try UnverifiedReceipt(bytes)
            } catch {
                // A receipt with an unsupported algorithm isn't parsed. Show its verdict without fields.
                guard error.code != .malformed, error.code != .tooLarge else { throw error }
                receipt = nil
            }
            payload = receipt?.payload.verifyReceiptJSON ?? JSONObject()
            nested = []
            certificates = verified?.certificates ?? receipt?.certificates ?? []
        case .verifyReceiptResponse(let response):
            payload = response.json
            nested = []
            certificates = []
        }
    }
}

extension Inspection {
    /// The JSON with `kind`, `verification`, `payload` and `certificates`. A notification also has `nested`: the payloads
    /// of the artifacts in it. Fields of a payload have Apple's names; the fields of a receipt have the names of
    /// verifyReceipt.
    ///
    /// - Parameter file: the artifact's file and line, for `file`. Nil leaves it out.
    func json(file: String?) -> [UInt8] {
        let verification: JSONObject =
            switch verdict {
            case .accepted(let status, let environment):
                [
                    "status": .string(status.rawValue), "environment": .string(environment.rawValue),
                    "anchor": .string(isUnderAppleRoot ? "apple" : "named"),
                ]
            case .rejected(let rejection):
                [
                    "status": .string("rejected"), "reason": .string(rejection.code.rawValue),
                    "detail": .string(rejection.detail),
                ]
            case .unsigned:
                [
                    "status": .string("unsigned"), "reason": .string("unsigned"),
                    "detail": .string(
                        "a response of verifyReceipt has no signature, so its contents can't be verified"),
                ]
            }
        var result = JSONObject()
        if let file { result["file"] = .string(file) }
        result["kind"] = kind.map { .string($0) } ?? .null
        result["verification"] = .object(verification)
        result["payload"] = .object(payload)
        if !nested.isEmpty {
            result["nested"] = .object(
                JSONObject(members: nested.map { JSONObject.Member(name: $0.name, value: .object($0.payload)) }))
        }
        result["certificates"] = .array(certificates.map { .object($0.json) })
        return JSONValue.object(result).bytes
    }
}

extension CertificateSummary {
    fileprivate var json: JSONObject {
        [
            "subject": .string(subject), "issuer": .string(issuer), "serialNumber": .string(serialNumber),
            "notBefore": .string(notBefore.rfc3339), "notAfter": .string(notAfter.rfc3339),
            "sha256": .string(fingerprint),
        ]
    }
}
