import Logging
import TenureCore

@testable import TenureServer

/// The lines that a logger wrote.
final class LogLines: Sendable {
    private let lines = Locked<[String]>([])

    func add(_ line: [UInt8]) { lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) } }

    var texts: [String] { lines.withLock { $0 } }

    /// A logger, and its lines as they are written.
    static func stream() -> (logger: Logger, lines: AsyncStream<[UInt8]>) {
        let (lines, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        return (Logger(label: "tests") { _ in JSONLogHandler { continuation.yield($0) } }, lines)
    }

    func logger(_ level: Logger.Level) -> Logger {
        var logger = Logger(label: "tests") { [self] _ in JSONLogHandler { self.add($0) } }
        logger.logLevel = level
        return logger
    }
}
