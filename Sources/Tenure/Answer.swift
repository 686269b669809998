public import Foundation
import TenureAPI
public import TenureCore
import TenureJSON

extension Tenure {
    /// The decision about one entitlement, with its reasons. The device makes it, or your Tenure service if the app has
    /// one.
    public struct Answer: Sendable, Hashable {
        /// The name of the entitlement in the policy.
        public let entitlement: String
        /// The outcome. It is `denied` only if the device or the service has read everything that could grant the
        /// entitlement. If nothing grants it, but a source couldn't be read, it is `undetermined`.
        public let outcome: Decision.Outcome
        /// The time when a granted right ends. Nil if it is permanent.
        public let until: Date?
        /// The answer, its reason and the next step, as text for the customer or your support team. The text is in
        /// English. Titles are in the first of `Options.languages` for which the policy has titles.
        public let sentence: String
        /// The deciding reason first, then the reasons that support it.
        public let reasons: [Reason]
        /// Steps that can turn an undetermined answer into a grant or a denial.
        public let nextSteps: [NextStep]

        /// A reason for the outcome: a stable code and its facts.
        public struct Reason: Sendable, Hashable, Codable {
            /// The code, such as `eraHonored`, which never changes. Docs/decisions.md lists all of them.
            public let code: String
            /// The names, versions and dates that the reason is about. Dates are in RFC 3339.
            public let facts: [String: [String]]

            init(_ code: String, _ facts: [String: [String]] = [:]) {
                self.code = code
                self.facts = facts
            }
        }

        /// Codes of reasons that only the device gives. `Reason.code` can have other codes, which the policy's
        /// decisions and the service give.
        public enum DeviceReason: String, Sendable, Hashable, CaseIterable {
            /// The App Store hasn't confirmed yet whether the customer has the entitlement.
            case notAnswered
            /// The answer is from an earlier start of the app, and hasn't been confirmed since.
            case kept
            /// Neither the policy nor the service has an entitlement with the name that the app asked for.
            case unknownEntitlement
            /// This copy of the app isn't from the App Store, TestFlight or Xcode.
            case outsideAppStore
            /// The app's policy is invalid or missing.
            case policyUnusable
            /// The service granted the entitlement, but sent no valid entitlement token that proves the grant.
            case unsigned
            /// The app called `Tenure.register(entitlement:versions:purchasedBefore:on:)`, and the customer
            /// first got the app in a registered version or before a registered date.
            case registeredVersion
            /// The app called `Tenure.register(…)`, but only for other versions and dates than the customer's.
            case notRegistered
        }
    }
}

extension Tenure.Answer {
    /// Creates the answer from a decision that the device made by its policy.
    ///
    /// - Parameter languages: the customer's languages, the preferred language first.
    init(_ decision: Decision, in languages: [String]) {
        self.init(
            entitlement: decision.entitlement, outcome: decision.outcome, until: decision.until,
            sentence: decision.sentence(in: languages),
            reasons: decision.reasons.map { reason in
                Reason(reason.code, Dictionary(reason.facts.map { ($0.name, $0.fact.texts) }) { first, _ in first })
            }, nextSteps: decision.nextSteps)
    }

    /// Creates the answer from the service's response about the entitlement with this name.
    init(_ response: EntitlementResponse, named name: String) {
        self.init(
            entitlement: name, outcome: response.outcome, until: response.until, sentence: response.sentence,
            reasons: response.reasons.map { reason in
                Reason(
                    reason.code,
                    reason.facts.mapValues { fact in
                        switch fact {
                        case .text(let text): [text]
                        case .names(let names): names
                        }
                    })
            }, nextSteps: response.nextSteps)
    }

    /// Returns an undetermined answer, with a sentence that says what is missing.
    ///
    /// - Parameters:
    ///   - title: what customers call the entitlement. If nil, the sentence uses the entitlement's name.
    ///   - detail: a fact about `deviceReason`, such as the error of a policy that can't be used.
    ///   - reasons: the reasons of an earlier answer, which follow `deviceReason`.
    static func unanswered(
        _ entitlement: String, title: String? = nil, because deviceReason: DeviceReason = .notAnswered,
        _ detail: String? = nil, keeping reasons: [Reason] = [], nextSteps: [NextStep] = [.appTransaction, .purchases]
    ) -> Self {
        let doubt =
            switch deviceReason {
            case .outsideAppStore:
                "this copy of the app didn't come from the App Store. Please contact our support team."
            case .policyUnusable:
                "this copy of the app is incomplete. Please update the app, or contact our support team."
            case .unknownEntitlement: "this app has no feature with that name. Please contact our support team."
            default:
                "the App Store hasn't confirmed it yet. "
                    + "Please open the app while you're online and tap Restore Purchases."
            }
        return Self(
            entitlement: entitlement, outcome: .undetermined, until: nil,
            sentence: "We can't tell yet whether “\(title ?? entitlement)” is yours: \(doubt)",
            reasons: [Reason(deviceReason.rawValue, detail.map { ["detail": [$0]] } ?? [:])] + reasons,
            nextSteps: nextSteps)
    }

    /// Returns a granted answer for a right that was proved at an earlier start of the app and hasn't been confirmed
    /// again yet.
    static func kept(_ entitlement: String, title: String?, until: Date?) -> Self {
        // Don't call a right without an end permanent. The right may have been granted in doubt, and the state doesn't
        // store whether it was.
        let length = until.map { " \($0.inWords(asEndOfDay: true))" } ?? ""
        return Self(
            entitlement: entitlement, outcome: .granted, until: until,
            sentence: "“\(title ?? entitlement)” is yours\(length), as confirmed earlier.",
            reasons: [Reason(DeviceReason.kept.rawValue)], nextSteps: [])
    }

    /// Returns an undetermined answer in place of this denial, because a purchase may have been missed. For example, a
    /// source wasn't read since the app started, or the device's clock may be wrong.
    func undetermined(because deviceReason: DeviceReason, title: String?) -> Self {
        .unanswered(
            entitlement, title: title, because: deviceReason, keeping: reasons,
            nextSteps: nextSteps.isEmpty ? [.appTransaction, .purchases] : nextSteps)
    }
}

extension Reason.Fact {
    /// The fact as in `Answer.Reason.facts`.
    fileprivate var texts: [String] {
        switch self {
        case .text(let text): [text]
        case .date(let date): [date.rfc3339]
        case .names(let names): names
        }
    }
}

/// The properties have the names of the fields in the service's API.
extension Tenure.Answer: Codable {
    /// Reads an answer from JSON. An unknown outcome is read as `undetermined`.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        entitlement = try fields.decode(String.self, forKey: .entitlement)
        outcome = Decision.Outcome(rawValue: try fields.decode(String.self, forKey: .outcome)) ?? .undetermined
        until = try fields.decodeIfPresent(Date.self, forKey: .until)
        sentence = try fields.decode(String.self, forKey: .sentence)
        reasons = try fields.decode([Reason].self, forKey: .reasons)
        nextSteps = try fields.decode([String].self, forKey: .nextSteps).compactMap { NextStep(rawValue: $0) }
    }
}
