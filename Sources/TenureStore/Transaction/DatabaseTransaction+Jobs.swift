package import Foundation

/// A job in the database: to fetch a customer's history of purchases from the App Store. The job outlives the process
/// that created it.
package struct StoredJob: Sendable, Hashable {
    /// The row ID of the job.
    package let id: Int64
    /// The customer. `Customer.member` is the member (row of `customers`) for which the job was created.
    package let customer: Customer
    /// The identities of that member; if the App Store accepts none of them, those of all members.
    package let identities: [Identity]
    /// How many times the job was taken before.
    package let tries: Int
}

/// Jobs that wait for a process. A *member* is a row of `customers`: a merged customer has several.
extension DatabaseTransaction {
    /// Adds a job that asks the App Store for the purchases of the member by which the customer was found. Each
    /// member's account has its own history. Does nothing if the member has such a job already.
    func enqueueJob(for customer: Customer) throws(StoreError) {
        try session.execute(
            """
            INSERT INTO jobs (kind, subject, customer, due_at, attempts) VALUES ('history', $1, $2, $3, 0)
            ON CONFLICT DO NOTHING
            """, [.text(String(customer.member)), .integer(customer.member), milliseconds])
    }

    /// Takes and returns the job that has waited longest; nil if no job is due. No other process takes the job before
    /// `lease` has passed. Jobs of erased customers are removed instead of returned.
    ///
    /// - Parameter lease: the seconds after which another process may take the job again.
    package func claimJob(lease: TimeInterval) throws(StoreError) -> StoredJob? {
        while let row = try session.row(
            """
            SELECT id, customer, attempts FROM jobs WHERE kind = 'history' AND due_at <= $1
            ORDER BY due_at, id LIMIT 1\(session.dialect.forUpdateSkippingLocked)
            """, [milliseconds])
        {
            let id = try row.integer(0)
            guard let member = try row.integerIfPresent(1), let customer = try self.customer(member) else {
                try session.execute("DELETE FROM jobs WHERE id = $1", [.integer(id)])
                continue
            }
            try session.execute(
                "UPDATE jobs SET due_at = $1, attempts = attempts + 1 WHERE id = $2",
                [SQLValue(now.addingTimeInterval(lease)), .integer(id)])
            var identities = try identities(ofMember: member)
            if !identities.contains(where: \.kind.isAcceptedByAppStore) {
                identities = try self.identities(of: customer.id)
            }
            return StoredJob(
                id: id, customer: customer.with(member: member), identities: identities, tries: try row.count(2))
        }
        return nil
    }

    /// Counts the jobs that aren't finished.
    package func unfinishedJobCount() throws(StoreError) -> Int {
        try session.count("SELECT count(*) FROM jobs WHERE kind = 'history'")
    }

    // If the customer was erased, another job may have the same ID. So `finish` and `postpone` also compare the
    // customer's row ID, which is never reused.

    /// Removes a job that was carried out.
    package func finish(_ job: StoredJob) throws(StoreError) {
        try session.execute(
            "DELETE FROM jobs WHERE id = $1 AND customer = $2", [.integer(job.id), .integer(job.customer.member)])
    }

    /// Makes a job due at an instant, when `claimJob` returns it again.
    package func postpone(_ job: StoredJob, until instant: Date) throws(StoreError) {
        try session.execute(
            "UPDATE jobs SET due_at = $1 WHERE id = $2 AND customer = $3",
            [SQLValue(instant), .integer(job.id), .integer(job.customer.member)])
    }
}
