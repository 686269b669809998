import Foundation
import TenureAPI
import TenureAppStore
import TenureJSON

/// An artifact that support pasted to find its customer: whether it can be verified, and the IDs in it.
///
/// The IDs are read even if the artifact can't be verified, because they only find customers, and grant nothing.
struct PastedArtifact {
    /// `rejected` if the artifact can't be verified, otherwise its `VerificationStatus`. A response of verifyReceipt
    /// (Apple's old web service) has no signature; without a signed receipt in it, the status is `unsigned`.
    let status: String
    /// Why the artifact is rejected; otherwise nil.
    let rejection: Rejection?
    /// The name of the artifact's kind; nil for a JWS of an unknown kind.
    let kind: String?
    /// The IDs in the artifact by which a customer can be found, without repetitions. The artifact's own IDs come
    /// first, then the IDs of the JWS inside it. In each JWS, the `appTransactionId` comes first.
    let ids: [String]

    /// The maximum number of IDs. It limits the work, because each ID is looked up in the database.
    private static let maximumIDs = 100

    /// Reads and verifies an artifact. Throws `malformedRequest` for text that can't be read as an artifact.
    init(_ text: String, verifiedBy verifier: AppStoreVerifier, now: Date) throws(Problem) {
        do throws(Rejection) {
            let artifact = try AppStoreArtifact(recognizing: Array(text.utf8))
            kind = artifact.kindName
            var ids: [String?] = []
            var verdict: (status: String, rejection: Rejection?)?
            switch artifact {
            case .jws(let jws, _):
                ids = jws.payload.ids
                ids += jws.nested.flatMap(\.payload.ids)
            case .receipt(let bytes): ids = try UnverifiedReceipt(bytes).payload.ids
            case .verifyReceiptResponse(let response):
                ids = response.ids
                // Only the receipt in the response is signed.
                if let base64 = response.latestReceipt, let bytes = try? receiptBytes(base64: base64.utf8) {
                    verdict = Self.verdict(on: .receipt(bytes), by: verifier, now: now)
                }
            }
            (status, rejection) = verdict ?? Self.verdict(on: artifact, by: verifier, now: now)
            var uniqueIDs: [String] = []
            for case let id? in ids where AdminParameter.isID(id) && !uniqueIDs.contains(id) {
                uniqueIDs.append(id)
                if uniqueIDs.count == Self.maximumIDs { break }
            }
            self.ids = uniqueIDs
        } catch {
            throw Problem(
                .malformedRequest, "`artifact` must be a JWS, a receipt or a response of verifyReceipt: \(error.detail)"
            )
        }
    }

    /// Verifies an artifact as if the App Store's server had sent it. So an app transaction is accepted even if it
    /// wasn't signed for a device.
    private static func verdict(
        on artifact: AppStoreArtifact, by verifier: AppStoreVerifier, now: Date
    ) -> (status: String, rejection: Rejection?) {
        do throws(Rejection) {
            let verified = try verifier.verify(artifact, from: .appStoreServer, now: now)
            return (verified?.status.rawValue ?? "unsigned", nil)
        } catch {
            return ("rejected", error)
        }
    }
}

extension JSONWriter {
    mutating func value(_ pasted: PastedArtifact) {
        object { json in
            json.field("kind", orNull: pasted.kind)
            json.field("status", pasted.status)
            if let rejection = pasted.rejection {
                json.object("rejection") { json in
                    json.field("code", rejection.code.rawValue)
                    json.field("detail", rejection.detail)
                }
            }
            json.field("ids", pasted.ids)
        }
    }
}

extension JSONObject {
    /// The IDs in the payload of a JWS or in a response of verifyReceipt.
    fileprivate var ids: [String?] {
        ["appTransactionId", "originalTransactionId", "transactionId", "appAccountToken"].map { text($0) }
    }
}

extension ReceiptPayload {
    /// The IDs in a receipt. The download ID 0 is left out, because all receipts from test environments have it.
    fileprivate var ids: [String?] {
        [downloadID == 0 ? nil : downloadID.map { String($0) }]
            + inAppPurchases.flatMap { [$0.originalTransactionID, $0.transactionID] }
    }
}
