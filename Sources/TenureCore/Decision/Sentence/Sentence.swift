import Foundation
package import TenureJSON

extension Decision {
    /// A text that support can send to the customer; see `sentence(in:)`. Each title is in its first language in the
    /// policy.
    public var sentence: String { sentence(in: []) }

    /// A text that support can send to the customer: the answer, its reason, and what the customer can do next.
    ///
    /// The text is in English. Each title in the text is in the first of the reader's languages for which the title has
    /// a translation.
    ///
    /// - Parameter languages: BCP 47 tags, the preferred one first, such as `Locale.preferredLanguages`.
    public func sentence(in languages: [String]) -> String {
        var text = ""
        text.reserveCapacity(256)
        Sentence(of: self, in: languages).write(to: &text)
        return text
    }

    /// Writes the sentence into a JSON string piece by piece, without allocating a string for it. The output isn't
    /// generic, because a generic function that another module calls is slow.
    package func write(sentenceTo output: inout JSONWriter, in languages: [String]) {
        Sentence(of: self, in: languages).write(to: &output)
    }
}

/// Writes a decision's reasons as text for the customer. No other code writes such text.
///
/// Denials have their own file, `Sentence+Denial.swift`. Customers who got the app may not have paid for it, so no
/// sentence says "you didn't buy". A reason without its own sentence uses a general sentence.
struct Sentence {
    let decision: Decision
    let facts: SentenceFacts

    var context: Reason.Context { decision.context }

    init(of decision: Decision, in languages: [String]) {
        self.decision = decision
        facts = SentenceFacts(of: decision, in: languages)
    }

    func write(to output: inout some TextPieces & ~Copyable) {
        if facts.isPersona { output.say("As the test customer “", context.personaName, "”: ") }
        switch decision.outcome {
        case .granted: writeGrant(to: &output)
        case .denied: writeDenial(to: &output)
        case .undetermined: writeDoubt(to: &output)
        }
    }

    /// Writes the entitlement's title in quotation marks, and the text after it.
    func writeTitle(_ rest: String = "", to output: inout some TextPieces & ~Copyable) {
        output.say("“", facts.title, "”", rest)
    }

    /// Writes the product's title in quotation marks. If the product has no title, writes "your subscription" or "your
    /// purchase", and never a product ID.
    ///
    /// - Parameter article: the word before "subscription" or "purchase".
    func writePurchase(_ index: PurchaseIndex, article: String = "your", to output: inout some TextPieces & ~Copyable) {
        let purchase = context.purchase(index)
        if let title = purchase.flatMap({ facts.title(ofProduct: $0.productID) }) {
            output.say("“", title, "”")
        } else {
            output.say(article, purchase?.isSubscription == true ? " subscription" : " purchase")
        }
    }

    /// Writes the titles of products in quotation marks, with "or" between them.
    func write(titles: [String], to output: inout some TextPieces & ~Copyable) {
        for (index, title) in titles.enumerated() { output.say(index == 0 ? "" : " or ", "“", title, "”") }
    }

    /// Writes, for example, "you got the app on May 1, 2014".
    func writeDate(to output: inout some TextPieces & ~Copyable) {
        output.say("you got the app")
        if let date = facts.date(allowing: nil) { output.say(" on ", on: date) }
    }

    /// Writes, for example, "you got the app on May 1, 2014 (build 37), when it was free", with the date and the
    /// version that are known. Without both, writes "you got the app when it was free".
    ///
    /// - Parameters:
    ///   - eras: the eras that the clause is about. If the date or the version excludes all these eras, the other proof
    ///     decided, so the sentence leaves that date or version out.
    ///   - clause: the rest of the sentence, such as "when it was free".
    func writeAcquisition(in eras: EraSet? = nil, clause: String, to output: inout some TextPieces & ~Copyable) {
        let version = facts.version(allowing: eras)
        guard let date = facts.date(allowing: eras) else {
            output.say("you got the app")
            if let version { output.say(" as ", version.key, " ", version.text, ",") }
            return output.say(" ", clause)
        }
        output.say("you ")
        if let preorder = facts.preorder, preorder <= date {
            output.say("pre-ordered the app on ", on: preorder, " and got it")
        } else {
            output.say("got the app")
        }
        output.say(" on ", on: date)
        if let version { output.say(" (", version.key, " ", version.text, ")") }
        output.say(", ", clause)
    }
}

extension Sentence {
    /// Writes that the customer has the entitlement, until when, and why.
    ///
    /// For example: “Everything” is yours until May 1, 2020: you got the app on May 1, 2014, while it was sold for a
    /// price.
    func writeGrant(to output: inout some TextPieces & ~Copyable) {
        writeTitle(" is yours", to: &output)
        if let until = decision.until {
            output.say(" ", end: until, ofDay: mayEndWithDay)
        } else if isPermanent {
            output.say(" permanently")
        }
        output.say(": ")
        writeReason(to: &output)
        output.say(".")
    }

