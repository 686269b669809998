import Foundation
import TenureAppStore
import TenureCore
import TenureRehearsal

/// Reads the customers that the command selected, from a file of evidence or from a service's database.
extension RehearseCommand {
    /// The results for the selected customers, and what was read.
    struct Population {
        let input: RehearsalReport.Input
        let tally: Tally
        /// Whether the rehearsal was stopped, or the input couldn't be read to its end.
        let isPartial: Bool
        /// Why the input couldn't be read to its end; nil if it could.
        let problem: RehearsalError?
    }

    /// Decides for all selected customers, and returns the counts. Also writes the file of rejected lines.
    ///
    /// - Parameters:
    ///   - comparison: the new policy, the old policy if there is one, and the date of all decisions.
    ///   - files: the files that the command reads and writes. The default name for the file of rejected lines avoids
    ///     them.
    func population(
        for comparison: Comparison, files: FilePlan, interruption: Interruption, progress: RehearsalProgress
    ) async throws -> Population {
        let trust = trustOfRehearsal
        guard let evidence else {
            let database = try databaseOption.selection().database
            return try await withDatabase(database) { store in
                let outcome = try await DatabaseRehearsal(
                    comparison, environments: trust.environments, includesTestAuthorities: !trust.trust.isEmpty
                ).run(over: store, isStopped: { interruption.isRequested }, progress: progress.show)
                return Population(
                    input: .database(name: database.name, skipped: outcome.skippedCustomers), tally: outcome.tally,
                    isPartial: outcome.isPartial, problem: nil)
            }
        }
        let source = try EvidenceSource(path: evidence)
        let app = comparison.new.app
        // If --at is in the future, accept artifacts with a signing date up to then.
        let rehearsal = EvidenceRehearsal(
            comparison, app: AppIdentity(bundleID: app.bundleID, appAppleID: app.appleID),
            trust: try trust.configuration(), now: max(comparison.instant, Date()), purchasesAreComplete: !incomplete)
        // By default, the file of rejected lines is a new file beside the evidence; for standard input, in the current
        // folder.
        let freeName = { files.freeName((evidence == "-" ? "rehearsal" : evidence) + ".rejected", "ndjson") }
        let badLines = BadLineFile(path: rejected ?? freeName(), replaces: replacing.force && rejected != nil)
        let outcome = try await rehearsal.run(
            over: source, isStopped: { interruption.isRequested }, progress: progress.show, report: badLines.add)
        try badLines.close(orAs: rejected == nil ? freeName : nil)
        if let rejected, !badLines.isUsed {
            // Nothing was rejected: write an empty list, which replaces the list of an earlier rehearsal.
            try OutputFile(path: rejected, replaces: replacing.force).write([])
        }
        return Population(
            input: .evidence(
                name: evidence == "-" ? "standard input" : evidence, counts: outcome.counts,
                badLines: badLines.isUsed ? badLines.path : nil, anonymousIDs: outcome.anonymousIDs),
            tally: outcome.tally, isPartial: outcome.isPartial, problem: outcome.problem)
    }

    /// The trust options. Without `--environment`, accepts production only, which has the real customers.
    private var trustOfRehearsal: TrustOptions {
        var trust = trust
        if trust.environment.isEmpty { trust.environment = [TrustOptions.EnvironmentName(.production)] }
        return trust
    }
}
