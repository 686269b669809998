import Foundation
import TenureCore

/// Which process downloads now: the app and its extensions share one transfer.
///
/// No lock is held meanwhile, because the system ends an app that is suspended with a lock. Instead the holder renews a
/// small file each second. A holder that was suspended or killed doesn't, and another process takes over. When the
/// first one goes on, it notices before it writes.
final class TransferLease: Sendable {
    struct Holder: Codable, Sendable, Hashable {
        /// The ID of one `Tenure` in one process.
        let id: String
        let process: Int32
        let pack: String
        var beat = 0
        var bytes: Int64 = 0
        var total: Int64 = 0
        var isInstalling = false
    }

    /// Another process downloads.
    struct Lost: Error {}

    private struct State: Sendable {
        var mine: Holder?
        var renewed = ContinuousClock.now
        /// Another holder, and since when it hasn't renewed.
        var seen: Holder?
        var seenSince = SuspendingClock.now
    }

    private let store: PackStore
    private let id = UUID().uuidString
    private let state = Locked(State())
    /// Those of this process.
    private static let own = Locked<Set<String>>([])

    /// In seconds.
    static let renewalInterval: Double = 1
    /// After this time without a renewal, the holder looks whether it still is one. Clocks of this kind go on during
    /// sleep.
    private static let trust = Duration.seconds(3)
    /// After this time without a renewal, others take over.
    private static let lifetime = Duration.seconds(6)

    init(store: PackStore) {
        self.store = store
        Self.own.withLock { _ = $0.insert(id) }
    }

    deinit {
        Self.own.withLock { _ = $0.remove(id) }
        release()
    }

    private var path: String { store.location.durable.path + "/transfer.json" }

    private func read() -> Holder? {
        Disk.contents(of: path, most: 4096).flatMap { try? JSONDecoder().decode(Holder.self, from: $0) }
    }

    private func write(_ holder: Holder) throws {
        try Disk.replace(path, with: try JSONEncoder().encode(holder), isLasting: false)
        state.withLock { state in
            state.mine = holder
            state.renewed = .now
        }
    }

    /// Becomes the holder, for a pack. Returns false while another process is.
    func take(for pack: String) throws -> Bool {
        try ContentLocation.make(store.location.durable)
        return try store.withLock {
            guard other == nil else { return false }
            try write(Holder(id: id, process: getpid(), pack: pack))
            return true
        }
    }

    /// The other process that downloads now.
    var other: Holder? {
        guard let holder = read(), holder.id != id else { return nil }
        let isOfThisProcess = Self.own.withLock { $0.contains(holder.id) }
        guard isOfThisProcess || holder.process != getpid() && VersionUse.isRunning(holder.process) else { return nil }
        return state.withLock { state in
            if state.seen != holder { (state.seen, state.seenSince) = (holder, .now) }
            return .now - state.seenSince < Self.lifetime ? holder : nil
        }
    }

    /// Goes on being the holder, and tells others how far the download is.
    func renew(_ change: (inout Holder) -> Void = { _ in }) throws {
        guard var mine = state.withLock({ $0.mine }) else { throw Lost() }
        change(&mine)
        mine.beat += 1
        let renewed = mine
        try store.withLock {
            guard read()?.id == id else { throw Lost() }
            do throws(DiskFailure) {
                try Disk.replace(path, with: (try? JSONEncoder().encode(renewed)) ?? Data(), isLasting: false)
            } catch {
                // On a full disk, no other process could write either.
                if error != .full { throw error }
            }
        }
        state.withLock { state in
            state.mine = renewed
            state.renewed = .now
        }
    }

    /// - Throws: `Lost` if another process has taken over.
    func confirm() throws {
        let isRecent = state.withLock { $0.mine != nil && ContinuousClock.now - $0.renewed < Self.trust }
        if !isRecent { try renew() }
    }

    func release() {
        guard state.withLock({ $0.mine }) != nil else { return }
        try? store.withLock {
            if read()?.id == id { Disk.remove(path) }
        }
        state.withLock { $0.mine = nil }
    }
}
