public import Foundation

/// A reason for a decision: a stable code with its facts. `Decision.sentence` gives the reasons as text.
public struct Reason: Sendable, Hashable, CustomStringConvertible {
    /// The code and its facts, in the compact form that the rules use.
    let finding: Finding
    /// The values to which `finding` refers by index.
    let context: Context

    /// The values to which a decision's findings refer by index.
    final class Context: Sendable {
        let policy: Policy
        let environment: AppStoreEnvironment
        let purchases: [Purchase]
        /// The acquisitions that the decision is about: the customer's, or the persona's.
        let acquisitions: [Acquisition]
        /// The name of the persona, a test customer that may replace the real customer. Empty without a persona.
        let personaName: String

        init(_ evidence: Evidence, evaluated acquisitions: [Acquisition], under policy: Policy) {
            self.policy = policy
            self.acquisitions = acquisitions
            environment = evidence.environment
            purchases = evidence.purchases
            personaName = evidence.persona?.name ?? ""
        }

        func productID(_ index: PurchaseIndex) -> String {
            purchases.indices.contains(index) ? purchases[index].productID : ""
        }

        func purchase(_ index: PurchaseIndex) -> Purchase? {
            purchases.indices.contains(index) ? purchases[index] : nil
        }

        func acquisition(_ index: AcquisitionIndex) -> Acquisition? {
            acquisitions.indices.contains(index) ? acquisitions[index] : nil
        }
    }

    /// Whether this reason and the other are the same finding of the same decision. The comparison is faster than `==`,
    /// but it may be false for equal reasons.
    package func isSame(as other: Reason) -> Bool { context === other.context && finding == other.finding }

    /// The codes of all reasons. Docs/decisions.md explains each code.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        case eraHonored, eraNotHonored, inDoubt, noHonors, nothingToCompare, noAcquisition, outsideWindow
        case windowNeedsDate, honorEnded, endUnknown, appRefunded, boughtAgain, boughtAgainInDoubt, licenseEnded
        case product, familyShared, gracePeriod, billingRetry, expired, refunded, upgraded, consumable, noLength
        case unknownProductType, noPurchase, purchasesIncomplete, supportGrant, supportGrantEnded, supportRevocation
        case promise, promiseEnded, version, versionMissing, versionMalformed, versionNotListed, versionNotComparable
        case platformNotInPolicy, date, dateMissing, changeover, dateBeforeVersion, versionAuthoritative
        case contradiction, preorder, testEnvironment, persona, personaRefused
    }

    /// A stable code such as `eraHonored`, which programs may compare.
    public var code: String { finding.code.rawValue }

    /// The code as an enum, which the compiler can check.
    package var codeValue: Code { finding.code }

    /// The facts by name, in the order of all outputs.
    public var facts: [(name: String, fact: Fact)] {
        var facts: [(name: String, fact: Fact)] = []
        forEachFact { facts.append(($0, $1)) }
        return facts
    }

    /// A value in a reason, such as the date in `expired(product, at: date)`.
    public enum Fact: Sendable, Hashable {
        /// An era, a product, a version, a platform, an environment or a persona.
        case text(String)
        /// The instant of an event, such as a refund or the end of a period.
        case date(Date)
        /// Names of eras, in the order of the policy.
        case names([String])
    }

    /// Passes each fact with its name to `body`. No other code lists the facts of each code.
    package func forEachFact(_ body: (_ name: String, _ fact: Fact) -> Void) {
        switch finding {
        case .eraHonored(let eras), .eraNotHonored(let eras): body("eras", names(eras))
        case .inDoubt(let honored, let others):
            body("honored", names(honored))
            body("others", names(others))
        case .outsideWindow(let era), .windowNeedsDate(let era), .endUnknown(let era): body("era", name(era))
        case .honorEnded(let era, let date):
            body("era", name(era))
            body("at", .date(date))
        case .appRefunded(let date), .licenseEnded(let date), .supportGrantEnded(let date): body("at", .date(date))
        case .boughtAgain(let date), .boughtAgainInDoubt(let date): body("signed", .date(date))
        case .product(let index, let until):
            body("product", product(index))
            if let until { body("until", .date(until)) }
        case .gracePeriod(let index, let until):
            body("product", product(index))
            body("until", .date(until))
        case .familyShared(let index), .billingRetry(let index), .upgraded(let index), .consumable(let index),
            .noLength(let index), .unknownProductType(let index):
            body("product", product(index))
        case .expired(let index, let date), .refunded(let index, let date):
            body("product", product(index))
            body("at", .date(date))
        case .supportGrant(let until), .promise(let until):
            if let until { body("until", .date(until)) }
        case .version(let index, let eras):
            body("version", version(index))
            if let platform = context.acquisition(index)?.originalPlatform {
                body("platform", .text(platform.rawValue))
            }
            body("eras", names(eras))
        case .versionMalformed(let index), .versionNotListed(let index), .versionNotComparable(let index):
            body("version", version(index))
        case .platformNotInPolicy(let platform): body("platform", .text(platform.rawValue))
        case .date(let date, let eras), .changeover(let date, let eras):
            body("date", .date(date))
            body("eras", names(eras))
        case .preorder(let date): body("date", .date(date))
        case .testEnvironment: body("environment", .text(context.environment.rawValue))
        case .persona, .personaRefused: body("persona", .text(context.personaName))
        case .noHonors, .nothingToCompare, .noAcquisition, .noPurchase, .purchasesIncomplete, .supportRevocation,
            .promiseEnded, .versionMissing, .dateMissing, .dateBeforeVersion, .versionAuthoritative, .contradiction:
            break
        }
    }

    private func name(_ era: Int) -> Fact { .text(context.policy.name(ofEra: era)) }

    private func names(_ eras: EraSet) -> Fact { .names(eras.map(context.policy.name(ofEra:))) }

    private func product(_ index: PurchaseIndex) -> Fact { .text(context.productID(index)) }

    private func version(_ index: AcquisitionIndex) -> Fact {
        .text(context.acquisition(index)?.originalAppVersion ?? "")
    }

    /// The code with its facts, for logs.
    public var description: String {
        let facts = facts.map { "\($0.name): \($0.fact)" }
        return facts.isEmpty ? code : "\(code)(\(facts.joined(separator: ", ")))"
    }

    /// Compares codes and facts, so reasons of different customers may be equal.
    public static func == (left: Reason, right: Reason) -> Bool {
        left.codeValue == right.codeValue && left.facts.elementsEqual(right.facts) { $0 == $1 }
    }

    /// Hashes only the code, which is faster than hashing the facts.
    public func hash(into hasher: inout Hasher) { hasher.combine(codeValue) }
}
