package import Foundation
package import TenureCore

/// The service that a scenario tests, such as Tenure's own. It gets customers' signed artifacts from their apps and
/// from the App Store, and decides which entitlements these customers have.
package protocol EntitlementService: Sendable {
    /// Runs `body` with a local App Store that begins in the state of `header`. Meanwhile, the service gets the store's
    /// notifications, and can call the store's App Store Server API.
    func withLocalStore(
        _ header: JournalHeader, signer: AppStoreSigner,
        _ body: @escaping @Sendable (LocalAppStore) async throws -> [ScenarioRun.Outcome]
    ) async throws -> [ScenarioRun.Outcome]

    /// Opens the customer's app, which sends its artifacts. Returns the service's decisions by entitlement.
    func openApp(_ device: DeviceArtifacts, at now: Date) async throws -> [String: Decision.Outcome]

    /// Returns the service's decisions by entitlement, without sending artifacts. Nil if the service doesn't know the
    /// customer.
    func outcomes(of customer: KnownCustomer, at now: Date) async throws -> [String: Decision.Outcome]?

    /// Makes the service fetch and apply every notification that it may have missed.
    func catchUp(from store: LocalAppStore) async throws
}
