package import TenureAppStore

/// Why a line, or an artifact in it, is rejected.
package struct LineFault: Sendable, Hashable {
    /// A code of `Rejection`, or a mistake in the format of the line.
    package enum Code: Sendable, Hashable {
        /// The verifier rejected an artifact.
        case rejected(Rejection.Code)
        /// The line begins like JSON, but isn't valid.
        case invalidJSON
        /// A field of the JSON has the wrong type.
        case wrongShape
        /// The JSON has no artifact.
        case nothingSigned
        /// The line is longer than a customer's artifacts can be.
        case lineTooLong
        /// The line has artifacts of several Apple Accounts.
        case severalAccounts

        /// The name in reports.
        package var name: String {
            switch self {
            case .rejected(let code): code.rawValue
            case .invalidJSON: "invalidJSON"
            case .wrongShape: "wrongShape"
            case .nothingSigned: "nothingSigned"
            case .lineTooLong: "lineTooLong"
            case .severalAccounts: "severalAccounts"
            }
        }
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

    init(_ rejection: Rejection, part: String? = nil) {
        self.init(.rejected(rejection.code), rejection.detail, part: part)
    }
}
