package import TenureAppStore

/// Why a line of an evidence file, or an artifact in it, is rejected.
package struct LineFault: Error, Sendable, Hashable {
    /// The code of the fault: a code of `Rejection` (why the verifier rejects an artifact), or a mistake in the line's
    /// format.
    package struct Code: Sendable, Hashable {
        /// The name in reports.
        package let name: String

        /// The verifier rejected an artifact.
        package static func rejected(_ code: Rejection.Code) -> Code { Code(name: code.rawValue) }
        /// The line begins like JSON, but isn't valid.
        package static let invalidJSON = Code(name: "invalidJSON")
        /// A field of the JSON has an invalid value.
        package static let wrongShape = Code(name: "wrongShape")
        /// The JSON has no artifact.
        package static let nothingSigned = Code(name: "nothingSigned")
        /// The line is longer than a customer's artifacts can be.
        package static let lineTooLong = Code(name: "lineTooLong")
        /// The line has artifacts of several Apple Accounts.
        package static let severalAccounts = Code(name: "severalAccounts")
    }

    package let code: Code
    /// The problem in a sentence.
    package let detail: String
    /// The artifact in the line, such as `transactions[3]`; nil for the whole line.
    package let part: String?

    init(_ code: Code, _ detail: String, part: String? = nil) {
        self.code = code
        self.detail = detail
        self.part = part
    }

    /// Returns the meaning of a fault's code, for readers of a report who don't know the codes. An unknown code is
    /// returned unchanged.
    static func phrase(of code: String) -> String {
        switch code {
        case "invalidJSON": return "invalid JSON"
        case "wrongShape": return "JSON that doesn't have the fields of a customer's artifacts"
        case "nothingSigned": return "JSON without any artifact"
        case "lineTooLong": return "longer than any customer's artifacts"
        case "severalAccounts": return "artifacts of several Apple Accounts in one line"
        default: break
        }
        switch Rejection.Code(rawValue: code) {
        case .malformed: return "malformed"
        case .unsupportedAlgorithm: return "signed with an algorithm that the App Store doesn't use"
        case .untrustedChain: return "signed with a certificate that this rehearsal doesn't trust"
        case .wrongPurpose: return "signed with a certificate for another purpose"
        case .outsideValidityPeriod: return "signed when the certificate wasn't valid, or signed in the future"
        case .badSignature: return "changed after it was signed"
        case .wrongApp: return "of another app"
        case .wrongEnvironment: return "of an environment that isn't rehearsed, such as Sandbox"
        case .wrongKind: return "another kind of artifact"
        case .tooLarge: return "larger than any genuine artifact"
        case .tooManyUnknownSigners, .misconfigured, nil: return code
        }
    }
}
