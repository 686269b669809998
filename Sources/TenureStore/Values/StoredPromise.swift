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
        return description < other.description
    }

    private var description: String { "\(acquisition) \(until?.millisecondsSince1970 ?? .max)" }

    /// Whether `other` already promises everything that this promise does.
    func repeats(_ other: StoredPromise) -> Bool {
        entitlement == other.entitlement && policyVersion == other.policyVersion && until == other.until
            && acquisition.matches(other.acquisition)
    }
}

extension Date {
    /// The date rounded to what a column stores: whole milliseconds since 1970.
    package var toMillisecond: Date { Date(millisecondsSince1970: millisecondsSince1970) }

    /// The date as a column stores it.
    package var millisecondsSince1970: Int64 {
        let milliseconds = (timeIntervalSince1970 * 1000).rounded()
        // Limits dates to a range in which a Double counts milliseconds exactly.
        return milliseconds.isNaN ? 0 : Int64(min(max(milliseconds, -9e15), 9e15))
    }

    package init(millisecondsSince1970 milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}
