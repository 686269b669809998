import ArgumentParser
import TenureServer
import TenureStore

struct DatabaseCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check a database for errors, and print what to do about them.",
        discussion: """
            Checks the database file, the references between rows, each artifact's hash and signature, and whether the \
            stored result for each customer matches the artifacts. Signatures are verified again, as on the day each \
            artifact came: pass the --trust of `tenure serve`. The command reads one state of the database. A running \
            service can continue to write.

            Exit codes: 0 nothing is wrong, 1 findings (a line each) or the database can't be read, 64 wrong usage.

            Example:
              tenure database check --database var/tenure.sqlite
            """
    )

    @OptionGroup var options: DatabaseOption
    @OptionGroup var trust: TrustOptions

    func run() async throws {
        let selection = try options.selection()
        let trust = try selection.trust(trust)
        try await selection.withStore { store in
            let progress = Progress("customers")
            let outcome = try await DatabaseCheck.run(on: store, trust: trust, progress: progress.show) { finding in
                progress.end()
                Terminal.standardOutput.write(Terminal.escaped(finding.description))
            }
            progress.end()
            let checked = "\(counted(outcome.customers, "customer")), \(counted(outcome.artifacts, "artifact"))"
            guard outcome.findings == 0 else {
                Terminal.standardError.write("error: \(checked): \(counted(outcome.findings, "finding"))")
                throw ExitCode.error
            }
            Terminal.standardOutput.write("\(checked): nothing is wrong")
        }
    }
}
