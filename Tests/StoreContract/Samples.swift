import Foundation
import TenureCore
import TenureStore

/// Invented values for the tests of the store.
enum Sample {
    static let now = Date(timeIntervalSince1970: 1_700_000_000)
    static let production = Realm(.production)
    static let header = Array("eyJhbGciOiJFUzI1NiJ9".utf8)

    /// The instant this number of seconds after `now`.
    static func after(_ seconds: Double) -> Date { now.addingTimeInterval(seconds) }

    static func proof(_ id: String = "704", signed days: Double = 0, version: String = "37") -> AppProof {
        AppProof(
            kind: .appTransaction, signedDate: now.addingTimeInterval(days * 86_400), id: .appTransaction(id),
            originalPlatform: .iOS, originalAppVersion: version,
            originalPurchaseDate: Date(timeIntervalSince1970: 1_400_000_000))
    }

    static func purchase(_ id: String, signed days: Double = 0, revoked: Bool = false) -> Purchase {
        Purchase(
            transactionID: id, productID: "com.example.calculator.everything", type: .nonConsumable,
            purchaseDate: now, revocationDate: revoked ? now : nil, signedDate: now.addingTimeInterval(days * 86_400))
    }

    /// Returns bytes in the form of a JWS. The digest isn't computed from them.
    static func artifact(_ text: String, _ kind: Artifact.Kind = .appTransaction) -> Artifact {
        let bytes = kind == .receipt ? Array(text.utf8) : header + Array(".\(text).c2lnbmF0dXJl".utf8)
        var digest = [UInt8](repeating: 0, count: 32)
        for (index, byte) in bytes.enumerated() { digest[index % 32] = digest[index % 32] &* 31 &+ byte }
        return Artifact(kind, bytes: bytes, sha256: digest, signedDate: now)
    }

    static func promise(_ entitlement: String = "everything", policy: Int64, until: Date? = nil) -> StoredPromise {
        StoredPromise(
            entitlement: entitlement,
            acquisition: AcquisitionKey(
                appTransactionID: "704", downloadID: nil,
                originalPurchaseDate: Date(timeIntervalSince1970: 1_400_000_000)),
            policyVersion: policy, until: until, recordedAt: now)
    }
}

extension Store {
    /// Stores a policy, and returns its version.
    func record(policy: [UInt8], sha256: [UInt8]) async throws -> Int64 {
        try await write(at: Sample.now, locking: [.policies]) { try $0.record(policy: policy, sha256: sha256) }
    }

    /// Updates the customer with one identity.
    func update(
        _ id: String = "704", in realm: Realm = Sample.production,
        _ change: @escaping @Sendable (inout CustomerUpdate) -> Void
    ) async throws -> Customer {
        try await update([Identity(.appTransactionID, id)], in: realm, at: Sample.now) { known in
            var update = CustomerUpdate(of: known)
            change(&update)
            return (update, ())
        }.0
    }
}
