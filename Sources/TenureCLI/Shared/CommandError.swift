import ArgumentParser
import Foundation
import TenureCore
import TenurePolicyFile

/// The message of a command that fails: one line, or one line for each mistake.
struct CommandError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Runs work that reads a policy or a file of asset packs. If the file has mistakes, prints them to standard error, one
/// line each, and ends the command with exit code 2.
func printingMistakes<Result>(_ work: () throws -> Result) throws -> Result {
    do {
        return try work()
    } catch let error as PolicyFileError {
        for mistake in error.mistakes { Terminal.standardError.write(mistake.description.hidingCredentials) }
        throw ExitCode.refused
    }
}

/// Returns the message of an error for standard error.
func describe(_ error: any Error) -> String {
    // Tenure's errors have messages as descriptions. The description of an `NSError` isn't suitable as a message.
    type(of: error) == NSError.self ? error.localizedDescription : String(describing: error)
}

/// The exit codes except 0 (success), 64 (wrong usage, from ArgumentParser) and 130 (Ctrl-C stopped `rehearse`).
extension ExitCode {
    /// The command couldn't do its work: for example, a file can't be read, or no service responds.
    static let error = ExitCode(1)
    /// The command worked, but its result is negative: for example, an artifact was rejected, an entitlement is denied,
    /// a file has mistakes, or a check failed. Each command's `--help` says what 2 means.
    static let refused = ExitCode(2)
    /// An entitlement is undetermined, in the result of `decide`.
    static let undetermined = ExitCode(3)

    /// The exit code of `decide`: 3 if any decision is undetermined, else 2 if any is denied, else 0.
    init(of decisions: [Decision]) {
        if decisions.contains(where: { $0.outcome == .undetermined }) {
            self = .undetermined
        } else {
            self = decisions.contains { $0.outcome == .denied } ? .refused : .success
        }
    }
}
