import Logging
import TenureCore

@testable import TenureServer

/// The lines that a logger wrote.
final class LogLines: Sendable {
    private let lines = Locked<[String]>([])

    func add(_ line: [UInt8]) { lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) } }

    var texts: [String] { lines.withLock { $0 } }

    func logger(_ level: Logger.Level) -> Logger {
        var logger = Logger(label: "tests") { [self] _ in JSONLogHandler { self.add($0) } }
        logger.logLevel = level
        return logger
    }
}
