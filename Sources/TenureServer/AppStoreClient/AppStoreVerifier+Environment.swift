import Foundation
import TenureAppStore
import TenureCore
import TenureStore

extension AppStoreVerifier {
    /// Verifies a transaction in a response of the App Store. Rejects it if it wasn't signed in the requested
    /// environment.
    func verified(
        transaction jws: String, at path: ArtifactPath, in environment: AppStoreEnvironment, now: Date
    ) throws(Rejection) -> (artifact: SyncArtifact<TransactionPayload>, purchase: Purchase) {
        let bytes = Array(jws.utf8)
        let verified = try verifyTransaction(bytes, now: now)
        try verified.checkSigned(in: environment)
        return (SyncArtifact(verified, .transaction, bytes, at: path, isOnDevice: false), try verified.purchase)
    }
}

extension Verified {
    /// Rejects data that wasn't signed in the requested environment. A local App Store (a server for tests) may send
    /// such data, because it is one server for both environments.
    func checkSigned(in requested: AppStoreEnvironment) throws(Rejection) {
        guard environment == requested else {
            throw Rejection(
                .wrongEnvironment,
                "the artifact was signed in `\(environment.rawValue)`, but came from `\(requested.rawValue)`")
        }
    }
}
