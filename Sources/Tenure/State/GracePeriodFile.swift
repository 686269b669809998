import Foundation
import TenureFiles

/// A file that records since when the stored state has been unreadable. Unlike the state, the file can be read before
/// the device was unlocked for the first time since it started.
///
/// Without the file, each start with a locked keychain would begin a new grace period, in which undetermined
/// entitlements are allowed. The file has no data about the customer, so it isn't protected.
struct GracePeriodFile: Sendable {
    let url: URL
    private static let maximumSize = 4096

    /// Begins the grace period, unless an earlier start has begun it. Returns the device's time, in which `firstSeen`
    /// is the beginning of the grace period.
    func begin(at clock: Date) -> DeviceTime {
        let known = read()
        var time = known ?? DeviceTime(clock: clock)
        time.observe(clock: clock)
        if known.map({ !$0.agrees(with: time) }) ?? true { write(time) }
        return time
    }

    /// Ends the grace period, because the state was read. If the state becomes unreadable again, a new period begins.
    func end() { _ = unlink(url.path) }

    private func read() -> DeviceTime? {
        guard let contents = try? WholeFile(path: url.path).read(maximumSize: Self.maximumSize),
            let time = try? JSONDecoder().decode(DeviceTime.self, from: Data(contents)), !time.isImpossible
        else { return nil }
        return time
    }

    /// Writes the file. If it can't be written, the grace period begins again at the next start.
    private func write(_ time: DeviceTime) {
        guard let data = try? JSONEncoder().encode(time) else { return }
        try? FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        #if canImport(Darwin)
            guard (try? data.write(to: url, options: [.atomic, .noFileProtection])) != nil else { return }
            // Exclude the file from backups: it must not be restored on another device.
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            var url = url
            try? url.setResourceValues(values)
        #else
            try? WholeFile(path: url.path).write(data, replacing: true)
        #endif
    }
}
