import ArgumentParser
import Foundation
import TenureServer
import TenureStore

struct DatabaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "database", abstract: "Dump, check, rebuild, back up, restore and move the service's database.",
        discussion: """
            The database of `tenure serve` contains what the App Store signed, what support decided, and what each \
            customer has as a result. Docs/database.md explains it.
            """,
        subcommands: [
            DatabaseDumpCommand.self, DatabaseCheckCommand.self, DatabaseRebuildCommand.self,
            DatabaseBackupCommand.self, DatabaseRestoreCommand.self, DatabaseMigrateCommand.self,
            DatabaseReopenCommand.self, DatabaseAcceptKeysCommand.self, DatabaseVacuumCommand.self,
        ])
}

/// Opens the database for one command, runs `body`, and closes the database, even after an error.
///
/// Another program may replace the database file meanwhile, so that `body` or closing fails. Then the function throws
/// an error that reports the replacement instead of the failure.
///
/// - Parameters:
///   - opening: whether the database must exist, and of which app it must be. By default, the database of any app is
///     accepted, and it must exist.
///   - primary: the file that records which PostgreSQL server was the primary; nil if the service has no such file.
func withDatabase<Result>(
    _ database: DatabaseArgument, _ opening: DatabaseOpening = .existing(of: nil), primary: PrimaryFile? = nil,
    _ body: (Store) async throws -> Result
) async throws -> Result {
    let store = try await database.open(opening, primary: primary)
    do {
        let result = try await body(store)
        try await store.close()
        return result
    } catch {
        let report = await store.replacementReport()
        try? await store.close()
        if let report { throw CommandError(report) }
        throw error
    }
}

struct DatabaseDumpCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump", abstract: "Write the whole database as lines of JSON, in a fixed order.",
        discussion: """
            Two databases with the same content give the same bytes, on SQLite and on PostgreSQL: compare their hashes. \
            The command reads one state of the database in little memory. A running service can continue to write. The \
            lines contain everything that customers sent: protect them like the database.

            Example:
              tenure database dump --database var/tenure.sqlite | sha256sum
            """)

    @OptionGroup var options: DatabaseOption

    func run() async throws {
        try await options.selection().withStore { store in
            let progress = Progress("customers")
            _ = try await DatabaseDump.write(of: store, progress: progress.show) { lines throws(StoreError) in
                guard terminal.write(bytes: lines) else {
                    throw .failed("the dump can't be written; free some space, or read the pipe to its end")
                }
            }
            progress.end()
        }
    }
}

struct DatabaseCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check a database for errors, and print what to do about them.",
        discussion: """
            Checks the database file, the references between rows, each artifact's hash and signature, and whether the \
            stored result for each customer matches the artifacts. Signatures are verified again, as on the day each \
            artifact came: pass the --trust of `tenure serve`. The command reads one state of the database. A running \
            service can continue to write.

            Exit codes: 0 nothing is wrong, 1 findings (a line each) or the database can't be read, 64 wrong usage.

            Example:
              tenure database check --database var/tenure.sqlite
            """)

    @OptionGroup var options: DatabaseOption
    @OptionGroup var trust: TrustOptions

    func run() async throws {
        let selection = try options.selection()
        let trust = try selection.trust(trust)
        try await selection.withStore { store in
            let progress = Progress("customers")
            let outcome = try await DatabaseCheck.run(on: store, trust: trust, progress: progress.show) { finding in
                progress.end()
                terminal.write(Terminal.escaped(finding.description))
            }
            progress.end()
            let checked = "\(counted(outcome.customers, "customer")), \(counted(outcome.artifacts, "artifact"))"
            guard outcome.findings == 0 else {
                Terminal.standardError.write("error: \(checked): \(counted(outcome.findings, "finding"))")
                throw ExitCode.error
            }
            terminal.write("\(checked): nothing is wrong")
        }
    }
}

struct DatabaseRebuildCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild", abstract: "Compute the facts about every customer again, from the stored artifacts.",
        discussion: """
            Verifies each artifact again, as on the day it was received: pass the --trust of `tenure serve`. For a \
            customer with an invalid artifact, the command prints a finding and changes nothing. It never changes \
            artifacts. If the database has no errors, nothing changes. The service may run meanwhile.

            Exit codes: 0 done, 1 a customer couldn't be rebuilt or the database can't be read, 64 wrong usage.

            Example:
              tenure database rebuild --database var/tenure.sqlite --dry-run
            """)

    @OptionGroup var options: DatabaseOption
    @OptionGroup var trust: TrustOptions

    @Flag(help: "Print how many customers would change, and change none.") var dryRun = false

    func run() async throws {
        let selection = try options.selection()
        let trust = try selection.trust(trust)
        try await selection.withStore { store in
            let progress = Progress("customers")
            let outcome = try await DatabaseRebuild.run(
                on: store, trust: trust, isTrial: dryRun, progress: progress.show
            ) { finding in
                progress.end()
                terminal.write(Terminal.escaped(finding.description))
            }
            progress.end()
            terminal.write(
                "\(counted(outcome.customers, "customer")): \(outcome.changed) \(dryRun ? "would change" : "changed")")
            guard outcome.failed == 0 else {
                Terminal.standardError.write("error: \(counted(outcome.failed, "customer")) couldn't be rebuilt")
                throw ExitCode.error
            }
        }
    }
}

struct DatabaseAcceptKeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept-keys",
        abstract: "Accept the keys of the next service that starts, after the previous keys were lost or replaced.",
        discussion: """
            The database stores fingerprints of the signing key and of the secret of access tokens. All services that \
            use the database must have these keys; a service with other keys doesn't start. This command removes the \
            fingerprints. Use it if the keys were lost, or replaced without `tenure signing-key`. The next service that \
            starts stores the fingerprints of its keys.

            Stop all services first. Apps trust entitlement tokens only if they pinned the new signing key, and every \
            device syncs again after the secret changed.

            Example:
              tenure database accept-keys --database var/tenure.sqlite
            """)

    @OptionGroup var options: DatabaseOption

    func run() async throws {
        let selection = try options.selection()
        try await selection.withStore { store in
            let storedKeys = try await store.write(locking: [SharedKeyIDs.lock]) { transaction in
                let storedKeys = try transaction.sharedKeyIDs()
                if let storedKeys {
                    try transaction.setSharedKeyIDs(nil)
                    try transaction.audit(
                        AuditEntry(
                            at: .now, actor: commandActor, action: "acceptKeys", customer: nil,
                            detail: ["signingKey": storedKeys.signingKey]))
                }
                return storedKeys
            }
            guard let storedKeys else {
                throw CommandError(
                    "`\(selection.database.name)` has no fingerprints of keys; the next service that starts stores those of its keys"
                )
            }
            terminal.write(
                "the next service that starts may replace the keys from `\(Terminal.escaped(storedKeys.place))`")
        }
    }
}
