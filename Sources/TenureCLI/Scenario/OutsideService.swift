import Foundation
import LocalAppStore
import TenureCore
import TenureServer

/// A service that somebody else runs, and pointed at the local App Store of the rehearsal.
///
/// It goes by its own time, or by the file that is its `clock`.
struct OutsideService: EntitlementService {
    let client: RehearsedService
    /// With which it signs its tokens for the App Store.
    let key: ServerAPIKey
    let storePort: Int
    /// Nil: it goes by its own time.
    let clock: String?

    func accompany(
        _ founding: Founding, signer: StoreSigner,
        _ story: @escaping @Sendable (LocalAppStore) async throws -> [ScenarioRun.Outcome]
    ) async throws -> [ScenarioRun.Outcome] {
        var founding = founding
        for index in founding.apps.indices { founding.apps[index].notificationURL = client.notificationURL }
        let store = LocalAppStore(
            founding.world, signer: signer,
            clock: { [clock] now in if let clock { try? RehearsalClock.set(clock, to: now) } },
            courier: HTTPCourier().carry)
        return try await StoreServer(store: store, key: key, port: storePort).serve { _ in try await story(store) }
    }

    func open(_ device: DeviceArtifacts, at now: Date) async throws -> [String: Decision.Outcome] {
        let outcomes = try await client.open(device)
        try await client.settle()
        return outcomes
    }

    func known(_ customer: KnownCustomer, at now: Date) async throws -> [String: Decision.Outcome]? {
        guard client.adminKey != nil else {
            throw CommandError(
                "what a service knows is told to its owner only; start it with `tenure scenario settings`, and name the folder"
            )
        }
        guard let id = customer.appTransactionID else { return nil }
        return try await client.customer(id)?.outcomes
    }

    /// It is sent all that the App Store ever told of: from here nobody can make it ask.
    func catchUp(from store: LocalAppStore) async throws {
        let world = await store.world
        let carry = HTTPCourier().carry
        for notification in world.notifications {
            _ = await carry(
                try store.signer.notification(notification, in: world), client.notificationURL, notification)
        }
    }
}
