import ArgumentParser
import Foundation
import TenureServer
import TenureStore

struct DatabaseDumpCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump",
        abstract: "Write the whole database as lines of JSON, in a fixed order.",
        discussion: """
            Two databases with the same content give the same bytes, on SQLite and on PostgreSQL: compare their hashes. \
            The command reads one state of the database in little memory. A running service can continue to write. The \
            lines contain everything that customers sent: protect them like the database.

            Example:
              tenure database dump --database var/tenure.sqlite | sha256sum
            """
    )

    @OptionGroup var options: DatabaseOption

    func run() async throws {
        try await options.selection().withStore { store in
            let progress = Progress("customers")
            let output = Terminal.standardOutput
            _ = try await DatabaseDump.write(of: store, progress: progress.show) { lines throws(StoreError) in
                guard output.write(bytes: lines) else {
                    throw .failed("the dump can't be written; free some space, or read the pipe to its end")
                }
            }
            progress.end()
        }
    }
}
