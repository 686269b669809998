import Foundation

/// The first Ctrl-C asks for what is known so far; a second one ends the command as it always does.
final class Interruption: @unchecked Sendable {
    // Sound: `requested` is touched between `lock.lock()` and `lock.unlock()` only; `source` never changes.
    private let lock = NSLock()
    private var requested = false
    private let source: any DispatchSourceSignal

    init() {
        source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        signal(SIGINT, SIG_IGN)
        source.setEventHandler { [weak self] in self?.request() }
        source.resume()
    }

    deinit {
        source.cancel()
        signal(SIGINT, SIG_DFL)
    }

    var isRequested: Bool {
        lock.lock()
        defer { lock.unlock() }
        return requested
    }

    private func request() {
        lock.lock()
        requested = true
        lock.unlock()
        signal(SIGINT, SIG_DFL)
        Terminal.standardError.write("\nstopping: what was seen so far is counted; press Ctrl-C again to give up")
    }
}
