package import Foundation
package import TenureAppStore
package import TenureCore

/// A small service: it stores what it verified, and decides from that. For playing scenarios in process.
package actor DecidingService: EntitlementService {
    private let policy: Policy
    private let verifier: AppStoreVerifier
    private let environment: AppStoreEnvironment
    private var customers: [String: Ledger] = [:]
    /// The names of customers, once the app has sent them.
    private var names: [String: String] = [:]

    private struct Ledger {
        var artifacts: [[UInt8]: VerifiedArtifact] = [:]
        var purchasesAreComplete = false
    }

    package init(policy: Policy, anchors: TrustAnchors, environment: AppStoreEnvironment) throws {
        self.policy = policy
        self.environment = environment
        verifier = AppStoreVerifier(
            app: AppIdentity(bundleID: policy.app.bundleID, appAppleID: policy.app.appleID),
            trust: try TrustConfiguration(anchors: [environment: anchors]))
    }

    package func open(_ device: DeviceArtifacts, at now: Date) throws -> [String: Decision.Outcome] {
        if let id = device.appTransactionID { names[id] = device.customer }
        var ledger = customers[device.customer] ?? Ledger()
        if let id = device.appTransactionID, let early = customers.removeValue(forKey: id) {
            ledger.artifacts.merge(early.artifacts) { $1 }
        }
        func keep(_ artifact: VerifiedArtifact) { ledger.artifacts[artifact.signedContentDigest] = artifact }
        if let jws = device.appTransaction {
            keep(.appTransaction(try verifier.verifyAppTransaction(Array(jws.utf8), now: now)))
        }
        for jws in device.transactions ?? [] {
            keep(.transaction(try verifier.verifyTransaction(Array(jws.utf8), now: now)))
        }
        for jws in device.renewalInfos {
            keep(.renewalInfo(try verifier.verifyRenewalInfo(Array(jws.utf8), now: now)))
        }
        if let receipt = device.receipt { keep(.receipt(try verifier.verifyReceipt(receipt, now: now))) }
        if device.transactions != nil { ledger.purchasesAreComplete = true }
        customers[device.customer] = ledger
        return try decisions(on: ledger, at: now)
    }

    package func known(_ customer: KnownCustomer, at now: Date) throws -> [String: Decision.Outcome]? {
        try (customers[customer.name] ?? customer.appTransactionID.flatMap { customers[$0] })
            .map { try decisions(on: $0, at: now) }
    }

    package nonisolated func accompany(
        _ founding: Founding, signer: StoreSigner,
        _ story: @escaping @Sendable (LocalAppStore) async throws -> [ScenarioRun.Outcome]
    ) async throws -> [ScenarioRun.Outcome] {
        var founding = founding
        // There is no address; notifications are passed on directly.
        for index in founding.apps.indices { founding.apps[index].notificationURL = "in-process:" }
        let clock = ClockFace(founding.now)
        return try await story(
            LocalAppStore(founding.world, signer: signer, clock: { clock.now = $0 }) { payload, _, _ in
                await self.receive(payload, at: clock.now)
            })
    }

    /// Everything that the App Store still has, the oldest first.
    package func catchUp(from store: LocalAppStore) async throws {
        let world = await store.world
        for notification in world.notifications {
            _ = receive(try store.signer.notification(notification, in: world), at: world.now)
        }
    }

    package func receive(_ signedPayload: String, at now: Date) -> SendAttemptResult {
        guard let notification = try? verifier.verifyNotification(Array(signedPayload.utf8), now: now) else {
            return .unsuccessfulStatus
        }
        // About no customer: a test, or a summary.
        guard let id = notification.transaction?.payload.appTransactionID else { return .success }
        let artifact = VerifiedArtifact.notification(notification)
        customers[names[id] ?? id, default: Ledger()].artifacts[artifact.signedContentDigest] = artifact
        return .success
    }

    private func decisions(on ledger: Ledger, at now: Date) throws -> [String: Decision.Outcome] {
        let evidence = try Evidence(
            in: environment, from: Array(ledger.artifacts.values), purchasesAreComplete: ledger.purchasesAreComplete)
        let decisions = decide(evidence, under: policy, at: now)
        return Dictionary(decisions.map { ($0.entitlement, $0.outcome) }) { first, _ in first }
    }
}

/// The time, for several readers.
private final class ClockFace: @unchecked Sendable {
    // Safe: `instant` is read and written only between `lock.lock()` and `lock.unlock()`.
    private let lock = NSLock()
    private var instant: Date

    init(_ now: Date) { instant = now }

    var now: Date {
        get {
            lock.lock()
            defer { lock.unlock() }
            return instant
        }
        set {
            lock.lock()
            defer { lock.unlock() }
            instant = newValue
        }
    }
}
