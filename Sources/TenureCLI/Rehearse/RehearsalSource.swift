import Foundation
import TenureAppStore
import TenureCore
import TenureRehearsal

/// Reads the customers that a command selected, from a file of evidence or from a service's database.
struct RehearsalSource {
    /// The results for the selected customers, and what was read.
    struct Population {
        let input: RehearsalReport.Input
        let tally: Tally
        /// Whether the rehearsal was stopped, or the input couldn't be read to its end.
        let isPartial: Bool
        /// Why the input couldn't be read to its end; nil if it could.
        let problem: RehearsalError?
    }

    /// The options of the command.
    let command: RehearseCommand
    /// The new policy, the old policy if there is one, and the date of all decisions.
    let comparison: Comparison
    /// The files that the command reads and writes. The default name for the file of rejected lines avoids them.
    let files: FilePlan

    /// Decides for all selected customers, and returns the counts. Also writes the file of rejected lines.
    func population(interruption: Interruption, progress: RehearsalProgress) async throws -> Population {
        if let database = try command.database {
            return try await population(of: database, interruption: interruption, progress: progress)
        }
        let name = command.evidence ?? "-"
        let source = try EvidenceSource(path: name)
        let app = comparison.new.app
        // If --at is in the future, accept artifacts that are signed until then.
        let rehearsal = EvidenceRehearsal(
            comparison, app: AppIdentity(bundleID: app.bundleID, appAppleID: app.appleID),
            trust: try trust.configuration(), now: max(comparison.instant, Date()),
            purchasesAreComplete: !command.incomplete)
        let freeName = { files.freeName((name == "-" ? "rehearsal" : name) + ".rejected", "ndjson") }
        let badLines = BadLineFile(
            path: command.rejected ?? freeName(),
            replaces: command.replacing.force && command.rejected != nil)
        let outcome = try await rehearsal.run(
            over: source, isStopped: { interruption.isRequested }, progress: progress.show, report: badLines.add)
        try badLines.close(orAs: command.rejected == nil ? freeName : nil)
        if let rejected = command.rejected, !badLines.isUsed {
            // Removes the bad lines of an earlier rehearsal.
            try OutputFile(path: rejected, replaces: command.replacing.force).write([])
        }
        return Population(
            input: .evidence(
                name: name == "-" ? "standard input" : name, counts: outcome.counts,
                badLines: badLines.isUsed ? badLines.path : nil, anonymousIDs: outcome.anonymousIDs),
            tally: outcome.tally, isPartial: outcome.isPartial, problem: outcome.problem)
    }

    /// Accepts production only, unless `--environment` is set: only production has real customers.
    private var trust: TrustOptions {
        var trust = command.trust
        if trust.environment.isEmpty {
            trust.environment = [TrustOptions.EnvironmentName(.production)]
        }
        return trust
    }

    private func population(
        of database: DatabaseArgument, interruption: Interruption, progress: RehearsalProgress
    ) async throws -> Population {
        let trust = trust
        return try await withDatabase(database) { store in
            let outcome = try await DatabaseRehearsal(
                comparison, environments: trust.environments, includesTestAuthorities: !trust.trust.isEmpty
            ).run(over: store, isStopped: { interruption.isRequested }, progress: progress.show)
            return Population(
                input: .database(name: database.name, skipped: outcome.skippedCustomers), tally: outcome.tally,
                isPartial: outcome.isPartial, problem: nil)
        }
    }
}
