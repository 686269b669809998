import ArgumentParser
import Foundation
import TenureServer
import TenureStore

struct RecordDumpCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump",
        abstract: "Write the whole record as lines of JSON, in an order that the same content always has.",
        discussion: """
            Two records with the same content give the same bytes, on SQLite and on PostgreSQL: compare their hashes. \
            It reads one state of the record while a service goes on writing, in little memory. The lines hold all that \
            customers sent: keep them as you keep the record.

            Example:
              tenure record dump --database var/tenure.sqlite | sha256sum
            """
    )

    @OptionGroup var options: RecordDatabaseOption

    func run() async throws {
        try await reportingErrors {
            try await withRecord(options.database) { store in
                let progress = Progress("customers")
                let output = Terminal.standardOutput
                _ = try await RecordDump(of: store).write(progress: progress.show) { lines throws(StoreError) in
                    guard output.writes(lines) else {
                        throw .failed("the dump cannot be written; make room, or go on reading it")
                    }
                }
                progress.end()
            }
        }
    }
}
