import Foundation
import Logging
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureStore

/// Receives App Store Server Notifications: verifies each notification, stores it once, and applies it to its customer
/// in the same transaction.
struct NotificationService: Sendable {
    let verifier: AppStoreVerifier
    let store: Store
    /// Decides under the policy in effect.
    let policies: ActivePolicy
    /// Compares entitlements before and after the notification, to find the messages for webhooks. Nil if this service
    /// has no webhooks.
    let entitlementComparer: EntitlementComparer?
    let metrics: ServiceMetrics

    /// Receives a notification as a compact JWS. When this method returns, the notification is stored durably.
    ///
    /// Throws a `Problem` if the notification can't be verified. The problem's status is below 500 only if
    /// further attempts of Apple to send the notification would fail too. Also throws the errors of the database.
    func receive(_ jws: [UInt8], now: Date, logger: Logger? = nil) async throws -> Reception {
        let contents: NotificationContents
        do throws(Rejection) {
            contents = NotificationContents(try verifier.verifyNotification(jws, now: now), bytes: jws)
        } catch {
            throw refusal(of: jws, for: error)
        }
        let reception = try await storeAndApply(contents, now: now)
        let notification = contents.notification
        if reception.isNew { metrics.countNotification(type: notification.type) }
        logger?.info(
            "notification received",
            metadata: [
                "type": "\(notification.type)", "subtype": "\(notification.subtype ?? "-")",
                "environment": "\(notification.realm.environment.rawValue)", "new": "\(reception.isNew)",
                "customer": "\(reception.customer?.publicID ?? "-")",
            ])
        return reception
    }

    /// Stores a notification, unless it is stored already, and updates its customer.
    private func storeAndApply(_ contents: NotificationContents, now: Date) async throws -> Reception {
        let environment = contents.notification.realm.environment
        let reception = try await policies.upToDate {
            try await store.receive(contents.notification, about: contents.identities, at: now) { storedCustomer in
                var update = contents.update(of: storedCustomer)
                // `decide` fails if another process just published a policy. The notification is still stored, and the
                // customer's entitlements are decided below. `later` leaves the comparison to
                // `EntitlementChangeService`.
                if let decisions = try? policies.decide(&update, in: environment, at: now).decisions {
                    update.entitlementChange =
                        (try? entitlementComparer?.entitlementChange(of: storedCustomer, decisions: decisions, at: now))
                        ?? .later
                }
                return update
            }
        }
        // Usually the customer's entitlements were decided above. They weren't if one of the customer's promises
        // (rights that are stored with the policy version that gave them) refers to a version that this process hasn't
        // read yet. Then decide again: `upToDate` reads the version.
        guard reception.isNew, let customer = reception.customer, !policies.hasReadVersions(of: customer.facts.promises)
        else { return reception }
        let customerNow = try await policies.upToDate {
            let updated = try await store.update(customer, naming: contents.identities, at: now) {
                storedCustomer -> (CustomerUpdate, Result<Void, Problem>) in
                var update = CustomerUpdate(of: storedCustomer)
                let outcome = Result<Void, Problem> { () throws(Problem) in
                    let decisions = try policies.decide(&update, in: environment, at: now).decisions
                    update.entitlementChange =
                        try entitlementComparer?.entitlementChange(of: storedCustomer, decisions: decisions, at: now)
                        ?? .later
                }
                return (update, outcome)
            }
            try updated?.outcome.get()
            return updated?.customer
        }
        return Reception(isNew: true, customer: customerNow)
    }

    /// Returns the response to a notification that can't be verified.
    ///
    /// The response's status decides whether Apple sends the notification again. It is 503 if the service may accept
    /// the notification later, for example after the operator has corrected the configuration.
    private func refusal(of jws: [UInt8], for rejection: Rejection) -> Problem {
        let detail: String
        switch rejection.code {
        case .tooManyUnknownSigners: return Problem(.tooManyUnknownSigners, rejection.detail, retryAfter: 5)
        case .misconfigured: detail = rejection.detail
        case .outsideValidityPeriod where isAccepted(jws, by: verifier):
            detail =
                "the notification was signed later than this service's clock shows; set the clock (\(rejection.detail))"
        case .wrongApp where isAccepted(jws, by: verifier.ignoringAppAppleID):
            detail = """
                the notification has this app's bundle ID but another Apple ID; correct `appleID` in the policy \
                (\(rejection.detail))
                """
        case .wrongEnvironment where isFromUnacceptedEnvironment(jws):
            detail = """
                the notification's environment isn't configured; add the environment to `environments` \
                (\(rejection.detail))
                """
        default:
            let problem = ArtifactProblem(
                artifact: "signedPayload", code: rejection.code.rawValue, detail: rejection.detail)
            return Problem(.nothingVerified, "the notification was rejected: \(rejection.detail)", problems: [problem])
        }
        return Problem(.misconfigured, detail)
    }

    /// Whether a verifier accepts the notification, whatever the time is.
    private func isAccepted(_ jws: [UInt8], by verifier: AppStoreVerifier) -> Bool {
        (try? verifier.verifyNotification(jws, now: nil)) != nil
    }

    /// Whether the notification is from an environment that the service doesn't accept.
    private func isFromUnacceptedEnvironment(_ jws: [UInt8]) -> Bool {
        guard let payload = try? UnverifiedJWS(jws).payload else { return false }
        // The environment is in an object. The field with that object has another name in each kind of notification, so
        // look in all objects.
        let names = payload.members.lazy.compactMap { member -> String? in
            guard case .object(let object) = member.value, case .string(let name)? = object["environment"] else {
                return nil
            }
            return name
        }
        guard let environment = names.first.flatMap({ AppStoreEnvironment(rawValue: $0) }) else { return false }
        return !verifier.trust.environments.contains(environment)
    }
}

extension AppStoreVerifier {
    /// The same verifier, except that it accepts artifacts with any Apple ID of the app.
    fileprivate var ignoringAppAppleID: AppStoreVerifier {
        AppStoreVerifier(app: AppIdentity(bundleID: app.bundleID), cache: cache)
    }
}
