import Foundation
import TenureCore
import TenureRehearsal

/// Prints a rehearsal's progress: on a terminal a bar with rate and remaining time, otherwise a line every ten seconds.
final class RehearsalProgress: Sendable {
    private let start: ContinuousClock.Instant
    private let state: Locked<State>
    /// What is counted: `customers` or `lines`.
    private let unit: String
    private let isOnTerminal = isatty(STDERR_FILENO) == 1

    private struct State {
        /// When the progress was last printed.
        var lastShown: ContinuousClock.Instant
        /// When the rehearsal had read all lines, and began to decide. The remaining time of this second step is
        /// estimated from this instant.
        var decidingSince: ContinuousClock.Instant?
        /// Whether the terminal has a progress bar.
        var isShown = false
    }

    init(unit: String) {
        self.unit = unit
        start = .now
        state = Locked(State(lastShown: start))
    }

    /// Prints the progress, unless it was printed a short time ago.
    func show(_ progress: EvidenceRehearsal.Progress) {
        state.withLock { state in
            let now = ContinuousClock.now
            if progress.isDeciding, state.decidingSince == nil { state.decidingSince = now }
            guard now - state.lastShown >= (isOnTerminal ? .milliseconds(200) : .seconds(10)) else { return }
            state.lastShown = now
            let text = text(progress, since: state.decidingSince ?? start, at: now)
            if isOnTerminal {
                state.isShown = true
                Terminal.standardError.write(bytes: Array("\r\(text)\u{1B}[K".utf8))
            } else {
                Terminal.standardError.write(text)
            }
        }
    }

    /// Removes the progress bar.
    func end() {
        state.withLock { state in
            if state.isShown { Terminal.standardError.write(bytes: Array("\r\u{1B}[K".utf8)) }
            state.isShown = false
        }
    }

    /// Returns the progress as text, such as `[######..................] 1,200 lines, 300/s, 25%, 40 s left`.
    private func text(
        _ progress: EvidenceRehearsal.Progress, since stepStart: ContinuousClock.Instant,
        at now: ContinuousClock.Instant
    ) -> String {
        let seconds = (now - stepStart) / .seconds(1)
        var text = progress.isDeciding ? "deciding" : "\(progress.lines.grouped) \(unit)"
        if !progress.isDeciding, seconds > 0 { text += ", \(Int(Double(progress.lines) / seconds).grouped)/s" }
        guard let share = progress.share else { return text }
        let doneShare = min(max(share, 0), 1)
        if isOnTerminal {
            let width = 24
            let filled = Int(doneShare * Double(width))
            let empty = String(repeating: ".", count: width - filled)
            text = "[" + String(repeating: "#", count: filled) + empty + "] " + text
        }
        text += ", \(Int(doneShare * 100))%"
        // An estimate from the first percent, or from the first two seconds, would be too inaccurate.
        if doneShare > 0.01, seconds > 2 { text += ", \(Self.time(seconds / doneShare * (1 - doneShare))) left" }
        return text
    }

    private static func time(_ seconds: Double) -> String {
        let whole = Int(min(seconds, 1e6).rounded())
        if whole < 60 { return "\(whole) s" }
        if whole < 3600 { return "\(whole / 60) min \(whole % 60) s" }
        return "\(whole / 3600) h \(whole / 60 % 60) min"
    }
}
