import Foundation
import Logging

@testable import TenureServer

/// The lines that a logger wrote.
final class LogLines: @unchecked Sendable {
    // Sound: every use of `all` is between `lock.lock()` and `lock.unlock()`.
    private let lock = NSLock()
    private var all: [String] = []

    func add(_ line: [UInt8]) {
        lock.lock()
        defer { lock.unlock() }
        all.append(String(decoding: line, as: UTF8.self))
    }

    var texts: [String] {
        lock.lock()
        defer { lock.unlock() }
        return all
    }

    func logger(_ level: Logger.Level) -> Logger {
        var logger = Logger(label: "tests") { [self] _ in JSONLogHandler { self.add($0) } }
        logger.logLevel = level
        return logger
    }
}
