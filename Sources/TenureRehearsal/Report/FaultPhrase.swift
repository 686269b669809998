import TenureAppStore

extension LineFault {
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
