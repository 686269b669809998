import Foundation
import LocalAppStore
import TenureCore
import TenureServer

/// A service that runs outside this process, for a scenario (a test with invented customers and their purchases). It
/// gets the notifications of the scenario's local App Store. It uses the time in the file of its setting `clock`, or
/// real time if it has no such setting.
struct OutsideService: EntitlementService {
    let client: ServiceUnderTest
    /// The key with which the service signs its tokens for the App Store Server API.
    let key: ServerAPIKey
    /// The port at which the service expects the local App Store; 0 for any free port.
    let localStorePort: Int
    /// The path of the clock file. Nil if the service uses real time.
    let clock: String?

    func withLocalStore(
        _ header: JournalHeader, signer: AppStoreSigner,
        _ body: @escaping @Sendable (LocalAppStore) async throws -> [ScenarioRun.Outcome]
    ) async throws -> [ScenarioRun.Outcome] {
        var header = header
        for index in header.apps.indices { header.apps[index].notificationURL = client.notificationURL }
        let store = LocalAppStore(
            header.state, signer: signer,
            clock: { [clock] now in if let clock { try? FileClock.set(clock, to: now) } },
            sender: HTTPNotificationSender.send)
        return try await AppStoreServer(store: store, key: key, port: localStorePort).serve { _ in
            try await body(store)
        }
    }

    func openApp(_ device: DeviceArtifacts, at now: Date) async throws -> [String: Decision.Outcome] {
        let outcomes = try await client.openApp(device)
        try await client.waitForHistories()
        return outcomes
    }

    func outcomes(of customer: KnownCustomer, at now: Date) async throws -> [String: Decision.Outcome]? {
        guard client.adminKey != nil else {
            throw CommandError(
                "the service's admin key is missing; pass `--folder` with the folder that `tenure scenario settings` wrote"
            )
        }
        guard let id = customer.appTransactionID else { return nil }
        return try await client.customer(id)?.outcomes
    }

    /// Sends the service all notifications again, because `tenure scenario run` can't make the service ask for them.
    func catchUp(from store: LocalAppStore) async throws {
        let state = await store.state
        let send = HTTPNotificationSender.send
        for notification in state.notifications {
            _ = await send(try store.signer.notification(notification, in: state), client.notificationURL, notification)
        }
    }
}
