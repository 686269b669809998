import Foundation
import TenureCore

/// Handles Ctrl-C during `tenure rehearse`. The first Ctrl-C requests a report of the results so far. The second ends
/// the command immediately.
///
/// `@unchecked`, because Dispatch doesn't declare `source` sendable. The property never changes, and its methods may be
/// called from any thread.
final class Interruption: @unchecked Sendable {
    private let requested = Locked(false)
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

    var isRequested: Bool { requested.withLock { $0 } }

    private func request() {
        requested.withLock { $0 = true }
        signal(SIGINT, SIG_DFL)
        Terminal.standardError.write(
            "\nstopping: the report will contain the results so far; press Ctrl-C again to stop without a report")
    }
}
