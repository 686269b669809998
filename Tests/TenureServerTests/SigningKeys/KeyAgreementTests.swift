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

    /// Two folders of keys, and the database that their processes share.
    private struct TwoFolders {
        let folder: String
        let store: Store

        func path(_ name: String) -> String { "\(folder)/\(name)" }

        func administration(_ name: String) -> SigningKeyAdministration {
            SigningKeyAdministration(folder: path(name))
        }

        func keys(in name: String) async throws(ServiceError) -> (signing: SigningKeys, agreement: KeyAgreement) {
            let keys = try await KeyAgreement.keys(
                in: path(name), store, tokenLife: 86_400, staleness: .zero, at: Calculator.now)
            return (keys.signing, keys.agreement)
        }

        /// Copies the secret of access tokens from `one` to `two`.
        func copySecret() throws {
            let name = AccessTokenKey.fileName
            try FileManager.default.copyItem(atPath: path("one") + "/" + name, toPath: path("two") + "/" + name)
        }
    }

    private func withTwoFolders(_ body: (TwoFolders) async throws -> Void) async throws {
        try await withFolder { folder in
            for name in ["one", "two"] {
                try FileManager.default.createDirectory(
                    atPath: "\(folder)/\(name)", withIntermediateDirectories: false)
            }
            let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            try await body(TwoFolders(folder: folder, store: store))
            try await store.close()
        }
    }

    @Test func `a process with no keys or with one of two keys doesn't start, and says which are missing and where`()
        async throws
    {
        try await withTwoFolders { folders in
            _ = try await folders.keys(in: "one")
            let place = try #require(try await folders.store.read { try $0.sharedKeyIDs() }).place
            let own = folders.path("two")
            #expect(place.hasSuffix("/one"))
            func refusal(_ files: String) -> ServiceError {
                .otherKeys(
                    """
                    there is no \(files) in `\(own)`, and another process has created the service's keys; copy \
                    `signing-key.json` and `access-token.secret` from `\(place)` to `\(own)`. If they are lost, stop \
                    all processes, and run `tenure database accept-keys`
                    """)
            }
            await #expect(throws: refusal("`signing-key.json` and `access-token.secret`")) {
                _ = try await folders.keys(in: "two")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: own).isEmpty)
            try folders.copySecret()
            await #expect(throws: refusal("`signing-key.json`")) { _ = try await folders.keys(in: "two") }
            #expect(try FileManager.default.contentsOfDirectory(atPath: own) == ["access-token.secret"])
        }
    }

    /// `age` is how many seconds the key is older than the database's key.
    @Test(arguments: [
        (0.0, true, true, true), (1.0, true, true, false), (-1.0, true, true, true), (-1.0, false, true, false),
        (-1.0, true, false, false),
    ])
    func `an unrelated key replaces the database's key only if the same root signed it and it isn't older`(
        age: Double, hasSameRoot: Bool, isSigned: Bool, isAccepted: Bool
    ) async throws {
        try await withTwoFolders { folders in
            let first = try await folders.keys(in: "one")
            var agreed = first.agreement.initialKeyID
            try folders.copySecret()
            _ = try SigningKeyStore(folder: folders.path("two")).readOrCreate(at: Calculator.now - age)
            let roots = ["root", "other"].map { OfflineRoot(path: folders.path($0 + ".json")) }
            for (name, root) in [("one", roots[0]), ("two", hasSameRoot ? roots[0] : roots[1])] {
                guard name == "one" || isSigned else { continue }
                let (publicRoot, administration) = (try root.create(), folders.administration(name))
                let statement = try root.sign(
                    try administration.summary().inUse, until: Calculator.now + 86_400, at: Calculator.now)
                _ = try administration.install(statement, ofRoot: publicRoot, at: Calculator.now)
            }
            // The running process stores its root.
            try await first.agreement.reconcile(first.signing, agreed: &agreed)
            #expect(!first.signing.isOutdated)
            if isAccepted {
                let second = try await folders.keys(in: "two")
                try await first.agreement.reconcile(first.signing, agreed: &agreed)
                let isOther = second.signing.current.id != first.signing.current.id
                #expect(isOther && first.signing.isOutdated && first.signing.current.period == .outdated)
            } else {
                await #expect(throws: ServiceError.self) { _ = try await folders.keys(in: "two") }
                try await first.agreement.reconcile(first.signing, agreed: &agreed)
                #expect(!first.signing.isOutdated)
            }
            // The keys weren't created by the refused start, so they stay.
            let names = try FileManager.default.contentsOfDirectory(atPath: folders.path("two")).sorted()
            #expect(names == ["access-token.secret", "signing-key.json"])
        }
    }
}
