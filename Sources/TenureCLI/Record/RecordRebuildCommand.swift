import ArgumentParser
import TenureServer
import TenureStore

struct RecordRebuildCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild",
        abstract: "Derive what is known of every customer anew from the ledger.",
        discussion: """
            Each artifact is verified anew, as on the day it came: give the same --trust as `tenure serve` has. A \
            customer with an artifact that does not verify is named, and stays as they were. The ledger itself never \
            changes, and a healthy record is the same afterwards. The service may go on meanwhile.

            Exit codes: 0 done, 1 somebody could not be rebuilt or the record cannot be read, 64 wrong usage.

            Example:
              tenure record rebuild --database var/tenure.sqlite --dry-run
            """
    )

    @OptionGroup var options: RecordDatabaseOption
    @OptionGroup var trust: TrustOptions

    @Flag(help: "Say how many would change, and change nobody.")
    var dryRun = false

    func run() async throws {
        try await reportingErrors {
            let trust = try trust.configuration()
            try await withRecord(options.database) { store in
                let progress = Progress("customers")
                let outcome = try await RecordRebuild(of: store, trust: trust).run(
                    isTrial: dryRun, progress: progress.show
                ) { finding in
                    progress.end()
                    Terminal.standardOutput.write(Terminal.clean(finding.description))
                }
                progress.end()
                Terminal.standardOutput.write(
                    "\(outcome.customers) customers: \(outcome.changed) \(dryRun ? "would change" : "changed")")
                guard outcome.stopped == 0 else {
                    Terminal.standardError.write("error: \(outcome.stopped) customers could not be rebuilt")
                    throw ExitCode.error
                }
            }
        }
    }
}
