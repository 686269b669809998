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
        write(sentenceTo: &text, in: languages)
        return text
    }

    /// Writes the sentence piece by piece, so that an output can avoid allocating strings.
    package func write(sentenceTo output: inout some TextPieces & ~Copyable, in languages: [String]) {
        Sentence(of: self, in: languages).write(to: &output)
    }
}

/// Writes a decision's reasons as text for the customer. No other code writes such text.
///
/// Each outcome has a file with its sentences. Customers who got the app may not have paid for it, so no sentence says
/// "you didn't buy". A reason without its own sentence uses a general sentence.
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

    /// Writes, for example, "you got the app on May 1, 2014 (build 37), when it was free", with the date and the version
    /// that are known. Without both, writes "you got the app when it was free".
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

extension Purchase {
    /// Whether the purchase is a subscription, or may be a subscription: old receipts don't contain the type.
    var isSubscription: Bool {
        switch type {
        case .autoRenewable: true
        case .nonConsumable, .consumable, .nonRenewing: false
        case .unknown, nil: expiresDate != nil
        }
    }
}
