import ArgumentParser
import Foundation
import TenureCore

/// The message of a command that fails: one line, or one for each mistake.
struct CommandError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Runs a command's work; an error becomes a line on standard error and exit code 1.
func reportingErrors<Result>(_ work: () async throws -> Result) async throws -> Result {
    do {
        return try await work()
    } catch let error as ExitCode {
        throw error
    } catch let error as ValidationError {
        throw error
    } catch {
        Terminal.standardError.write("error: \(describe(error).hidingCredentials.escapedLinesForDisplay)")
        throw ExitCode.error
    }
}

func describe(_ error: any Error) -> String {
    // The description of an `NSError` shows its internals. Tenure's errors describe themselves as messages.
    type(of: error) == NSError.self ? error.localizedDescription : String(describing: error)
}
