import ArgumentParser
import Foundation
import TenureCore
import TenureJSON
import TenureServer
import TenureStore

struct RecordMigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Move a record to another database: from SQLite to PostgreSQL, or back.",
        discussion: """
            Stop the service first: what it wrote afterwards would stay behind. Everything is copied in one transaction \
            of the target, which must hold no record yet; rows keep their numbers and the record its id, so that access \
            tokens and certificates stay good. Before the transaction ends, counts and hashes of every table are \
            compared; whatever goes wrong before that leaves nothing on the target. The source stays as it is.

            Example:
              tenure record migrate --database var/tenure.sqlite --to postgres://tenure@db.example.com/tenure
            """
    )

    @OptionGroup var options: RecordDatabaseOption

    @Option(
        help: ArgumentHelp("Where to: a new SQLite file, or the URL of an empty database.", valueName: "path or URL"))
    var to: RecordDatabase

    func run() async throws {
        try await reportingErrors {
            guard !to.isSame(as: options.database) else {
                throw CommandError("the target is the source; name another database by --to")
            }
            try await withRecord(options.database) { source in
                try await withRecord(to, making: true) { target in
                    let progress = Progress("rows")
                    let sums = try await RecordCopy().run(
                        from: source, to: target,
                        summarize: { session throws(StoreError) in try RecordDump.sums(in: session) },
                        progress: progress.show)
                    progress.end()
                    let terminal = Terminal.standardOutput
                    for (table, sum) in sums.sorted(by: { $0.key < $1.key }) where sum.count > 0 {
                        let hash = sum.sha256.prefix(8).hexadecimal
                        terminal.write("\(table): \(sum.count), hash \(hash) on both sides")
                    }
                    terminal.write(
                        """
                        moved to \(to.name); start the service there, with the keys that lie beside it now \
                        (`signing-key.json`, `access-token.secret`)
                        """)
                }
            }
        }
    }
}
