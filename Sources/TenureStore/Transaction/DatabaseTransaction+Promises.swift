package import Foundation
package import TenureCore

/// A *promise*: a right that a policy gave to customers who got the app in a certain era, stored so that later policies
/// can't take it. A publication ends promises only on request, and a rollback restores them.
package struct StoredPromise: Sendable, Hashable {
    /// The name of the entitlement when the promise was made.
    package let entitlement: String
    /// The acquisition of the app to which the promise was made.
    package let acquisition: AcquisitionKey
    /// The version of the policy that made the promise.
    package let policyVersion: Int64
    /// When the promised right ends; nil if it is permanent. Whole milliseconds, as in all stored times.
    package let until: Date?
    /// When the promise was made.
    package let recordedAt: Date

    package init(
        entitlement: String, acquisition: AcquisitionKey, policyVersion: Int64, until: Date?, recordedAt: Date
    ) {
        self.entitlement = entitlement
        self.acquisition = acquisition
        self.policyVersion = policyVersion
        self.until = until.map(\.toMillisecond)
        self.recordedAt = recordedAt.toMillisecond
    }

    /// Whether this promise was made before another promise. Promises of the same instant have an arbitrary but fixed
    /// order.
    func precedes(_ other: StoredPromise) -> Bool {
        if recordedAt != other.recordedAt { return recordedAt < other.recordedAt }
        if policyVersion != other.policyVersion { return policyVersion < other.policyVersion }
        if entitlement != other.entitlement { return entitlement < other.entitlement }
        return tieBreaker < other.tieBreaker
    }

    private var tieBreaker: String { "\(acquisition) \(until?.millisecondsSince1970 ?? .max)" }

    /// Whether `other` is the same promise, perhaps made at another time.
    func repeats(_ other: StoredPromise) -> Bool {
        entitlement == other.entitlement && policyVersion == other.policyVersion && until == other.until
            && acquisition.matches(other.acquisition)
    }
}

/// Stores and reads promises. A promise belongs to a *member*: a row of `customers`, of which a merged customer has
/// several.
extension DatabaseTransaction {
    /// Stores a promise for the member by which the customer was found. If the publication of a policy ended the same
    /// promise before, it counts again.
    func insert(_ promise: StoredPromise, of customer: Customer) throws(StoreError) {
        try session.execute(
            """
            INSERT INTO promises (
                customer, entitlement, app_transaction_id, download_id, original_purchase_date, policy, until, recorded_at
            ) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            ON CONFLICT (
                customer, entitlement, policy, coalesce(app_transaction_id, ''), coalesce(download_id, ''),
                coalesce(original_purchase_date, 0), coalesce(until, 0)
            ) DO UPDATE SET ended_by = NULL, recorded_at = excluded.recorded_at WHERE promises.ended_by IS NOT NULL
            """,
            [
                .integer(customer.member), .text(promise.entitlement), SQLValue(promise.acquisition.appTransactionID),
                SQLValue(promise.acquisition.downloadID),
                SQLValue(promise.acquisition.originalPurchaseDate?.timeIntervalSinceReferenceDate),
                .integer(promise.policyVersion), SQLValue(promise.until), SQLValue(promise.recordedAt),
            ])
    }

    /// The promises of a member that no publication ended.
    func promises(of member: Int64) throws(StoreError) -> [StoredPromise] {
        try promises("customer = $1 AND ended_by IS NULL", [.integer(member)])
    }

    /// The promises of a member that were ended by publications later than the publication with this ID.
    func promises(of member: Int64, endedAfter publication: Int64) throws(StoreError) -> [StoredPromise] {
        try promises("customer = $1 AND ended_by > $2", [.integer(member), .integer(publication)])
    }

    /// Reads the promises that an SQL condition selects, in the order in which they were stored.
    func promises(_ condition: String, _ arguments: [SQLValue]) throws(StoreError) -> [StoredPromise] {
        try session.rows(
            """
            SELECT entitlement, app_transaction_id, download_id, original_purchase_date, policy, until, recorded_at
            FROM promises WHERE \(condition) ORDER BY id
            """, arguments
        ).map { row throws(StoreError) in
            StoredPromise(
                entitlement: try row.text(0),
                acquisition: AcquisitionKey(
                    appTransactionID: try row.textIfPresent(1), downloadID: try row.textIfPresent(2),
                    originalPurchaseDate: try row.numberIfPresent(3).map { Date(timeIntervalSinceReferenceDate: $0) }),
                policyVersion: try row.integer(4), until: try row.instantIfPresent(5), recordedAt: try row.instant(6))
        }
    }

    // MARK: Ended promises

    /// Returns the promises that a rollback to the publication with this ID restores, by the customer's row ID: the
    /// promises that were ended by later publications. Empty if `publication` is nil.
    package func restorablePromises(after publication: Int64?) throws(StoreError) -> [Int64: [StoredPromise]] {
        guard let publication else { return [:] }
        try session.allowLongStatements()
        let members = try session.integers(
            "SELECT DISTINCT customer FROM promises WHERE ended_by > $1", [.integer(publication)])
        let survivors = try survivors(of: Set(members))
        var restorable: [Int64: [StoredPromise]] = [:]
        for member in members {
            guard let survivor = survivors[member] else { continue }
            restorable[survivor, default: []] += try promises(of: member, endedAfter: publication)
        }
        return restorable
    }

    /// Whether a publication ended this promise for every customer that had it. If so, it must not be stored again.
    /// False if no customer ever had the promise. Promises that differ only in `until` count as one, because a
    /// publication ends all promises of an entitlement, whenever they end.
    func isEnded(_ promise: StoredPromise) throws(StoreError) -> Bool {
        // The minimum is 0 if a promise of any customer wasn't ended, and NULL if no customer has the promise.
        try session.row(
            """
            SELECT 1 WHERE 0 < (
                SELECT min(CASE WHEN ended_by IS NULL THEN 0 ELSE 1 END) FROM promises
                WHERE entitlement = $1 AND policy = $2
                AND coalesce(app_transaction_id, '') = $3 AND coalesce(download_id, '') = $4
                AND coalesce(original_purchase_date, 0) = $5
            )
            """,
            [
                .text(promise.entitlement), .integer(promise.policyVersion),
                .text(promise.acquisition.appTransactionID ?? ""), .text(promise.acquisition.downloadID ?? ""),
                .real(promise.acquisition.originalPurchaseDate?.timeIntervalSinceReferenceDate ?? 0),
            ]) != nil
    }

    /// Throws `policyChanged` if another policy has taken effect since the update was decided, or if the update stores
    /// a promise of an earlier policy that a publication has ended. Accepts every update that neither stores promises
    /// nor changes what webhooks report: such an update doesn't depend on the policy.
    func checkPolicy(of update: CustomerUpdate, former: Customer?) throws(StoreError) {
        guard let version = update.policyVersion else { return }
        let sent = update.entitlementChange.sentEntitlements
        let changesWebhookReport = sent != nil && sent != former?.sentEntitlements
        guard !update.promises.isEmpty || changesWebhookReport else { return }
        guard try publishedVersion() == version else { throw .policyChanged }
        for promise in update.promises where promise.policyVersion != version {
            if try isEnded(promise) { throw .policyChanged }
        }
    }
}