    /// Writes the deciding reason.
    private func writeReason(to output: inout some TextPieces & ~Copyable) {
        switch decision.findings.first {
        case .eraHonored(let eras):
            let wasPaid = facts.wasAlways(.paid, in: eras)
            writeAcquisition(
                in: eras, clause: wasPaid ? "while it was sold for a price" : "when this was included", to: &output)
        case .inDoubt:
            if facts.isChangeover {
                writeAcquisition(clause: "around the time when it changed, so we decided in your favor", to: &output)
            } else {
                output.say("the App Store's records don't show exactly when you got the app, ")
                output.say("so we decided in your favor")
            }
        case .boughtAgain(let signed):
            output.say("after its refund you had the app again by ", on: signed, ", when this was still included")
        case .product(let index, _):
            if facts.isFamilyShared {
                output.say("someone in your family shares ")
                writePurchase(index, article: "a", to: &output)
                output.say(" with you")
            } else {
                output.say("it comes with ")
                writePurchase(index, to: &output)
            }
        case .gracePeriod(let index, _):
            output.say("it comes with ")
            writePurchase(index, to: &output)
            output.say(", whose payment failed, so please check your payment method with Apple")
        case .supportGrant: output.say("our support team gave it to you")
        case .promise: output.say("it came with your copy of the app, and we keep that promise")
        case .testEnvironment:
            output.say("in ", context.environment.rawValue, ", every tester counts as someone who got the app in time")
        default: output.say("the App Store's records show that you have it")
        }
    }

    /// Whether the sentence says "permanently" of a right without an end.
    private var isPermanent: Bool {
        // A shared purchase isn't permanent, because the family member can stop sharing it at any time.
        if facts.isFamilyShared { return false }
        return switch decision.findings.first {
        // Without a promise, a later version of the policy may decide a doubtful case differently.
        case .inDoubt: decision.isPromised
        case .testEnvironment: false
        default: true
        }
    }

    /// Whether the right's end may be a day in an honor of the policy.
    private var mayEndWithDay: Bool {
        switch decision.findings.first {
        case .product, .gracePeriod, .supportGrant: false
        default: facts.hasLastDays
        }
    }
}

extension Sentence {
    /// Writes that the decision is undetermined, why, and what the customer can do.
    func writeDoubt(to output: inout some TextPieces & ~Copyable) {
        output.say("We can't tell yet whether ")
        writeTitle(" is yours", to: &output)
        writeWhy(to: &output)
        output.say(". ")
        writeNextSteps(to: &output)
    }

    /// Writes the first reason for which there is a text.
    private func writeWhy(to output: inout some TextPieces & ~Copyable) {
        for finding in decision.findings {
            switch finding {
            case .noAcquisition: return output.say(": the App Store hasn't confirmed yet how you got the app")
            case .nothingToCompare where facts.hasDate, .windowNeedsDate where facts.hasDate:
                return output.say(": what the App Store says about how you got the app doesn't settle it")
            case .nothingToCompare, .windowNeedsDate:
                return output.say(": the App Store hasn't told us on which day you got the app")
            case .inDoubt where facts.isChangeover:
                output.say(": ")
                return writeAcquisition(clause: "around the time when it changed", to: &output)
            case .inDoubt: return output.say(": the App Store's records don't show exactly when you got the app")
            case .boughtAgainInDoubt:
                return output.say(
                    ": the app was refunded, and the App Store's records don't show exactly when you got it again")
            case .endUnknown:
                return output.say(": it came with the app for a limited time, and we don't know when that time ends")
            case .noLength(let index), .unknownProductType(let index):
                output.say(": the App Store doesn't say how long ")
                writePurchase(index, to: &output)
                return output.say(" lasts")
            case .testEnvironment:
                return output.say(": ", context.environment.rawValue, " doesn't show how you got the app")
            case .purchasesIncomplete: return writeMissingPurchases(to: &output)
            default: continue
            }
        }
        output.say(": the App Store's records don't settle it")
    }

    /// Writes that not all purchases are known, with the titles of the products if there are few.
    private func writeMissingPurchases(to output: inout some TextPieces & ~Copyable) {
        guard let titles = facts.titlesOfProducts
        else { return output.say(": we haven't seen all of your purchases yet") }
        output.say(": we don't know yet whether you have ")
        write(titles: titles, to: &output)
    }

    /// Writes what the customer can do, such as "Please open the app and tap Restore Purchases."
    private func writeNextSteps(to output: inout some TextPieces & ~Copyable) {
        let steps = decision.nextSteps
        let needsSupport = steps.contains(.support) || steps.isEmpty
        let start =
            steps.contains(.appTransaction) || steps.contains(.refreshedReceipt)
            ? "open the app while you're online and tap Restore Purchases"
            : steps.contains(.purchases) ? "open the app and tap Restore Purchases" : nil
        guard let start else { return output.say("Please contact our support team, who can settle it.") }
        output.say("Please ", start, needsSupport ? ", or contact our support team if that doesn't help." : ".")
    }
}

extension TextPieces where Self: ~Copyable {
    /// Writes up to five pieces of text, one after the other, without joining them into a new string.
    mutating func say(
        _ first: String, _ second: String = "", _ third: String = "", _ fourth: String = "", _ fifth: String = ""
    ) {
        write(first)
        if !second.isEmpty { write(second) }
        if !third.isEmpty { write(third) }
        if !fourth.isEmpty { write(fourth) }
        if !fifth.isEmpty { write(fifth) }
    }

    /// Writes a text, the day of a date in UTC, and the rest of the text.
    mutating func say(_ start: String, on date: Date, _ rest: String = "") { say(start, date.inWords, rest) }

    /// Writes a text, and a date as the end of a right, such as "until June 10, 2015".
    ///
    /// - Parameter isOfDay: whether the end may be a day in the policy, as in `inWords(asEndOfDay:)`.
    mutating func say(_ start: String, end date: Date, ofDay isOfDay: Bool = false) {
        say(start, date.inWords(asEndOfDay: isOfDay))
    }
}
