import TenureAppStore

extension LineFault {
    /// What a code means, for somebody who has never read one.
    package static func phrase(of code: String) -> String {
        switch code {
        case "invalidJSON": return "begins as JSON, and is none"
        case "wrongShape": return "JSON of another shape than a customer's artifacts"
        case "nothingSigned": return "JSON without any artifact"
        case "lineTooLong": return "longer than anybody's artifacts"
        case "severalAccounts": return "artifacts of several Apple Accounts in one line"
        default: break
        }
        switch Rejection.Code(rawValue: code) {
        case .malformed: return "not what the format says"
        case .unsupportedAlgorithm: return "signed in a way that the App Store does not use"
        case .untrustedChain: return "signed by somebody who is not trusted here"
        case .wrongPurpose: return "signed with a certificate made for something else"
        case .expiredAtSigning: return "signed when its certificate was not valid, or in the future"
        case .badSignature: return "changed after it was signed"
        case .wrongApp: return "of another app"
        case .wrongEnvironment: return "of an environment that is not rehearsed, such as Sandbox"
        case .wrongKind: return "another kind of artifact"
        case .tooLarge: return "larger than any genuine artifact"
        case .tooManyUnknownSigners, .misconfigured, nil: return code
        }
    }
}
