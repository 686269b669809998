package import Foundation
import TenureCore
import TenureFiles

/// Since when the state is unreadable, in a file that is readable before the first unlock.
///
/// Without it, each start with a locked keychain would begin another grace period. The file has no data about the
/// customer, so it needs no protection.
package struct GracePeriodFile: Sendable {
    private let url: URL
    private static let largestSize = 4096

    package init(url: URL) {
        self.url = url
    }

    /// Returns the time since the state is unreadable: from now on, or from the start that first found it unreadable.
    package func begin(at clock: Date) -> DeviceTime {
        let known = read()
        var time = known ?? DeviceTime(clock: clock)
        time.look(at: clock)
        if known.map({ !$0.agrees(with: time) }) ?? true { write(time) }
        return time
    }

    /// The state was read: the next time that it is unreadable counts for itself.
    func end() {
        _ = unlink(url.path)
    }

    private func read() -> DeviceTime? {
        guard let contents = try? WholeFile(path: url.path).read(most: Self.largestSize),
            let time = try? JSONDecoder().decode(DeviceTime.self, from: Data(contents.bytes)), !time.isImpossible
        else { return nil }
        return time
    }

    /// A failure costs no more than a grace period that begins at this start.
    private func write(_ time: DeviceTime) {
        guard let data = try? JSONEncoder().encode(time) else { return }
        try? FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        #if canImport(Darwin)
            guard (try? data.write(to: url, options: [.atomic, .noFileProtection])) != nil else { return }
            // Another device's grace period is not this one's.
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            var url = url
            try? url.setResourceValues(values)
        #else
            try? WholeFile(path: url.path).write(data, replacing: true)
        #endif
    }
}
