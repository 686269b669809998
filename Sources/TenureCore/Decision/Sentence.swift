import Foundation

extension Decision {
    /// One sentence that a support person can send to the customer.
    ///
    /// Having acquired is not having paid: it never says that somebody did not buy.
    public var sentence: String {
        var text = ""
        text.reserveCapacity(256)
        write(sentenceTo: &text)
        return text
    }

    /// The same, piece by piece, where an answer is written without a text of its own.
    package func write(sentenceTo output: inout some TextPieces & ~Copyable) { Sentence(of: self).write(to: &output) }
}

/// Turns a decision's reasons into words: the only place that does.
private struct Sentence {
    private let decision: Decision
    private let facts: Facts

    private var context: Reason.Context { decision.context }

    init(of decision: Decision) {
        self.decision = decision
        facts = Facts(decision)
    }

    func write(to output: inout some TextPieces & ~Copyable) {
        if facts.isPersona { output.say("As “", context.personaName, "”: ") }
        switch decision.outcome {
        case .granted:
            writeName(to: &output)
            if let until = decision.until {
                output.say(" is yours until ")
                output.say(until)
                output.say(": ")
            } else {
                output.say(" is yours for good: ")
            }
            writeGrounds(to: &output)
            output.say(".")
        case .denied: writeDenial(to: &output)
        case .undetermined:
            output.say("We cannot tell yet whether ")
            writeName(to: &output)
            output.say(" is yours: ")
            writeDoubt(to: &output)
            output.say(".")
        }
    }

    private func writeName(to output: inout some TextPieces & ~Copyable) { output.say("“", decision.entitlement, "”") }

    // MARK: Granted

    private func writeGrounds(to output: inout some TextPieces & ~Copyable) {
        switch decision.findings.first {
        case .eraHonored(let eras):
            facts.writeAcquisition(to: &output)
            output.say(
                context.policy.sold(in: eras)
                    ? ", while it was sold for a price" : ", and everybody who did then keeps this")
        case .inDoubt:
            facts.writeAcquisition(to: &output)
            output.say(
                facts.isChangeover
                    ? ", around the time when its price changed, and we decide in your favor"
                    : ", what the App Store says of it does not settle when, and we decide in your favor")
        case .boughtAgain(let signed):
            output.say("you had the app again by ")
            output.say(signed)
            output.say(", after its refund, while it was still sold")
        case .boughtAgainInDoubt(let signed):
            output.say("you had the app again by ")
            output.say(signed)
            output.say(", after its refund, and we decide in your favor")
        case .product(let index, let until):
            if facts.isFamilyShared {
                output.say("your family shares the purchase `", context.productID(index), "` with you")
            } else {
                let kind = until == nil ? "purchase" : "subscription"
                output.say("you have the ", kind, " `", context.productID(index), "`")
            }
        case .gracePeriod(let index, _):
            output.say(
                "the subscription `", context.productID(index),
                "` could not be charged yet, so please check your payment method with Apple")
        case .supportGrant: output.say("our support team gave it to you")
        case .promise: output.say("we promised it when the app changed, and a promise stands")
        case .testEnvironment:
            output.say(
                "in ", context.environment.rawValue,
                " every tester counts as somebody who had the app before it changed")
        default: output.say("what the App Store says of you gives it")
        }
    }

    // MARK: Denied

    private static let help =
        "if that seems wrong, or somebody in your family had the app before, please write to our support."

    private func writeDenial(to output: inout some TextPieces & ~Copyable) {
        writeName(to: &output)
        for finding in decision.findings {
            switch finding {
            case .supportRevocation:
                return output.say(
                    " was withdrawn by our support team: please write to them if you have a question.")
            case .appRefunded(let date):
                return output.say(
                    " came with the app, whose purchase was refunded on ", on: date, ": ", Self.help)
            case .licenseEnded(let date):
                return output.say(
                    " came with an organization's license for the app, which ended on ", on: date, ": ", Self.help)
            case .honorEnded(_, let date):
                // Without a date nobody knows whether it was theirs.
                guard facts.date != nil else {
                    return output.say(
                        " came with the app for a time, which ended for everybody on ", on: date, ": ", Self.help)
                }
                return output.say(
                    " was yours until ", on: date, ", as announced when the app changed: ", Self.help)
            case .supportGrantEnded(let date):
                return output.say(
                    " was given to you by our support team until ", on: date,
                    ": please write to them if you need it longer.")
            default: continue
            }
        }
        switch facts.lastPurchase {
        case .billingRetry(let index):
            return output.say(
                " comes with the subscription `", context.productID(index),
                "`, which could not be charged: please check your payment method with Apple.")
        case .refunded(let index, let date):
            output.say(" came with the purchase `", context.productID(index))
            return output.say("`, which was refunded or withdrawn on ", on: date, ": ", Self.help)
        case .expired(let index, let date):
            output.say(" came with `", context.productID(index))
            return output.say("`, which ended on ", on: date, ": it can be renewed in the app.")
        default: break
        }
        switch decision.findings.first {
        case .testEnvironment:
            output.say(
                " is not included: in ", context.environment.rawValue, " every tester counts as a new customer.")
        case .outsideWindow:
            output.say(" is not included: ")
            facts.writeAcquisition(to: &output)
            output.say(", outside the dates for which it was announced; ", Self.help)
        case .eraNotHonored:
            output.say(" is not included: ")
            facts.writeAcquisition(to: &output)
            if let date = facts.preorder { output.say(", ordered in advance on ", on: date) }
            output.say(", at a time when it did not come with the app; ", Self.help)
        default:
            output.say(
                decision.findings.contains(.noPurchase)
                    ? " comes with a purchase in the app: if you have one, tap Restore Purchases, and "
                    : " is not included: ", Self.help)
        }
    }

