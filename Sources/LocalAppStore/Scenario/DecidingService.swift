package import Foundation
package import TenureAppStore
package import TenureCore

/// A service in a few lines: it keeps what it verified, and decides from that. For playing scenarios in process.
package actor DecidingService: EntitlementService {
    private let policy: Policy
    private let verifier: AppStoreVerifier
    private let environment: AppStoreEnvironment
    private var customers: [String: Ledger] = [:]
    /// Who is called what, once the app said so.
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

    package func known(_ customer: String, at now: Date) throws -> [String: Decision.Outcome]? {
        try customers[customer].map { try decisions(on: $0, at: now) }
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
