import ArgumentParser
import TenureServer
import TenureStore

struct RecordCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Say all that is wrong with a record, and what to do about it.",
        discussion: """
            The database itself, the references between its rows, each artifact's hash and signature, and whether what \
            is known of each customer is what the ledger proves. Signatures are verified anew, as on the day each \
            artifact came: give the same --trust as `tenure serve` has. It reads one state of the record while a \
            service goes on writing.

            Exit codes: 0 nothing is wrong, 1 something is (a line each) or the record cannot be read, 64 wrong usage.

            Example:
              tenure record check --database var/tenure.sqlite
            """
    )

    @OptionGroup var options: RecordDatabaseOption
    @OptionGroup var trust: TrustOptions

    func run() async throws {
        try await reportingErrors {
            let trust = try trust.configuration()
            try await withRecord(options.database) { store in
                let progress = Progress("customers")
                let outcome = try await RecordCheck(of: store, trust: trust).run(progress: progress.show) { finding in
                    progress.end()
                    Terminal.standardOutput.write(Terminal.clean(finding.description))
                }
                progress.end()
                let looked = "\(outcome.customers) customers, \(outcome.artifacts) artifacts"
                guard outcome.findings == 0 else {
                    Terminal.standardError.write("error: \(looked): \(outcome.findings) findings")
                    throw ExitCode.error
                }
                Terminal.standardOutput.write("\(looked): nothing is wrong")
            }
        }
    }
}
