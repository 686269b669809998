import Foundation
import TenureJSON

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
        writeWhy(to: &output)
        output.say(".")
    }

    /// Writes the deciding reason.
    private func writeWhy(to output: inout some TextPieces & ~Copyable) {
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
