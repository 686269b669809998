import ArgumentParser
import TenureCore

/// All exit codes. ArgumentParser adds 64 for wrong usage.
extension ExitCode {
    /// A file couldn't be read or written, or a service couldn't start.
    static let error = ExitCode(1)
    /// `inspect`: rejected or unsigned. `decide`: something is denied. `policy`: the file has mistakes, a case failed.
    static let refused = ExitCode(2)
    /// `decide`: something is undetermined.
    static let undetermined = ExitCode(3)

    /// All granted: 0. Any undetermined: 3. Otherwise any denied: 2.
    init(of decisions: [Decision]) {
        if decisions.contains(where: { $0.outcome == .undetermined }) {
            self = .undetermined
        } else {
            self = decisions.contains { $0.outcome == .denied } ? .refused : .success
        }
    }
}
