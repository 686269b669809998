import Foundation
import TenureCore
package import TenureStore

// Finds what is wrong with a configuration, and with the files that its settings name. `tenure serve` prints these
// mistakes. With several apps, only `tenure serve --check` prints them, because a mistake in one app doesn't keep the
// other apps from starting.
extension ServiceConfiguration {
    /// All mistakes, including the mistakes in files. Finding them creates and changes nothing.
    package var findings: [ServiceError] { findingsExceptKeys + findingsOfKeys }

    private var findingsExceptKeys: [ServiceError] {
        var findings = mistakes
        if let certificateFiles {
            findings.append(errorOf: { () throws(ServiceError) in _ = try certificateFiles.contents(now: now()) })
        }
        // A database server is contacted only when the service starts.
        if databaseFile != nil {
            let folder = (databasePath as NSString).deletingLastPathComponent
            findings += Self.folderFinding(folder, for: databasePath)
            if FileManager.default.fileExists(atPath: databasePath),
                !FileManager.default.isReadableFile(atPath: databasePath)
                    || !FileManager.default.isWritableFile(atPath: databasePath)
            {
                findings.append(
                    .database("the database `\(databasePath)` can't be read and written; check its owner and mode"))
            } else if let objection = SQLiteDatabase.objection(to: databasePath) {
                findings.append(ServiceError(objection))
            } else if let finding = findingOfDatabase {
                findings.append(finding)
            }
        }
        if let appStore {
            findings.append(errorOf: { () throws(ServiceError) in
                _ = try AppStoreCredentials(appStore, bundleID: policy.app.bundleID)
            })
        }
        if let content, content.mistakes.isEmpty { findings += content.findings }
        if let keysFolder { findings += Self.folderFinding(keysFolder, for: keysFolder) }
        return findings
    }

    /// Whether the database is on a server, or is a file that exists.
    package var hasDatabase: Bool { databaseFile.map { SQLiteDatabase.exists(at: $0) } ?? true }

    /// The mistake if the SQLite file is missing although it should exist, or exists although it should be created;
    /// otherwise nil.
    var findingOfDatabase: ServiceError? {
        // Whether a database exists on a server is found only when the service opens the database.
        guard let databaseFile else { return nil }
        if hasDatabase {
            guard createsDatabase else { return nil }
            return .database("the database `\(databaseFile)` exists already; start without `--new-database`")
        }
        guard !createsDatabase, hasSigningKey else { return nil }
        let copy = SQLiteDatabase.savedCopy(of: databaseFile)
        let remedy = copy.map { "`tenure database restore --database \(databaseFile) \($0)`" }
        return .database(
            """
            there is no database at `\(databaseFile)`, but there is a signing key in `\(folderOfKeys)`; if the database \
            was moved or deleted, restore it\(remedy.map { " with \($0)" } ?? " from a backup"), or start once with \
            `--new-database` if the service has no customers yet
            """)
    }

    /// Returns whether opening a database on a server may create it, and whether it must be new.
    package func openingOfDatabaseServer(isOneOfSeveral: Bool) -> DatabaseOpening {
        DatabaseOpening(
            bundleID: policy.app.bundleID, creates: createsDatabase || !hasSigningKey,
            // If there are several apps, some of them may be new while others have a database already.
            mustBeNew: createsDatabase && !isOneOfSeveral)
    }

    /// Returns a clearer error if the database server doesn't have the database although the folder of keys has a
    /// signing key; otherwise returns `error`.
    package func explainingMissingDatabase(_ error: any Error) -> any Error {
        guard case StoreError.unusable(let database, let detail) = error, !createsDatabase, hasSigningKey,
            detail.contains(DatabaseOpening.noDatabase)
        else { return error }
        return ServiceError.database(
            """
            \(StoreError.unusable(database: database, detail: detail)). There is a signing key in `\(folderOfKeys)`: if \
            the database was moved or deleted, restore it from a backup, or start once with `--new-database` if the \
            service has no customers yet
            """)
    }

    /// The mistakes in the key files that exist. A missing key file isn't a mistake, because the service creates it.
    private var findingsOfKeys: [ServiceError] {
        var findings: [ServiceError] = []
        findings.append(errorOf: { () throws(ServiceError) in
            if hasSigningKey { _ = try SigningKeyStore(folder: folderOfKeys).read() }
        })
        findings.append(errorOf: { () throws(ServiceError) in
            guard AccessTokenKey.file(in: folderOfKeys).exists else { return }
            // Reading the secret doesn't depend on the database's ID.
            _ = try AccessTokenKey(folder: folderOfKeys, databaseID: [])
        })
        return findings
    }

    /// The mistakes in the configuration of one of several apps. A missing folder of keys isn't a mistake here, because
    /// the service will create it.
    var findingsOfApp: [ServiceError] {
        guard let keysFolder, !FileManager.default.fileExists(atPath: keysFolder) else { return findings }
        var withoutKeysFolder = self
        withoutKeysFolder.keysFolder = nil
        return withoutKeysFolder.findingsExceptKeys.filter { $0 != .noKeysFolder }
    }

    /// The mistake if a folder is missing or not writable; empty if there is no mistake. `file` is the file for which
    /// the service needs the folder, or the folder itself.
    private static func folderFinding(_ folder: String, for file: String) -> [ServiceError] {
        let folder = folder.isEmpty ? "." : folder
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            let purpose = file == folder ? "" : " for `\(file)`"
            return [.database("there is no folder `\(folder)`\(purpose); create it first")]
        }
        return FileManager.default.isWritableFile(atPath: folder)
            ? [] : [.database("the folder `\(folder)` of `\(file)` isn't writable; check its owner and mode")]
    }
}

extension [ServiceError] {
    /// Runs a check. If the check throws, adds its error.
    mutating func append(errorOf check: () throws(ServiceError) -> Void) {
        do {
            try check()
        } catch {
            append(error)
        }
    }
}
