package import Foundation
package import TenureCore
import TenureJSON

/// The decision for one entitlement.
package struct EntitlementResponse: Sendable, Hashable, Decodable {
    /// Whether the entitlement is granted. Outcomes that this version doesn't know are read as `undetermined`.
    package let outcome: Decision.Outcome
    /// The time when a granted entitlement ends; nil if it is permanent.
    package let until: Date?
    /// The reasons for the outcome, the deciding reason first.
    package let reasons: [ReasonResponse]
    /// A sentence that explains the outcome to people.
    package let sentence: String
    /// What the app can do to resolve an undetermined decision. Steps that this version doesn't know are left out.
    package let nextSteps: [NextStep]

    /// `entitlement` is written only where the entitlement's name isn't already a JSON key: in webhook messages and in
    /// the output of `tenure decide`.
    enum CodingKeys: String, CodingKey { case entitlement, outcome, until, reasons, sentence, nextSteps }

    /// Reads the decision of this or a later service.
    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        // A later service may have further outcomes. Don't treat them as granted.
        outcome = Decision.Outcome(rawValue: try fields.decode(String.self, forKey: .outcome)) ?? .undetermined
        until = try fields.decodeIfPresent(Date.self, forKey: .until)
        reasons = try fields.decode([ReasonResponse].self, forKey: .reasons)
        sentence = try fields.decode(String.self, forKey: .sentence)
        nextSteps =
            try fields.decodeIfPresent([String].self, forKey: .nextSteps)?
            .compactMap { NextStep(rawValue: $0) } ?? []
    }
}

/// A reason for the outcome of a decision: a stable code, and the facts that led to it.
package struct ReasonResponse: Sendable, Hashable, Decodable {
    /// The value of a fact.
    package enum Fact: Sendable, Hashable {
        /// A name, a version, or an instant as in RFC 3339.
        case text(String)
        /// Several names, such as the names of eras.
        case names([String])
    }

    /// The code, such as `eraHonored`. `Docs/decisions.md` lists all of them.
    package let code: String
    /// The facts by name, such as `version` or `eras`. Facts of types that this version doesn't know are left out.
    package let facts: [String: Fact]

    /// The name of the JSON field with the code. All other fields are facts.
    static let codeKey = "code"

    /// Reads the code, and each other member as a fact.
    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: AnyCodingKey.self)
        code = try fields.decode(String.self, forKey: AnyCodingKey(stringValue: Self.codeKey))
        var facts: [String: Fact] = [:]
        for name in fields.allKeys where name.stringValue != Self.codeKey {
            if let text = try? fields.decode(String.self, forKey: name) {
                facts[name.stringValue] = .text(text)
            } else if let names = try? fields.decode([String].self, forKey: name) {
                facts[name.stringValue] = .names(names)
            }
            // A later service may have facts of other types, which this version leaves out.
        }
        self.facts = facts
    }
}

extension JSONWriter {
    /// Writes a decision with the entitlement's name and the reasons.
    ///
    /// - Parameter languages: The reader's languages, for the titles in the sentence.
    package mutating func value(_ decision: Decision, in languages: [String] = []) {
        var written = WrittenReasons()
        value(decision, namesEntitlement: true, in: languages, written: &written)
    }

    /// Writes a decision. If one of its reasons is in `written`, copies the bytes of that reason.
    ///
    /// - Parameter namesEntitlement: Whether to write the entitlement's name as a field. In an object with a decision
    ///   for each entitlement, the key is the name.
    mutating func value(
        _ decision: Decision, namesEntitlement: Bool, in languages: [String], written: inout WrittenReasons
    ) {
        typealias Key = EntitlementResponse.CodingKeys
        beginObject()
        if namesEntitlement { field(Key.entitlement, decision.entitlement) }
        field(Key.outcome, decision.outcome.rawValue)
        field(Key.until, decision.until)
        key(Key.reasons)
        beginArray()
        decision.forEachReason { value($0, &written) }
        endArray()
        key(Key.sentence)
        text { decision.write(sentenceTo: &$0, in: languages) }
        key(Key.nextSteps)
        beginArray()
        for nextStep in decision.nextSteps { value(nextStep.rawValue) }
        endArray()
        endObject()
    }

    /// Writes a reason, or copies its bytes if it was written before. Nothing is copied in pretty-printed JSON, because
    /// the indentation of a reason depends on its position.
    private mutating func value(_ reason: Reason, _ written: inout WrittenReasons) {
        guard layout == .compact else { return value(reason) }
        if let position = written.position(of: reason) {
            repeated(position)
        } else {
            written.add(reason, at: repeatable { $0.value(reason) })
        }
    }

    /// Writes a reason with its facts.
    package mutating func value(_ reason: Reason) {
        beginObject()
        field(ReasonResponse.codeKey, reason.code)
        reason.forEachFact { name, fact in
            key(name)
            switch fact {
            case .text(let text): value(text)
            case .date(let date): value(date)
            case .names(let names): value(names)
            }
        }
        endObject()
    }
}

/// The positions of reasons in the JSON that is already written, to copy their bytes.
struct WrittenReasons {
    private var positions: [(reason: Reason, bytes: Range<Int>)] = []

    init() { positions.reserveCapacity(8) }

    /// The range of the bytes of an equal reason; nil if no equal reason was written.
    func position(of reason: Reason) -> Range<Int>? { positions.first { $0.reason.isSame(as: reason) }?.bytes }

    /// Remembers where a reason was written.
    mutating func add(_ reason: Reason, at position: Range<Int>) {
        // The search is linear, so the list stays short.
        if positions.count < 16 { positions.append((reason, position)) }
    }
}
