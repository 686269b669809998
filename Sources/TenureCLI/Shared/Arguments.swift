import ArgumentParser
import Foundation
import TenureCore
import TenureJSON
import TenurePolicyFile

// What several commands use to declare, read and check their arguments.

extension ArgumentHelp {
    /// Returns the help of an option, with a name for its value, such as `file`.
    static func value(_ name: String, _ text: String) -> ArgumentHelp { ArgumentHelp(text, valueName: name) }
}

extension String {
    /// The name and the value in an argument such as `name=value`. Nil without `=`.
    var nameAndValue: (name: String, value: String)? {
        firstIndex(of: "=").map { (String(self[..<$0]), String(self[index(after: $0)...])) }
    }
}

extension Date {
    /// Reads an instant on the command line: RFC 3339, or a day, which means 00:00 UTC. Throws an error with an
    /// example. ArgumentParser's message about the option ends with the error's description.
    init(argument text: String) throws {
        guard let date = Date(written: text) else {
            throw CommandError("write a day such as 2027-01-31, or an instant such as 2027-01-31T18:00:00Z")
        }
        self = date
    }
}

/// Throws a `ValidationError` (wrong usage of the command line) with the message if the condition is false.
func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
    if !condition { throw ValidationError(message()) }
}

/// Throws if the value of `--counter` isn't in its range.
func checkCounter(_ counter: Int64?, upTo maximum: Int64 = SignedPolicy.maximumCounter) throws {
    guard let counter else { return }
    try require(
        (1...maximum).contains(counter),
        "`--counter` must be a whole number between 1 and \(maximum); found \(counter)")
}

/// Throws if the value of `--device-id` isn't a UUID.
func checkDeviceID(_ text: String?) throws {
    guard let text else { return }
    try require(
        UUID(digits: text) != nil, "`\(text)` isn't a UUID; pass the value of `AppStore.deviceVerificationID`")
}
