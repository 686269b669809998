import Foundation
import TenureCore

/// The personas (test customers for sandbox builds) that test an app's change of business model: customers who got the
/// app before, during and after the change, and some special cases. They are derived from the policy.
struct ReadyMadePersonas {
    private(set) var personas: [NewPersona] = []
    /// The personas that can't be derived from this policy, and why.
    private(set) var omittedPersonas: [PersonasAnswer.Omitted] = []
    private let signed: Date

    /// Derives the personas. `signed` is the date at which their proofs count as signed.
    init(_ policy: Policy, on platform: Platform, signed: Date) {
        self.signed = signed
        guard let change = PolicyChange(of: policy, on: platform) else {
            let why = "the policy has no change of eras on \(platform.rawValue); set `platform` to a platform with one"
            omit(Name.allCases, why)
            return
        }
        addCustomersBefore(change)
        addCustomerDuring(change)
        addCustomersAfter(change)
        addMacBuyer(policy, on: platform)
        personas.sort { Name.position(of: $0.name) < Name.position(of: $1.name) }
        omittedPersonas.sort { Name.position(of: $0.name) < Name.position(of: $1.name) }
    }

    /// The first platform in the policy, in the order of `Platform.allCases`; iOS if the policy has no platform.
    static func platform(of policy: Policy) -> Platform {
        let platforms = Set(policy.eras.flatMap(\.begins.keys)).union(policy.releases.map(\.platform))
        return Platform.allCases.first { platforms.contains($0) } ?? .iOS
    }

    /// The names of the personas, in the order in which they are listed.
    enum Name: String, CaseIterable {
        case firstBuyer = "first-buyer"
        case lastPaidBuild = "last-paid-build"
        case changeover = "in-the-changeover"
        case afterTheChange = "after-the-change"
        case familyMember = "family-member"
        case refunded
        case preorder = "pre-order"
        case noOriginalVersion = "no-original-version"
        case macBuyerOnIPhone = "mac-buyer-on-iphone"

        /// The position of a name in the order of the cases.
        static func position(of name: String) -> Int { allCases.firstIndex { $0.rawValue == name } ?? allCases.count }
    }

    // MARK: The personas

    /// Adds the customers who got the app before the change.
    private mutating func addCustomersBefore(_ change: PolicyChange) {
        let (platform, first) = (change.platform, change.first)
        add(.firstBuyer, "got the very first version", platform, version: first.version, date: first.date)
        let (version, date) = (change.versionBefore, change.dateBefore)
        guard date != nil || version != nil else {
            return omit([.lastPaidBuild, .refunded, .noOriginalVersion], change)
        }
        add(
            .lastPaidBuild, "got the last version of the era “\(change.era.name)”, just before the change", platform,
            version: version, date: date)
        // The refund comes two weeks after the purchase, but not in the future.
        let refund = min(date?.addingTimeInterval(14 * 86_400) ?? signed, signed)
        add(
            .refunded, "got the app in the era “\(change.era.name)”, and was refunded", platform, version: version,
            date: date, refund: refund)
        guard let date else { return omit([.noOriginalVersion], change) }
        add(
            .noOriginalVersion,
            "got the app in the era “\(change.era.name)”; the App Store names no version and no platform",
            nil, version: nil, date: date)
    }

    /// Adds the customer who got the old version at the instant of the change.
    private mutating func addCustomerDuring(_ change: PolicyChange) {
        guard let date = change.date, change.window != nil else {
            let platform = change.platform.rawValue
            return omit([.changeover], "the policy has no date or no `changeover` for the change on \(platform)")
        }
        add(
            .changeover, "got the old version at the very instant of the change", change.platform,
            version: change.versionBefore, date: date)
    }

    /// Adds the customers who got the app after the change.
    private mutating func addCustomersAfter(_ change: PolicyChange) {
        let (platform, version, date) = (change.platform, change.version?.description, change.dateAfter)
        guard version != nil || date != nil else { return omit([.afterTheChange, .familyMember, .preorder], change) }
        add(.afterTheChange, "got the app after the change", platform, version: version, date: date)
        add(
            .familyMember,
            "a family member bought the app before the change; this customer first downloaded it after the change",
            platform, version: version, date: date?.addingTimeInterval(3600))
        guard let ordered = change.dateBefore else { return omit([.preorder], change) }
        add(
            .preorder, "ordered the app before the change and got it after", platform, version: version, date: date,
            preorder: ordered)
    }

    /// Adds the customer who bought the app on a Mac and opens it on another platform.
    private mutating func addMacBuyer(_ policy: Policy, on platform: Platform) {
        let knowsMac =
            policy.eras.contains { $0.begins[.macOS] != nil } || policy.releases.contains { $0.platform == .macOS }
        guard knowsMac, platform != .macOS, let change = PolicyChange(of: policy, on: .macOS),
            change.versionBefore != nil || change.dateBefore != nil
        else {
            return omit(
                [.macBuyerOnIPhone],
                "this persona needs a policy that says when an era ended on macOS, and another `platform` than macOS")
        }
        add(
            .macBuyerOnIPhone, "got the app on the Mac in the era “\(change.era.name)”, and opens it on an iPhone",
            .macOS, version: change.versionBefore, date: change.dateBefore)
    }

    private mutating func add(
        _ name: Name, _ what: String, _ platform: Platform?, version: String?, date: Date?, refund: Date? = nil,
        preorder: Date? = nil
    ) {
        personas.append(
            NewPersona(
                name: name.rawValue, what: what,
                proof: AppProof(
                    kind: .appTransaction, signedDate: signed, originalPlatform: platform, originalAppVersion: version,
                    originalPurchaseDate: date, preorderDate: preorder, revocationDate: refund)))
    }

    private mutating func omit(_ names: [Name], _ why: String) {
        omittedPersonas += names.map { PersonasAnswer.Omitted(name: $0.rawValue, why: why) }
    }

    /// Leaves out personas that need a date or version of the change that the policy doesn't have.
    private mutating func omit(_ names: [Name], _ change: PolicyChange) {
        omit(
            names,
            """
            the policy doesn't say when the era “\(change.era.name)” ended on \(change.platform.rawValue); add the \
            first version or the date of the next era to its `begins`
            """)
    }
}
