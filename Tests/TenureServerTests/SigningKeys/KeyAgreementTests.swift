import Foundation
import TenureStore
import Testing

@testable import TenureServer

/// Several processes that share a database and a folder of keys.
@Suite struct KeyAgreementTests {
    @Test func `a process that read only the first of two rotations signs with the key that another process stored`()
        async throws
    {
        try await withFolder { folder in
            let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            func process() async throws -> (keys: SigningKeys, agreement: KeyAgreement) {
                let keys = try await KeyAgreement.keys(
                    in: folder, store, tokenLife: 86_400, staleness: .seconds(3600), at: Calculator.now)
                return (keys.signing, keys.agreement)
            }
            let (first, second) = (try await process(), try await process())
            var agreed = [first.agreement.initialKeyID, second.agreement.initialKeyID]
            let administration = SigningKeyAdministration(folder: folder)
            _ = try administration.rotate(at: Calculator.now)
            second.keys.reread()
            _ = try administration.rotate(at: Calculator.now)
            first.keys.reread()
            try await first.agreement.reconcile(first.keys, agreed: &agreed[0])
            try await second.agreement.reconcile(second.keys, agreed: &agreed[1])
            #expect(!second.keys.isOutdated && second.keys.current.id == first.keys.current.id)
            try await store.close()
        }
    }
}
