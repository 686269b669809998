public import Foundation

/// A fact that made a decision: a stable code with what it is about.
///
/// `Decision.sentence` turns reasons into words; nothing else does.
public struct Reason: Sendable {
    let finding: Finding
    let context: Context

    /// What a decision was about: the places in findings are places in these.
    final class Context: Sendable {
        let policy: Policy
        let environment: AppStoreEnvironment
        let purchases: [Purchase]
        /// Those that were judged: the customer's, or the one that a persona stands for.
        let acquisitions: [Acquisition]
        let personaName: String

        init(_ evidence: Evidence, judged acquisitions: [Acquisition], under policy: Policy) {
            self.policy = policy
            self.acquisitions = acquisitions
            environment = evidence.environment
            purchases = evidence.purchases
            personaName = evidence.persona?.name ?? ""
        }
    }

    /// Whether it is the same finding of the same decisions: quicker than `==`, and false now and then where that is true.
    package func isSame(as other: Reason) -> Bool { context === other.context && finding == other.finding }

    /// Every code that there is.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        case eraHonoured, eraNotHonoured, inDoubt, noHonours, nothingToCompare, noAcquisition, outsideWindow
        case windowNeedsDate, honourEnded, endUnknown, appRefunded, boughtAgain, boughtAgainInDoubt, licenceEnded
        case product, familyShared, gracePeriod, billingRetry, expired, refunded, upgraded, consumable, noLength
        case unknownProductType, noPurchase, purchasesIncomplete, supportGrant, supportGrantEnded, supportRevocation
        case promise, promiseEnded, version, versionMissing, versionMalformed, versionNotListed, versionNotComparable
        case platformNotInPolicy, date, dateMissing, changeover, dateBeforeVersion, versionAuthoritative
        case contradiction, preorder, testEnvironment, persona, personaRefused
    }

    /// Stable: programs may compare it.
    public var code: String { told.code.rawValue }

    /// The facts by name, in the order in which they are shown.
    public var facts: [(name: String, fact: Fact)] { told.facts }

    /// One fact beside a reason's code.
    public enum Fact: Sendable, Hashable {
        case text(String)
        case date(Date)
        case names([String])
    }

    /// The one table of codes and facts.
    package var told: (code: Code, facts: [(name: String, fact: Fact)]) {
        switch finding {
        case .eraHonoured(let eras): (.eraHonoured, [("eras", names(eras))])
        case .eraNotHonoured(let eras): (.eraNotHonoured, [("eras", names(eras))])
        case .inDoubt(let honoured, let others):
            (.inDoubt, [("honoured", names(honoured)), ("others", names(others))])
        case .noHonours: (.noHonours, [])
        case .nothingToCompare: (.nothingToCompare, [])
        case .noAcquisition: (.noAcquisition, [])
        case .outsideWindow(let era): (.outsideWindow, [("era", name(era))])
        case .windowNeedsDate(let era): (.windowNeedsDate, [("era", name(era))])
        case .honourEnded(let era, let date): (.honourEnded, [("era", name(era)), ("at", .date(date))])
        case .endUnknown(let era): (.endUnknown, [("era", name(era))])
        case .appRefunded(let date): (.appRefunded, [("at", .date(date))])
        case .boughtAgain(let date): (.boughtAgain, [("signed", .date(date))])
        case .boughtAgainInDoubt(let date): (.boughtAgainInDoubt, [("signed", .date(date))])
        case .licenceEnded(let date): (.licenceEnded, [("at", .date(date))])
        case .product(let index, let until): (.product, [product(index)] + end(until))
        case .familyShared(let index): (.familyShared, [product(index)])
        case .gracePeriod(let index, let until): (.gracePeriod, [product(index), ("until", .date(until))])
        case .billingRetry(let index): (.billingRetry, [product(index)])
        case .expired(let index, let date): (.expired, [product(index), ("at", .date(date))])
        case .refunded(let index, let date): (.refunded, [product(index), ("at", .date(date))])
        case .upgraded(let index): (.upgraded, [product(index)])
        case .consumable(let index): (.consumable, [product(index)])
        case .noLength(let index): (.noLength, [product(index)])
        case .unknownProductType(let index): (.unknownProductType, [product(index)])
        case .noPurchase: (.noPurchase, [])
        case .purchasesIncomplete: (.purchasesIncomplete, [])
        case .supportGrant(let until): (.supportGrant, end(until))
        case .supportGrantEnded(let date): (.supportGrantEnded, [("at", .date(date))])
        case .supportRevocation: (.supportRevocation, [])
        case .promise(let until): (.promise, end(until))
        case .promiseEnded: (.promiseEnded, [])
        case .version(let index, let eras):
            (.version, version(index) + platform(index) + [("eras", names(eras))])
        case .versionMissing: (.versionMissing, [])
        case .versionMalformed(let index): (.versionMalformed, version(index))
        case .versionNotListed(let index): (.versionNotListed, version(index))
        case .versionNotComparable(let index): (.versionNotComparable, version(index))
        case .platformNotInPolicy(let platform): (.platformNotInPolicy, [("platform", .text(platform.rawValue))])
        case .date(let date, let eras): (.date, [("date", .date(date)), ("eras", names(eras))])
        case .dateMissing: (.dateMissing, [])
        case .changeover(let date, let eras): (.changeover, [("date", .date(date)), ("eras", names(eras))])
        case .dateBeforeVersion: (.dateBeforeVersion, [])
        case .versionAuthoritative: (.versionAuthoritative, [])
        case .contradiction: (.contradiction, [])
        case .preorder(let date): (.preorder, [("date", .date(date))])
        case .testEnvironment: (.testEnvironment, [("environment", .text(context.environment.rawValue))])
        case .persona: (.persona, [("persona", .text(context.personaName))])
        case .personaRefused: (.personaRefused, [("persona", .text(context.personaName))])
        }
    }

    private func name(_ era: Int) -> Fact { .text(context.policy.name(ofEra: era)) }

    private func names(_ eras: EraSet) -> Fact { .names(eras.map(context.policy.name(ofEra:))) }

    private func product(_ index: PurchaseIndex) -> (name: String, fact: Fact) {
        ("product", .text(context.productID(index)))
    }

    private func version(_ index: AcquisitionIndex) -> [(name: String, fact: Fact)] {
        [("version", .text(context.acquisition(index)?.originalAppVersion ?? ""))]
    }

    private func platform(_ index: AcquisitionIndex) -> [(name: String, fact: Fact)] {
        (context.acquisition(index)?.originalPlatform).map { [("platform", .text($0.rawValue))] } ?? []
    }

    private func end(_ until: Date?) -> [(name: String, fact: Fact)] {
        until.map { [("until", .date($0))] } ?? []
    }
}

extension Reason.Context {
    func productID(_ index: PurchaseIndex) -> String {
        purchases.indices.contains(index) ? purchases[index].productID : ""
    }

    func acquisition(_ index: AcquisitionIndex) -> Acquisition? {
        acquisitions.indices.contains(index) ? acquisitions[index] : nil
    }
}

extension Policy {
    fileprivate func name(ofEra index: Int) -> String {
        eras.indices.contains(index) ? eras[index].name : ""
    }
}

/// Two reasons are the same where they say the same.
extension Reason: Hashable {
    public static func == (left: Reason, right: Reason) -> Bool {
        let mine = left.told
        let others = right.told
        return mine.code == others.code && mine.facts.elementsEqual(others.facts) { $0 == $1 }
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

extension Reason: CustomStringConvertible {
    public var description: String {
        let told = told
        return told.code.rawValue
            + (told.facts.isEmpty ? "" : "(\(told.facts.map { "\($0.name): \($0.fact)" }.joined(separator: ", ")))")
    }
}
