import Foundation
import Logging
import TenureAPI
import TenureStore

/// Fetches the purchase history of each new customer from the App Store, and adds it to the customer.
struct HistoryBackfill: Sendable {
    let client: AppStoreClient
    let store: Store
    let policies: ActivePolicy
    let now: @Sendable () -> Date

    /// The seconds for which no other process takes a claimed job: longer than fetching a history may take.
    private static let lease: TimeInterval = 900

    /// Returns the runner that performs the jobs in the database.
    ///
    /// - Parameter idle: The seconds between two reads of an empty queue.
    func runner(idle: TimeInterval, logger: Logger) -> JobRunner<StoredJob> {
        JobRunner(
            next: {
                let job = try await store.write(at: now()) { try $0.claimJob(lease: Self.lease) }
                return job.map { ($0, $0.tries) }
            },
            perform: { try await fetchHistory(for: $0) },
            removeFinished: { job in try await store.write { try $0.finish(job) } },
            postponeFailed: { job, until in
                try await store.write {
                    if let until { try $0.postpone(job, until: until) } else { try $0.finish(job) }
                }
            },
            idlePause: idle, time: client.time, logger: logger)
    }

    /// Fetches the history of the job's customer, and saves it.
    private func fetchHistory(for job: StoredJob) async throws {
        guard let id = AppStoreCustomerID(job.identities) else { return }
        // Apple's servers, which are the default hosts, don't know customers with artifacts from a test authority.
        if job.customer.realm.isTest, client.hosts == AppStoreHosts() { return }
        let environment = job.customer.realm.environment
        let history = try await CustomerHistoryReader(client: client).history(of: id, in: environment)
        // A history that another authority signed isn't this customer's. One without IDs names no customer.
        guard history.realm == job.customer.realm, !history.proven.identities.isEmpty else { return }
        let now = now()
        try await policies.upToDate {
            // `updated` is nil if the customer was erased meanwhile. An erased customer must not be created again.
            let updated = try await store.update(
                job.customer, naming: history.proven.identities, at: now, adding: history.size
            ) { storedCustomer -> (CustomerUpdate, Result<Void, Problem>) in
                var update = CustomerUpdate(of: storedCustomer)
                history.add(to: &update, of: storedCustomer)
                // Adds the promises (`StoredPromise`) that follow from the purchases.
                let outcome = Result<Void, Problem> { () throws(Problem) in
                    _ = try policies.decide(&update, in: environment, at: now)
                }
                return (update, outcome)
            }
            // A failed decision is thrown here, so that `upToDate` can read newer policies and try again.
            try updated?.outcome.get()
        }
    }
}