    // MARK: Undetermined

    private func writeDoubt(to output: inout some TextPieces & ~Copyable) {
        let whatToDo =
            switch decision.nextSteps.first {
            case .appTransaction, .refreshedReceipt: "please open the app while online and tap Restore Purchases"
            case .purchases: "please open the app and tap Restore Purchases"
            case .support, nil: "please write to our support, who can settle it"
            }
        for finding in decision.findings {
            switch finding {
            case .noAcquisition:
                return output.say("the App Store has not confirmed yet how you got the app; ", whatToDo)
            case .nothingToCompare where decision.nextSteps.first == .support:
                return output.say(
                    "what the App Store has told us of how you got the app does not settle it; ", whatToDo)
            case .nothingToCompare, .windowNeedsDate:
                return output.say("what the App Store has told us does not say when you got the app; ", whatToDo)
            case .inDoubt where facts.isChangeover:
                facts.writeAcquisition(to: &output)
                return output.say(", around the time when its price changed; ", whatToDo)
            case .inDoubt:
                return output.say("what the App Store says of when you got the app leaves a doubt; ", whatToDo)
            case .boughtAgainInDoubt:
                return output.say(
                    "the app was refunded and you have it again, which may have been before or after it became free; ",
                    whatToDo)
            case .endUnknown:
                return output.say("how long it is yours counts from a day that is not set; ", whatToDo)
            case .testEnvironment:
                return output.say(context.environment.rawValue, " does not tell how an app was acquired")
            default: continue
            }
        }
        output.say("not all of your purchases are known to us; ", whatToDo)
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
                    version = (acquisition.originalAppVersion ?? "", acquisition.originalPlatform)
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
        func writeAcquisition(to output: inout some TextPieces & ~Copyable) {
            output.say("you got the app")
            if let date { output.say(" on ", on: date) }
            guard let version else { return }
            let key = version.platform?.versionKey == .bundleVersion ? "build" : "version"
            output.say(date == nil ? " as " : " (", key, " ", Self.shown(version.text), date == nil ? "" : ")")
        }

        private static func shown(_ version: String) -> String {
            version.utf8.count <= 40 ? version : String(version.prefix(40))
        }
    }
}

extension TextPieces where Self: ~Copyable {
    fileprivate mutating func say(
        _ first: String, _ second: String = "", _ third: String = "", _ fourth: String = "", _ fifth: String = ""
    ) {
        write(first)
        if !second.isEmpty { write(second) }
        if !third.isEmpty { write(third) }
        if !fourth.isEmpty { write(fourth) }
        if !fifth.isEmpty { write(fifth) }
    }

    fileprivate mutating func say(
        _ start: String, on date: Date, _ first: String = "", _ second: String = ""
    ) {
        write(start)
        say(date)
        say(first, second)
    }

    /// "1 May 2014", in UTC.
    fileprivate mutating func say(_ date: Date) {
        let seconds = date.timeIntervalSince1970
        guard abs(seconds) < 1e12 else { return write("a day long gone") }
        let day = CivilDay(number: Int((seconds / 86_400).rounded(.down)))
        say(String(day.day), " ", monthNames[day.month - 1], " ", String(day.year))
    }
}

private let monthNames = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
]

extension Policy {
    /// Whether the app was sold for a price in every one of these eras.
    fileprivate func sold(in eras: EraSet) -> Bool {
        eras.allSatisfy { self.eras.indices.contains($0) && self.eras[$0].model == .paid }
    }
}
