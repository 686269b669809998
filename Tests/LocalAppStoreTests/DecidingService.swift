import Foundation
import TenureAppStore
import TenureCore

@testable import LocalAppStore

/// A small service for scenarios within the test's process. It stores what it has verified, and decides from that.
actor DecidingService: EntitlementService {
    private let policy: Policy
    private let verifier: AppStoreVerifier
    private let environment: AppStoreEnvironment
    private var customers: [String: KnownEvidence] = [:]
    /// The names of customers, by the `appTransactionId` that their app has sent.
    private var names: [String: String] = [:]

    /// What the service knows about one customer.
    private struct KnownEvidence {
        var artifacts: [[UInt8]: VerifiedArtifact] = [:]
        var purchasesAreComplete = false
    }

    init(policy: Policy, anchors: TrustAnchors, environment: AppStoreEnvironment) throws {
        self.policy = policy
        self.environment = environment
        verifier = AppStoreVerifier(
            app: AppIdentity(bundleID: policy.app.bundleID, appAppleID: policy.app.appleID),
            trust: try TrustConfiguration(anchors: [environment: anchors]))
    }

    func openApp(_ device: DeviceArtifacts, at now: Date) throws -> [String: Decision.Outcome] {
        if let id = device.appTransactionID { names[id] = device.customer }
        var known = customers[device.customer] ?? KnownEvidence()
        if let id = device.appTransactionID, let early = customers.removeValue(forKey: id) {
            known.artifacts.merge(early.artifacts) { $1 }
        }
        func keep(_ artifact: VerifiedArtifact) { known.artifacts[artifact.signedContentDigest] = artifact }
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
        if device.transactions != nil { known.purchasesAreComplete = true }
        customers[device.customer] = known
        return try decisions(on: known, at: now)
    }

    func outcomes(of customer: KnownCustomer, at now: Date) throws -> [String: Decision.Outcome]? {
        try (customers[customer.name] ?? customer.appTransactionID.flatMap { customers[$0] })
            .map { try decisions(on: $0, at: now) }
    }

    nonisolated func withLocalStore(
        _ header: JournalHeader, signer: AppStoreSigner,
        _ body: @escaping @Sendable (LocalAppStore) async throws -> [ScenarioRun.Outcome]
    ) async throws -> [ScenarioRun.Outcome] {
        var header = header
        // The notifications have no URL, because they are passed on within the process.
        for index in header.apps.indices { header.apps[index].notificationURL = "in-process:" }
        let clock = Locked(header.now)
        return try await body(
            LocalAppStore(header.state, signer: signer, clock: { now in clock.withLock { $0 = now } }) {
                payload, _, _ in
                await self.receive(payload, at: clock.withLock { $0 })
            })
    }

    /// Fetches all notifications that the App Store still has, the oldest first.
    func catchUp(from store: LocalAppStore) async throws {
        let state = await store.state
        for notification in state.notifications {
            _ = receive(try store.signer.notification(notification, in: state), at: state.now)
        }
    }

    func receive(_ signedPayload: String, at now: Date) -> SendAttemptResult {
        guard let notification = try? verifier.verifyNotification(Array(signedPayload.utf8), now: now) else {
            return .unsuccessfulStatus
        }
        // A test notification or a summary names no customer.
        guard let id = notification.transaction?.payload.appTransactionID else { return .success }
        let artifact = VerifiedArtifact.notification(notification)
        customers[names[id] ?? id, default: KnownEvidence()].artifacts[artifact.signedContentDigest] = artifact
        return .success
    }

    private func decisions(on known: KnownEvidence, at now: Date) throws -> [String: Decision.Outcome] {
        let evidence = try Evidence(
            in: environment, from: Array(known.artifacts.values), purchasesAreComplete: known.purchasesAreComplete)
        let decisions = decide(evidence, under: policy, at: now)
        return Dictionary(decisions.map { ($0.entitlement, $0.outcome) }) { first, _ in first }
    }
}
