public import Foundation
import TenureCore
import TenureFiles
import TenureJSON

/// A clock that replaces the system's clock in tests with a local App Store: an instant in a file, which `set` changes.
///
/// The instant is in a file so that services in several processes have the same time. The file is read for each use of
/// the clock, so a request that is sent after `set` already gets the new time.
public final class FileClock: Sendable {
    /// The instant that was read last.
    private let last: Locked<Date>
    /// The file with the instant, in RFC 3339.
    public let path: String

    /// Creates a clock that reads this file. Throws `ServiceError.clock` if the file has no instant.
    public init(path: String) throws(ServiceError) {
        self.path = path
        guard let now = Self.read(path) else {
            throw .clock("`\(path)` has no instant; write an instant such as 2026-11-20T12:00:00Z")
        }
        last = Locked(now)
    }

    /// The instant in the file; the instant that was read last if the file can't be read now.
    public var now: Date {
        last.withLock { last in
            if let now = Self.read(path) { last = now }
            return last
        }
    }

    /// Sets the clock for all processes that read the file. The write is atomic, so that no process reads an incomplete
    /// date.
    package static func set(_ path: String, to now: Date) throws {
        try Data((now.rfc3339 + "\n").utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    private static func read(_ path: String) -> Date? {
        guard let contents = try? WholeFile(path: path).read(maximumSize: 64) else { return nil }
        return Date(written: String(decoding: contents, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
    }
}
