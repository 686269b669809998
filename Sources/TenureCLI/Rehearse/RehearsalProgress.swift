import Foundation
import TenureRehearsal

/// How far a rehearsal is: a bar with rate and time left on a terminal, a line every ten seconds elsewhere.
final class RehearsalProgress: @unchecked Sendable {
    // Sound: what changes is touched between `lock.lock()` and `lock.unlock()` only.
    private let lock = NSLock()
    private let start = ContinuousClock.now
    private var lastShown: ContinuousClock.Instant
    private var judgingSince: ContinuousClock.Instant?
    private var isShown = false
    private let unit: String
    private let isSeen = isatty(STDERR_FILENO) == 1

    init(stepUnit: String) {
        unit = stepUnit
        lastShown = start
    }

    func show(_ progress: EvidenceRehearsal.Progress) {
        lock.lock()
        defer { lock.unlock() }
        let now = ContinuousClock.now
        if progress.isJudging, judgingSince == nil { judgingSince = now }
        guard now - lastShown >= (isSeen ? .milliseconds(200) : .seconds(10)) else { return }
        lastShown = now
        let text = text(progress, at: now)
        if isSeen {
            isShown = true
            Terminal.standardError.write(bytes: Array("\r\(text)\u{1B}[K".utf8))
        } else {
            Terminal.standardError.write(text)
        }
    }

    /// Takes the bar away.
    func end() {
        lock.lock()
        defer { lock.unlock() }
        if isShown { Terminal.standardError.write(bytes: Array("\r\u{1B}[K".utf8)) }
        isShown = false
    }

    private func text(_ progress: EvidenceRehearsal.Progress, at now: ContinuousClock.Instant) -> String {
        let seconds = (now - (judgingSince ?? start)) / .seconds(1)
        var text = progress.isJudging ? "deciding" : "\(progress.lines.grouped) \(unit)"
        if !progress.isJudging, seconds > 0 { text += ", \(Int(Double(progress.lines) / seconds).grouped)/s" }
        guard let share = progress.share else { return text }
        let bounded = min(max(share, 0), 1)
        if isSeen {
            let filled = Int(bounded * 24)
            text =
                "[" + String(repeating: "#", count: filled) + String(repeating: ".", count: 24 - filled) + "] " + text
        }
        text += ", \(Int(bounded * 100))%"
        // The first seconds tell little.
        if bounded > 0.01, seconds > 2 { text += ", \(Self.time(seconds / bounded * (1 - bounded))) left" }
        return text
    }

    private static func time(_ seconds: Double) -> String {
        let whole = Int(min(seconds, 1e6).rounded())
        return whole < 60
            ? "\(whole) s"
            : whole < 3600 ? "\(whole / 60) min \(whole % 60) s" : "\(whole / 3600) h \(whole / 60 % 60) min"
    }
}
