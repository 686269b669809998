import Foundation

extension Decision {
    /// One sentence that a support person can send to the customer.
    ///
    /// Having acquired is not having paid: it never says that somebody did not buy.
    public var sentence: String { Sentence(of: self).text }
}

/// Turns a decision's reasons into words: the only place that does.
private struct Sentence {
    let text: String

    init(of decision: Decision) {
        let facts = Facts(decision)
        let start = facts.isPersona ? "As “\(decision.context.personaName)”: " : ""
        let name = "“\(decision.entitlement)”"
        switch decision.outcome {
        case .granted:
            let length = decision.until.map { "until \($0.inWords)" } ?? "for good"
            text = start + "\(name) is yours \(length): \(Self.grounds(of: decision, facts))."
        case .denied:
            text = start + Self.denial(of: decision, name, facts)
        case .undetermined:
            text = start + "We cannot tell yet whether \(name) is yours: \(Self.doubt(of: decision, facts))."
        }
    }

    // MARK: Granted

    private static func grounds(of decision: Decision, _ facts: Facts) -> String {
        switch decision.findings.first {
        case .eraHonoured(let eras):
            return facts.acquisition("you got the app")
                + (decision.context.policy.sold(in: eras)
                    ? ", while it was sold for a price" : ", and everybody who did then keeps this")
        case .inDoubt:
            return facts.isChangeover
                ? facts.acquisition("you got the app")
                    + ", around the time when its price changed, and we decide in your favour"
                : facts.acquisition("you got the app")
                    + ", what the App Store says of it does not settle when, and we decide in your favour"
        case .boughtAgain(let signed):
            return "you had the app again by \(signed.inWords), after its refund, while it was still sold"
        case .boughtAgainInDoubt(let signed):
            return "you had the app again by \(signed.inWords), after its refund, and we decide in your favour"
        case .product(let index, let until):
            if facts.isFamilyShared {
                return "your family shares the purchase `\(decision.context.productID(index))` with you"
            }
            return until == nil
                ? "you have the purchase `\(decision.context.productID(index))`"
                : "you have the subscription `\(decision.context.productID(index))`"
        case .gracePeriod(let index, _):
            return
                "the subscription `\(decision.context.productID(index))` could not be charged yet, so please check your payment method with Apple"
        case .supportGrant: return "our support team gave it to you"
        case .promise: return "we promised it when the app changed, and a promise stands"
        case .testEnvironment:
            return
                "in \(decision.context.environment.rawValue) every tester counts as somebody who had the app before it changed"
        default: return "what the App Store says of you gives it"
        }
    }

    // MARK: Denied

    private static func denial(of decision: Decision, _ name: String, _ facts: Facts) -> String {
        let help = "if that seems wrong, or somebody in your family had the app before, please write to our support"
        for finding in decision.findings {
            switch finding {
            case .supportRevocation:
                return "\(name) was withdrawn by our support team: please write to them if you have a question."
            case .appRefunded(let date):
                return "\(name) came with the app, whose purchase was refunded on \(date.inWords): \(help)."
            case .licenceEnded(let date):
                return
                    "\(name) came with an organisation's licence for the app, which ended on \(date.inWords): \(help)."
            case .honourEnded(_, let date):
                return "\(name) was yours until \(date.inWords), as announced when the app changed: \(help)."
            case .supportGrantEnded(let date):
                return
                    "\(name) was given to you by our support team until \(date.inWords): please write to them if you need it longer."
            default: continue
            }
        }
        let context = decision.context
        switch facts.lastPurchase {
        case .billingRetry(let index):
            return
                "\(name) comes with the subscription `\(context.productID(index))`, which could not be charged: please check your payment method with Apple."
        case .refunded(let index, let date):
            return
                "\(name) came with the purchase `\(context.productID(index))`, which was refunded or withdrawn on \(date.inWords): \(help)."
        case .expired(let index, let date):
            return
                "\(name) came with `\(context.productID(index))`, which ended on \(date.inWords): it can be renewed in the app."
        default: break
        }
        switch decision.findings.first {
        case .testEnvironment:
            return
                "\(name) is not included: in \(decision.context.environment.rawValue) every tester counts as a new customer."
        case .outsideWindow:
            return
                "\(name) is not included: \(facts.acquisition("you got the app")), outside the dates for which it was announced; \(help)."
        case .eraNotHonoured:
            let preorder = facts.preorder.map { ", ordered in advance on \($0.inWords)" } ?? ""
            return
                "\(name) is not included: \(facts.acquisition("you got the app"))\(preorder), at a time when it did not come with the app; \(help)."
        default:
            return decision.findings.contains(.noPurchase)
                ? "\(name) comes with a purchase in the app: if you have one, tap Restore Purchases, and \(help)."
                : "\(name) is not included: \(help)."
        }
    }

