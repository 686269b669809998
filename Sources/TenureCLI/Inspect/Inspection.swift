import Foundation
import TenureAppStore
import TenureCore
import TenureJSON

/// What `inspect` found: the kind, the verdict, every field, and the certificates.
struct Inspection {
    enum Verdict {
        case accepted(VerificationStatus, AppStoreEnvironment)
        case rejected(Rejection)
        /// An answer of verifyReceipt carries no signature.
        case unsigned

        var isAccepted: Bool {
            if case .accepted = self { true } else { false }
        }

        var status: String {
            switch self {
            case .accepted(let status, _): status.rawValue
            case .rejected: "rejected"
            case .unsigned: "unsigned"
            }
        }
    }

    let kind: String?
    let verdict: Verdict
    let payload: JSONObject
    /// The JWS that stand in a notification, by their names.
    let nested: [(name: String, payload: JSONObject)]
    let certificates: [CertificateSummary]

    /// Whether the chain ends in a root of Apple's, and not in one that was named.
    var isUnderAppleRoot: Bool { AppleAnchors.signed(certificates) }

    /// Throws a `Rejection` where the artifact cannot even be taken apart.
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
                // One that is signed in a way that nobody checks is still a receipt, and the verdict says so.
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

extension UnverifiedJWS {
    /// What stands inside of this one, taken apart; what cannot be is left as it is, and the verdict says why.
    fileprivate var nested: [(name: String, payload: JSONObject)] {
        ["data", "appData"].flatMap { part -> [(name: String, payload: JSONObject)] in
            guard case .object(let object)? = payload[part] else { return [] }
            return ["signedTransactionInfo", "signedRenewalInfo", "signedAppTransactionInfo"].compactMap { name in
                guard case .string(let text)? = object[name], let jws = try? UnverifiedJWS(Array(text.utf8)) else {
                    return nil
                }
                return ("\(part).\(name)", jws.payload)
            }
        }
    }
}
