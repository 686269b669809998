import ArgumentParser
import TenureCore

/// All exit codes except 0. ArgumentParser adds 64 for wrong usage.
extension ExitCode {
    /// A file couldn't be read or written, or a service couldn't start.
    static let error = ExitCode(1)
    /// The command worked, but its result is negative: for example, an artifact was rejected, an entitlement is denied,
    /// a file has mistakes, or a check failed. Each command's `--help` says what 2 means.
    static let refused = ExitCode(2)
    /// An entitlement is undetermined. Only `decide` ends with this code.
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
