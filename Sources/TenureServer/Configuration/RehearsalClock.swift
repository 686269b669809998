public import Foundation
import TenureCore
import TenureJSON

/// The time that it is in a rehearsal: an instant in a file, which whoever turns the clock writes.
///
/// A file, so that a service which is a process of its own follows it, and so that what was written before a request
/// holds for the request.
public final class RehearsalClock: @unchecked Sendable {
    // Sound: `last` is read and written between `lock.lock()` and `lock.unlock()` only; all else is constant.
    private let lock = NSLock()
    private var last: Date
    public let path: String

    /// Throws `clock` where the file holds no instant.
    public init(path: String) throws(ServiceError) {
        self.path = path
        guard let now = Self.read(path) else {
            throw .clock("`\(path)` holds no instant; write one such as 2026-11-20T12:00:00Z")
        }
        last = now
    }

    /// What the file says; what it said last, where it cannot be read now.
    public var now: Date {
        lock.lock()
        defer { lock.unlock() }
        if let now = Self.read(path) { last = now }
        return last
    }

    /// Turns the clocks of all who read that file. In one piece: nobody reads half an instant.
    public static func set(_ path: String, to now: Date) throws {
        try Data((now.rfc3339 + "\n").utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    private static func read(_ path: String) -> Date? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = fread(&bytes, 1, bytes.count, file)
        return Date(
            written: String(decoding: bytes.prefix(count), as: UTF8.self).trimmingCharacters(
                in: .whitespacesAndNewlines))
    }
}
