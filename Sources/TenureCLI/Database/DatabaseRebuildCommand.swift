import ArgumentParser
import TenureServer
import TenureStore

struct DatabaseRebuildCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild",
        abstract: "Compute the facts about every customer again, from the stored artifacts.",
        discussion: """
            Verifies each artifact again, as on the day it was received: pass the --trust of `tenure serve`. If an \
            artifact isn't valid, the command prints its customer and doesn't change them. The command never changes \
            artifacts. If the database has no errors, nothing changes. The service may run meanwhile.

            Exit codes: 0 done, 1 a customer couldn't be rebuilt or the database can't be read, 64 wrong usage.

            Example:
              tenure database rebuild --database var/tenure.sqlite --dry-run
            """
    )

    @OptionGroup var options: DatabaseOption
    @OptionGroup var trust: TrustOptions

    @Flag(help: "Print how many customers would change, and change none.")
    var dryRun = false

    func run() async throws {
        let selection = try options.selection()
        let trust = try selection.trust(trust)
        try await selection.withStore { store in
            let progress = Progress("customers")
            let outcome = try await DatabaseRebuild.run(
                on: store, trust: trust, isTrial: dryRun, progress: progress.show
            ) { finding in
                progress.end()
                Terminal.standardOutput.write(Terminal.escaped(finding.description))
            }
            progress.end()
            Terminal.standardOutput.write(
                "\(counted(outcome.customers, "customer")): \(outcome.changed) \(dryRun ? "would change" : "changed")")
            guard outcome.stopped == 0 else {
                Terminal.standardError.write("error: \(counted(outcome.stopped, "customer")) couldn't be rebuilt")
                throw ExitCode.error
            }
        }
    }
}
