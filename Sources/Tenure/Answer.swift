public import Foundation
import TenureAPI
public import TenureCore
import TenureJSON

extension Tenure {
    /// The decision about one entitlement, with its reasons, made by the device or by the service.
    public struct Answer: Sendable, Hashable {
        /// The name of the entitlement in the policy.
        public let entitlement: String
        /// The outcome. Denied only if everything that could grant the entitlement was read. Failures are
        /// `undetermined`.
        public let outcome: Decision.Outcome
        /// When a granted right ends. Nil if it is permanent.
        public let until: Date?
        /// The answer, its reason and the next step, as text for the customer or your support. In English, with titles
        /// in the first of `Options.languages` that the policy has.
        public let sentence: String
        /// The deciding reason first, then the facts that support it.
        public let reasons: [Reason]
        /// What would settle an undetermined answer.
        public let nextSteps: [NextStep]

        /// Why, as a stable code with its facts.
        public struct Reason: Sendable, Hashable, Codable {
            /// The code, such as `eraHonored`, which never changes. Docs/decisions.md lists all of them.
            public let code: String
            /// Names, versions, and instants as in RFC 3339.
            public let facts: [String: [String]]

            init(_ code: String, _ facts: [String: [String]] = [:]) {
                self.code = code
                self.facts = facts
            }
        }

        /// Codes of reasons that only the device has. The others are `TenureCore`'s.
        public enum DeviceReason: String, Sendable, Hashable, CaseIterable {
            /// No source has responded yet.
            case notAnswered
            /// The last good answer is kept until there is a new one.
            case kept
            /// The policy, or the service, knows no entitlement of that name.
            case unknownEntitlement
            /// The app did not come from the App Store.
            case outsideAppStore
            /// The app's policy can't be used.
            case policyUnusable
            /// The service answered, but didn't sign the answer with its key.
            case unsigned
            /// The app registered the version in which it was acquired, or a later date, for this.
            case registeredVersion
            /// The app registered others only.
            case notRegistered
        }

        init(
            entitlement: String, outcome: Decision.Outcome, until: Date? = nil, sentence: String, reasons: [Reason],
            nextSteps: [NextStep] = []
        ) {
            self.entitlement = entitlement
            self.outcome = outcome
            self.until = until
            self.sentence = sentence
            self.reasons = reasons
            self.nextSteps = nextSteps
        }
    }
}

extension Tenure.Answer {
    init(_ decision: Decision, in languages: [String]) {
        self.init(
            entitlement: decision.entitlement, outcome: decision.outcome, until: decision.until,
            sentence: decision.sentence(in: languages),
            reasons: decision.reasons.map { reason in
                Reason(reason.code, Dictionary(reason.facts.map { ($0.name, $0.fact.texts) }) { first, _ in first })
            },
            nextSteps: decision.nextSteps)
    }

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
            },
            nextSteps: response.nextSteps)
    }

    /// No answer yet, or none that counts.
    ///
    /// - Parameter title: what customers call the entitlement. Nil: its name.
    static func unanswered(
        _ entitlement: String, title: String? = nil, because device: DeviceReason = .notAnswered,
        _ detail: String? = nil, keeping reasons: [Reason] = [],
        nextSteps: [NextStep] = [.appTransaction, .purchases]
    ) -> Self {
        let doubt =
            switch device {
            case .outsideAppStore:
                "this copy of the app didn't come from the App Store. Please contact our support team."
            case .policyUnusable:
                "this copy of the app is incomplete. Please update the app, or contact our support team."
            case .unknownEntitlement: "this app has nothing with that name. Please contact our support team."
            default:
                "the App Store hasn't confirmed it yet. "
                    + "Please open the app while you're online and tap Restore Purchases."
            }
        return Self(
            entitlement: entitlement, outcome: .undetermined,
            sentence: "We can't tell yet whether “\(title ?? entitlement)” is yours: \(doubt)",
            reasons: [Reason(device.rawValue, detail.map { ["detail": [$0]] } ?? [:])] + reasons,
            nextSteps: nextSteps)
    }

    /// A right that was proved at an earlier start and isn't confirmed again yet.
    static func kept(_ entitlement: String, title: String?, until: Date?) -> Self {
        // Not "permanently": the doubt in which it may have been given isn't known here.
        let length = until.map { " \($0.inWords(asEndOfDay: true))" } ?? ""
        return Self(
            entitlement: entitlement, outcome: .granted, until: until,
            sentence: "“\(title ?? entitlement)” is yours\(length), as confirmed earlier.",
            reasons: [Reason(DeviceReason.kept.rawValue)])
    }

    /// The same answer with another outcome, because knowledge from an earlier start isn't enough for a denial.
    func undetermined(because device: DeviceReason, title: String?) -> Self {
        .unanswered(
            entitlement, title: title, because: device, keeping: reasons,
            nextSteps: nextSteps.isEmpty ? [.appTransaction, .purchases] : nextSteps)
    }
}

extension Reason.Fact {
    fileprivate var texts: [String] {
        switch self {
        case .text(let text): [text]
        case .date(let date): [date.rfc3339]
        case .names(let names): names
        }
    }
}

extension Tenure.Answer: Codable {
    enum CodingKeys: String, CodingKey {
        case entitlement, outcome, until, sentence, reasons, nextSteps
    }

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

    /// Writes the answer with the field names of the service's API.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(entitlement, forKey: .entitlement)
        try fields.encode(outcome.rawValue, forKey: .outcome)
        try fields.encodeIfPresent(until, forKey: .until)
        try fields.encode(sentence, forKey: .sentence)
        try fields.encode(reasons, forKey: .reasons)
        try fields.encode(nextSteps.map(\.rawValue), forKey: .nextSteps)
    }
}
