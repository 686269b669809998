import Foundation
import Logging
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureStore

/// Takes what the App Store tells of its own accord: verified, kept once, and applied in the same act.
struct NotificationService: Sendable {
    let verifier: AppStoreVerifier
    let store: any Store
    let policies: PolicyBook
    let announcer: Announcer?

    /// A notification as a compact JWS. When it returns, the notification is flushed.
    ///
    /// Throws a `Problem`: below 500 only where no later attempt could succeed.
    func receive(_ jws: [UInt8], now: Date, logger: Logger? = nil) async throws -> Reception {
        let contents: NotificationContents
        do throws(Rejection) {
            contents = NotificationContents(try verifier.verifyNotification(jws, now: now), bytes: jws)
        } catch {
            throw refusal(of: jws, for: error)
        }
        let reception = try await keep(contents, now: now)
        let notification = contents.notification
        logger?.info(
            "notified",
            metadata: [
                "type": "\(notification.type)", "subtype": "\(notification.subtype ?? "-")",
                "environment": "\(notification.realm.environment.rawValue)", "new": "\(reception.isNew)",
                "customer": "\(reception.customer?.publicID ?? "-")",
            ])
        return reception
    }

    private func keep(_ contents: NotificationContents, now: Date) async throws -> Reception {
        let environment = contents.notification.realm.environment
        let (policies, announcer) = (policies, announcer)
        let reception = try await policies.upToDate {
            try await store.receive(contents.notification, about: contents.identities, at: now) { known in
                var amendment = contents.amendment(of: known)
                // A policy of another process that is not known here yet must not keep out what Apple says; see below.
                if let decisions = try? policies.decide(&amendment, in: environment, at: now).decisions {
                    amendment.announcement =
                        (try? announcer?.announcement(of: known, decisions: decisions, at: now)) ?? .later
                }
                return amendment
            }
        }
        guard reception.isNew, let customer = reception.customer, !policies.know(customer.facts.promises) else {
            return reception
        }
        let customerNow = try await policies.upToDate {
            let amended = try await store.amend(customer, by: contents.identities, at: now) {
                known -> (Amendment, Result<Void, Problem>) in
                var amendment = Amendment(of: known)
                do throws(Problem) {
                    let decisions = try policies.decide(&amendment, in: environment, at: now).decisions
                    amendment.announcement =
                        try announcer?.announcement(of: known, decisions: decisions, at: now) ?? .later
                    return (amendment, .success(()))
                } catch {
                    return (amendment, .failure(error))
                }
            }
            try amended?.1.get()
            return amended?.0
        }
        return Reception(isNew: true, customer: customerNow)
    }

    /// The status decides whether Apple sends it again: what may count later is never refused for good.
    private func refusal(of jws: [UInt8], for rejection: Rejection) -> Problem {
        switch rejection.code {
        case .tooManyUnknownSigners:
            return Problem(.tooManyUnknownSigners, rejection.detail, retryAfter: 5)
        case .misconfigured:
            return Problem(.misconfigured, rejection.detail)
        case .expiredAtSigning where isAccepted(jws, by: verifier):
            return Problem(
                .misconfigured,
                "it was signed in the future of this service's clock; set the clock (\(rejection.detail))")
        case .wrongApp where isAccepted(jws, by: verifier.ignoringAppAppleID):
            return Problem(
                .misconfigured, "it is this app's by its bundle id; correct the app's Apple ID (\(rejection.detail))")
        case .wrongEnvironment where isOfEnvironmentLeftOut(jws):
            return Problem(.misconfigured, "it is genuine; accept its environment (\(rejection.detail))")
        default:
            return Problem(
                .nothingVerified, "the notification was refused: \(rejection.detail)",
                problems: [
                    ArtifactProblem(
                        artifact: NotificationRequest.CodingKeys.signedPayload.rawValue,
                        code: rejection.code.rawValue, detail: rejection.detail)
                ])
        }
    }

    /// Whatever the clock says.
    private func isAccepted(_ jws: [UInt8], by verifier: AppStoreVerifier) -> Bool {
        (try? verifier.verifyNotification(jws, now: nil)) != nil
    }

    /// Its signature was good, or it would have been refused for that: what it says of itself is so.
    private func isOfEnvironmentLeftOut(_ jws: [UInt8]) -> Bool {
        guard let payload = try? UnverifiedJWS(jws).payload else { return false }
        var environment: String?
        for member in payload.members {
            guard case .object(let object) = member.value, case .string(let name)? = object["environment"] else {
                continue
            }
            environment = environment ?? name
        }
        guard let known = environment.flatMap({ AppStoreEnvironment(rawValue: $0) }) else { return false }
        return !verifier.trust.environments.contains(known)
    }
}

extension AppStoreVerifier {
    /// With the same chains.
    fileprivate var ignoringAppAppleID: AppStoreVerifier {
        AppStoreVerifier(app: AppIdentity(bundleID: app.bundleID), cache: cache)
    }
}
