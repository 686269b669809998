import Foundation
import TenureJSON

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
