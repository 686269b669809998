import ArgumentParser
import Foundation
import TenureJSON
import TenureServer
import TenureStore

struct DatabaseMigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Move the content to another database: from SQLite to PostgreSQL, or back.",
        discussion: """
            Everything is copied in one transaction of the target, which must have no Tenure database yet. Rows and \
            the database keep their IDs, so access tokens and entitlement tokens stay valid. At the end, the counts \
            and hashes of every table are compared, and the source is marked as moved: services don't write to it \
            anymore. After a failure, the target is empty and the source stays as it is.

            Example:
              tenure database migrate --database var/tenure.sqlite \\
                  --to postgres://tenure@db.example.com/tenure
            """)

    @OptionGroup var options: DatabaseOption

    @Option(help: .value("path or URL", "The target: a new SQLite file, or the URL of an empty database."))
    var to: DatabaseArgument?

    @Option(help: .value("file", "In place of --to: the configuration file of the service that will use the target."))
    var toConfig: String?

    func validate() throws {
        try require(to != nil || toConfig != nil, "the target is missing; pass either `--to` or `--to-config`")
        try require(to == nil || toConfig == nil, "`--to` and `--to-config` exclude each other; pass one of them")
    }

    func run() async throws {
        let selection = try options.selection()
        // Environment variables describe the source, so the target ignores them.
        let targetSelection = try DatabaseSelection(
            database: to, config: toConfig, app: toConfig == nil ? nil : options.app, environment: [:])
        let targetDatabase = targetSelection.database
        guard !targetDatabase.isSame(as: selection.database) else {
            throw CommandError("the target is the source; name another database with --to or --to-config")
        }
        try await selection.withStore { source in
            let sourceApp = try await source.read { try DatabaseHeader.read(in: $0.session).bundleID }
            try await withDatabase(targetDatabase, .new(of: sourceApp ?? targetSelection.bundleID)) { target in
                let progress = Progress("rows")
                let sums = try await DatabaseCopy().run(
                    from: source.database, to: target.database, at: targetDatabase.fullName,
                    summarize: { session throws(StoreError) in try DatabaseDump.sums(in: session) },
                    progress: progress.show)
                progress.end()
                for (table, sum) in sums.sorted(by: { $0.key < $1.key }) where sum.count > 0 {
                    let hash = sum.sha256.prefix(8).hexadecimal
                    terminal.write("\(table): \(sum.count), hash \(hash) on both sides")
                }
                terminal.write(
                    """
                    moved to \(targetDatabase.name); start the service there with its present keys \
                    (`signing-key.json`, `access-token.secret`)
                    """)
            }
        }
    }
}

struct DatabaseReopenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reopen", abstract: "Let services write again to a database that was moved.",
        discussion: """
            `tenure database migrate` marks its source as moved, and services don't write to it anymore. Undo that if the \
            move was interrupted, or if you give up the target. What services wrote to the target isn't moved back.

            Example:
              tenure database reopen --database var/tenure.sqlite
            """)

    @OptionGroup var options: DatabaseOption

    func run() async throws {
        let selection = try options.selection()
        let database = selection.database
        try await selection.withStore { store in
            let target = try await store.database.writeAlone { session throws(StoreError) in
                let header = try DatabaseHeader.read(in: session)
                try DatabaseHeader.markMoved(to: nil, in: session)
                return header.movedTo
            }
            guard let target else {
                throw CommandError("`\(database.name)` wasn't moved; services can write to it")
            }
            terminal.write("services can write to \(database.name) again; don't start a service on \(target)")
        }
    }
}
