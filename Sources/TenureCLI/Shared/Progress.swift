import Foundation

/// One line on a terminal that says how far a long work is; nothing where nobody looks.
final class Progress: @unchecked Sendable {
    // Sound: `lastShown` is touched between `lock.lock()` and `lock.unlock()` only.
    private let lock = NSLock()
    private var lastShown: ContinuousClock.Instant?
    private let unit: String
    private let isSeen = isatty(STDERR_FILENO) == 1

    init(_ unit: String) {
        self.unit = unit
    }

    func show(_ done: Int64, of total: Int64) {
        guard isSeen else { return }
        lock.lock()
        defer { lock.unlock() }
        let now = ContinuousClock.now
        if let lastShown, done < total, now - lastShown < .milliseconds(200) { return }
        lastShown = now
        Terminal.standardError.write(bytes: Array("\r\(done) of \(total) \(unit)\u{1B}[K".utf8))
    }

    /// Takes the line away.
    func end() {
        lock.lock()
        defer { lock.unlock() }
        guard isSeen, lastShown != nil else { return }
        Terminal.standardError.write(bytes: Array("\r\u{1B}[K".utf8))
    }
}
