import Foundation
import TenureCore
import TenureJSON

/// Adds the rights that the app registered with `Tenure.register` to the answers.
extension Evaluation {
    /// Returns the answers with the rights from `Tenure.register` added. Granted answers don't change.
    ///
    /// An entitlement that neither the policy nor the service has is denied if it is registered only for other versions
    /// or dates than the customer's. Until the app transaction was read, it is undetermined instead.
    func answers(addingTo answers: [String: Tenure.Answer]) -> [String: Tenure.Answer] {
        var answers = answers
        let now = stored.time.now(clock)
        let owned = acquisitions(in: stored.account.proofs)
        for name in facts.lists.entitlements where answers[name]?.outcome != .granted {
            let matching = owned.first { facts.lists.rights(of: $0, in: environment, at: now).contains(name) }
            if let matching {
                answers[name] = .registered(name, title: title(of: name), matching)
            } else if answers[name] == nil {
                answers[name] =
                    snapshot.appTransaction == nil
                    ? .unanswered(name, title: title(of: name)) : .notRegistered(name, title: title(of: name))
            }
        }
        return answers
    }
}

extension Tenure.Answer {
    /// Returns a granted answer, with the version and date in which the customer got the app (`acquisition`) as facts.
    fileprivate static func registered(
        _ entitlement: String, title: String?, _ acquisition: Acquisition
    ) -> Self {
        var facts: [String: [String]] = [:]
        if let version = acquisition.originalAppVersion { facts["originalAppVersion"] = [version] }
        if let date = acquisition.originalPurchaseDate { facts["originalPurchaseDate"] = [date.rfc3339] }
        return Self(
            entitlement: entitlement, outcome: .granted, until: nil,
            sentence: "“\(title ?? entitlement)” is yours: you got the app early enough.",
            reasons: [Reason(DeviceReason.registeredVersion.rawValue, facts)], nextSteps: [])
    }

    /// Returns the denial of an entitlement that was registered only for other versions or dates than the customer's.
    fileprivate static func notRegistered(_ entitlement: String, title: String?) -> Self {
        Self(
            entitlement: entitlement, outcome: .denied, until: nil,
            sentence:
                "“\(title ?? entitlement)” isn't included with your copy of the app: it was included only for people who got the app earlier. "
                + "If this seems wrong, please contact our support team.",
            reasons: [Reason(DeviceReason.notRegistered.rawValue)], nextSteps: [])
    }
}
