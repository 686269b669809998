import Foundation
import TenureAppStore
import TenureCore
import TenureStore

extension AppStoreVerifier {
    /// A transaction from the server of one environment: what was signed in another one is not its to give.
    func answered(
        transaction jws: String, at path: ArtifactPath, in environment: AppStoreEnvironment, now: Date
    ) throws(Rejection) -> (artifact: SyncArtifact<TransactionPayload>, purchase: Purchase) {
        let bytes = Array(jws.utf8)
        let verified = try verifyTransaction(bytes, now: now)
        try verified.checkSigned(in: environment)
        return (SyncArtifact(verified, .transaction, bytes, at: path, isOnDevice: false), try verified.purchase)
    }

    func answered(
        renewalInfo jws: String, at path: ArtifactPath, in environment: AppStoreEnvironment, now: Date
    ) throws(Rejection) -> (artifact: SyncArtifact<RenewalInfoPayload>, renewal: Renewal) {
        let bytes = Array(jws.utf8)
        let verified = try verifyRenewalInfo(bytes, now: now)
        try verified.checkSigned(in: environment)
        return (SyncArtifact(verified, .renewalInfo, bytes, at: path, isOnDevice: false), try verified.renewal)
    }
}

extension Verified {
    /// Environments never mix, also where one server answers for both.
    func checkSigned(in wanted: AppStoreEnvironment) throws(Rejection) {
        guard environment == wanted else {
            throw Rejection(
                .wrongEnvironment, "it was signed in `\(environment.rawValue)`, and `\(wanted.rawValue)` was asked")
        }
    }
}
