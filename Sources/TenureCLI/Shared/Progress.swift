import Foundation
import TenureCore

/// Shows the progress of long work on one line of a terminal. If standard error isn't a terminal, prints nothing.
final class Progress: Sendable {
    private let lastShown = Locked<ContinuousClock.Instant?>(nil)
    private let unit: String
    private let isOnTerminal = isatty(STDERR_FILENO) == 1

    /// - Parameter unit: what is counted, such as `customers`.
    init(_ unit: String) { self.unit = unit }

    /// Shows the progress: at most five times a second, and when all is done.
    func show(_ done: Int64, of total: Int64) {
        guard isOnTerminal else { return }
        lastShown.withLock { lastShown in
            let now = ContinuousClock.now
            if let lastShown, done < total, now - lastShown < .milliseconds(200) { return }
            lastShown = now
            Terminal.standardError.write(bytes: Array("\r\(done) of \(total) \(unit)\u{1B}[K".utf8))
        }
    }

    /// Removes the line of the progress.
    func end() {
        lastShown.withLock { lastShown in
            guard isOnTerminal, lastShown != nil else { return }
            Terminal.standardError.write(bytes: Array("\r\u{1B}[K".utf8))
        }
    }
}