    // MARK: Undetermined

    private static func doubt(of decision: Decision, _ facts: Facts) -> String {
        let whatToDo: String
        switch decision.settlements.first {
        case .appTransaction, .refreshedReceipt: whatToDo = "please open the app while online and tap Restore Purchases"
        case .purchases: whatToDo = "please open the app and tap Restore Purchases"
        case .support, nil: whatToDo = "please write to our support, who can settle it"
        }
        for finding in decision.findings {
            switch finding {
            case .noAcquisition: return "the App Store has not confirmed yet how you got the app; \(whatToDo)"
            case .nothingToCompare where decision.settlements.first == .support:
                return "what the App Store has told us of how you got the app does not settle it; \(whatToDo)"
            case .nothingToCompare, .windowNeedsDate:
                return "what the App Store has told us does not say when you got the app; \(whatToDo)"
            case .inDoubt where facts.isChangeover:
                return facts.acquisition("you got the app") + ", around the time when its price changed; \(whatToDo)"
            case .inDoubt: return "what the App Store says of when you got the app leaves a doubt; \(whatToDo)"
            case .boughtAgainInDoubt:
                return
                    "the app was refunded and you have it again, which may have been before or after it became free; \(whatToDo)"
            case .endUnknown: return "how long it is yours counts from a day that is not set; \(whatToDo)"
            case .testEnvironment:
                return "\(decision.context.environment.rawValue) does not tell how an app was acquired"
            default: continue
            }
        }
        return "not all of your purchases are known to us; \(whatToDo)"
    }

    /// What the words need, picked from the reasons.
    private struct Facts {
        var version: (text: String, platform: Platform?)?
        var date: Date?
        var preorder: Date?
        var isPersona = false
        var isChangeover = false
        var isFamilyShared = false
        /// The most urgent thing to tell of a purchase that gives nothing: one that waits for money, else the latest.
        var lastPurchase: Finding?

        init(_ decision: Decision) {
            for finding in decision.findings {
                switch finding {
                case .version(let index, _):
                    guard let acquisition = decision.context.acquisition(index) else { continue }
                    version = (String((acquisition.originalAppVersion ?? "").prefix(40)), acquisition.originalPlatform)
                case .date(let date, _): self.date = date
                case .changeover(let date, _):
                    self.date = date
                    isChangeover = true
                case .preorder(let date): preorder = date
                case .persona: isPersona = true
                case .familyShared: isFamilyShared = true
                case .billingRetry: lastPurchase = finding
                case .refunded, .expired: lastPurchase = lastPurchase ?? finding
                default: break
                }
            }
        }

        /// "you got the app on 1 May 2014 (build 37)", as far as the facts go.
        func acquisition(_ start: String) -> String {
            var text = start
            if let date { text += " on \(date.inWords)" }
            if let version {
                let key = version.platform.map { $0.versionKey == .bundleVersion ? "build" : "version" } ?? "version"
                text += date == nil ? " as \(key) \(version.text)" : " (\(key) \(version.text))"
            }
            return text
        }
    }
}

extension Date {
    /// "1 May 2014", in UTC.
    fileprivate var inWords: String {
        let seconds = timeIntervalSince1970
        guard abs(seconds) < 1e12 else { return "a day long gone" }
        let day = CivilDay(number: Int((seconds / 86_400).rounded(.down)))
        return "\(day.day) \(Self.months[day.month - 1]) \(day.year)"
    }

    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
}

extension Policy {
    /// Whether the app was sold for a price in every one of these eras.
    fileprivate func sold(in eras: EraSet) -> Bool {
        eras.allSatisfy { self.eras.indices.contains($0) && self.eras[$0].model == .paid }
    }
}
