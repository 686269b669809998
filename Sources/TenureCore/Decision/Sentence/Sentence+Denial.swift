import TenureJSON

extension Sentence {
    /// Writes why the customer doesn't have the entitlement, and in most cases what they can do.
    func writeDenial(to output: inout some TextPieces & ~Copyable) {
        switch leadingDenial {
        case .supportRevocation:
            output.say("Our support team withdrew ")
            writeTitle(to: &output)
            // Only support can give the entitlement again, so the sentence doesn't suggest other ways to get it.
            switch (facts.isSold, facts.hasTrial) {
            case (true, true): output.say("; trying it, buying it, or tapping Restore Purchases doesn't change that")
            case (true, false): output.say("; buying it or tapping Restore Purchases doesn't change that")
            case (false, true): output.say("; trying it doesn't change that")
            case (false, false): break
            }
            output.say(". Please write to them if you have a question.")
        case .supportGrantEnded(let date):
            // For example: Our support team gave you “Everything” until May 1, 2020.
            output.say("Our support team gave you ")
            writeTitle(to: &output)
            output.say(" ", end: date)
            output.say(". ")
            writeHelp(to: &output)
        case .appRefunded(let date):
            writeTitle(to: &output)
            output.say(" isn't included anymore: your purchase of the app was refunded or revoked on ", on: date, ". ")
            writeHelp(family: .earlier, to: &output)
        case .licenseEnded(let date):
            writeTitle(to: &output)
            output.say(" isn't included anymore: your organization's license for the app ended on ", on: date, ". ")
            writeHelp(family: .earlier, to: &output)
        case .promiseEnded:
            writeTitle(to: &output)
            output.say(" isn't included anymore: your purchase of the app was refunded, or its license ended. ")
            writeHelp(family: .earlier, to: &output)
        case .honorEnded(let era, let date):
            writeTitle(to: &output)
            // For example: “Everything” came with your copy of the app until May 1, 2020.
            // If the era isn't proven, the customer may never have had the entitlement.
            output.say(
                facts.proves(era: era) ? " came with your copy of the app " : " came with the app for a limited time, ")
            output.say("", end: date, ofDay: facts.hasLastDays)
            output.say(". ")
            writeHelp(to: &output)
        case .billingRetry(let index):
            writeTitle(" comes with ", to: &output)
            writePurchase(index, to: &output)
            output.say(", whose payment failed. Please check your payment method with Apple, ")
            output.say("then tap Restore Purchases in the app.")
        case .refunded(let index, let date):
            writeTitle(" came with ", to: &output)
            writePurchase(index, to: &output)
            output.say(", which was refunded or revoked on ", on: date, ". ")
            writeHelp(family: .earlier, buying: "buy it again", to: &output)
        case .expired(let index, let date):
            writeTitle(" came with ", to: &output)
            writePurchase(index, to: &output)
            output.say(", which ended on ", on: date, ". ")
            let isSubscription = context.purchase(index)?.isSubscription == true
            writeHelp(family: .earlier, buying: isSubscription ? "renew it" : "buy it again", to: &output)
        case .upgraded(let index):
            writeTitle(" came with ", to: &output)
            writePurchase(index, to: &output)
            output.say(", which you changed to another one. ")
            writeHelp(family: .earlier, to: &output)
        case .testEnvironment:
            writeTitle(to: &output)
            output.say(" isn't included here: in ", context.environment.rawValue)
            output.say(", every tester counts as a new customer. ")
            writeHelp(to: &output)
        case .eraNotHonored(let eras):
            writeTitle(" isn't included with your copy: ", to: &output)
            let wasFree = facts.wasAlways(.free, in: eras)
            writeAcquisition(
                in: eras, clause: wasFree ? "when it was free. " : "when this wasn't included. ", to: &output)
            writeHelp(family: .earlier, to: &output)
        case .outsideWindow(let era):
            writeTitle(" isn't included with your copy: ", to: &output)
            writeDate(to: &output)
            writeWindow(of: era, to: &output)
            writeHelp(family: .then, to: &output)
        case .noPurchase:
            writeTitle(" comes with ", to: &output)
            if let titles = facts.titlesOfProducts {
                write(titles: titles, to: &output)
                output.say(" in the app, and we have no record of such a purchase. ")
            } else {
                output.say("a purchase in the app, and we have no record of one. ")
            }
            writeHelp(family: .earlier, to: &output)
        default:
            writeTitle(" isn't included: we have no record of anything that includes it. ", to: &output)
            writeHelp(family: .earlier, to: &output)
        }
    }

    /// The reason that the sentence gives: support's revocation, otherwise what ended, otherwise which purchase no
    /// longer gives the entitlement, otherwise how the app was acquired.
    private var leadingDenial: Finding? {
        var leading: Finding?
        var rank = Int.max
        for finding in decision.findings {
            let findingRank: Int? =
                switch finding {
                case .supportRevocation: 0
                case .appRefunded, .licenseEnded, .honorEnded: 1
                case .supportGrantEnded: 2
                case .promiseEnded: 3
                // Prefer a purchase with a failed payment to ended purchases. Of the ended purchases, use the latest,
                // which comes first.
                case .billingRetry: 4
                case .refunded, .expired: 5
                case .upgraded: 6
                case .testEnvironment, .eraNotHonored, .outsideWindow: 7
                case .noPurchase: 8
                default: nil
                }
            if let findingRank, findingRank < rank { (leading, rank) = (finding, findingRank) }
        }
        return leading
    }

    /// Writes, for example, ", and it's for people who got it on June 10, 2014 or later. "
    private func writeWindow(of era: Int, to output: inout some TextPieces & ~Copyable) {
        guard let (first, last) = facts.window(ofHonoring: era)
        else { return output.say(facts.hasDate ? ", " : " ", "outside the dates for which it was offered. ") }
        output.say(", and it's for people who got it ")
        switch (first, last) {
        case (let first?, let last?): output.say("between ", first.inWords, " and ", last.inWords)
        case (let first?, nil): output.say("on ", first.inWords, " or later")
        case (nil, let last?): output.say("by ", last.inWords)
        case (nil, nil): break
        }
        output.say(". ")
    }

    /// The end of "someone in your family got …": when a family member may have got a copy of the app that gives the
    /// entitlement.
    private enum FamilyHint: String {
        /// Before the customer got the app.
        case earlier = "the app earlier"
        /// On one of the days in the first part of the sentence.
        case then = "it then"
    }

    /// Writes, for example, "In the app you can try it, buy it, or tap Restore Purchases; if this seems wrong, please
    /// contact our support team."
    ///
    /// - Parameters:
    ///   - family: adds "or someone in your family got the app earlier", but only if an era gives the entitlement.
    ///   - buying: how the customer can buy the entitlement. The trial is offered only with the default.
    private func writeHelp(
        family: FamilyHint? = nil, buying: String = "buy it", to output: inout some TextPieces & ~Copyable
    ) {
        let isFirstPurchase = buying == "buy it"
        switch (facts.isSold, facts.hasTrial && isFirstPurchase) {
        case (true, true): output.say("In the app you can try it, buy it, or tap Restore Purchases; if")
        case (true, false): output.say("In the app you can ", buying, " or tap Restore Purchases; if")
        case (false, true): output.say("In the app you can try it; if")
        case (false, false): output.say("If")
        }
        output.say(" this seems wrong")
        if let family, facts.honorsEras { output.say(", or someone in your family got ", family.rawValue) }
        output.say(", please contact our support team.")
    }
}
