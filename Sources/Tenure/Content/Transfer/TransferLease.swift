import Foundation
import TenureCore

/// A lease that lets only one process at a time download: the app or one of its extensions.
///
/// A file lock can't be used, because the system terminates an app that is suspended while it holds a file lock.
/// Instead, the holder of the lease renews a small file each second. If the holder is suspended or killed, it doesn't
/// renew the file, and another process takes over. A holder that resumes afterward notices the new holder before it
/// writes.
final class TransferLease: Sendable {
    /// The contents of the lease's file: which process has the lease, and how far its download is.
    struct Holder: Codable, Sendable, Hashable {
        /// The ID of one `Tenure` in one process.
        let id: String
        /// The process ID.
        let process: Int32
        /// The name of the pack that this process is downloading.
        let pack: String
        /// The number of renewals. While this number grows, other processes know that the holder is running.
        var beat = 0
        /// The progress of the download: how many of `total` bytes are downloaded.
        var bytes: Int64 = 0
        var total: Int64 = 0
        var isInstalling = false
    }

    /// The error after another process has taken over the lease.
    struct Lost: Error {}

    private struct State: Sendable {
        /// What this object wrote last. Nil if it doesn't have the lease.
        var ownHolder: Holder?
        var renewedAt = ContinuousClock.now
        /// What another holder wrote last, and when this process first read it.
        var seenHolder: Holder?
        var seenHolderSince = SuspendingClock.now
    }

    private let store: PackStore
    private let id = UUID().uuidString
    private let state = Locked(State())
    /// The IDs of all leases of this process.
    private static let idsOfThisProcess = Locked<Set<String>>([])

    /// The time between two renewals, in seconds.
    static let renewalInterval: Double = 1
    /// After this time without a renewal, the holder reads the file to check whether it still has the lease. The time
    /// is measured with a clock that continues while the device sleeps.
    private static let checkInterval = Duration.seconds(3)
    /// After this time without a renewal, another process may take over.
    private static let lifetime = Duration.seconds(6)

    init(store: PackStore) {
        self.store = store
        Self.idsOfThisProcess.withLock { _ = $0.insert(id) }
    }

    deinit {
        Self.idsOfThisProcess.withLock { _ = $0.remove(id) }
        release()
    }

    private var path: String { store.location.durableFolder.path + "/transfer.json" }

    private func read() -> Holder? { Disk.decoded(Holder.self, at: path, maximumSize: 4096) }

    /// Records that this object has the lease from now on, or still has it.
    private func noteRenewal(_ holder: Holder) {
        state.withLock { state in
            state.ownHolder = holder
            state.renewedAt = .now
        }
    }

    /// Takes the lease, to download a pack. Returns false if another process has it.
    func acquire(for pack: String) throws -> Bool {
        try ContentLocation.make(store.location.durableFolder)
        return try store.withLock {
            guard otherHolder == nil else { return false }
            let holder = Holder(id: id, process: getpid(), pack: pack)
            try Disk.replace(path, with: try JSONEncoder().encode(holder), isLasting: false)
            noteRenewal(holder)
            return true
        }
    }

    /// The holder of the lease, if it isn't this object.
    var otherHolder: Holder? {
        guard let holder = read(), holder.id != id else { return nil }
        // Ignore a process that has ended. Its process ID may be the same as this process's.
        let isOfThisProcess = Self.idsOfThisProcess.withLock { $0.contains(holder.id) }
        guard isOfThisProcess || (holder.process != getpid() && VersionUse.isRunning(holder.process))
        else { return nil }
        return state.withLock { state in
            if state.seenHolder != holder { (state.seenHolder, state.seenHolderSince) = (holder, .now) }
            return .now - state.seenHolderSince < Self.lifetime ? holder : nil
        }
    }

    /// Renews the lease, and stores the download's progress for other processes.
    func renew(_ change: (inout Holder) -> Void = { _ in }) throws {
        guard var mine = state.withLock({ $0.ownHolder }) else { throw Lost() }
        change(&mine)
        mine.beat += 1
        try store.withLock {
            guard read()?.id == id else { throw Lost() }
            do throws(DiskFailure) {
                try Disk.replace(path, with: (try? JSONEncoder().encode(mine)) ?? Data(), isLasting: false)
            } catch {
                // If the disk is full, no other process can write the file either, so none can take over.
                if error != .full { throw error }
            }
        }
        noteRenewal(mine)
    }

    /// Checks that this object still has the lease, unless it was renewed within `checkInterval`.
    ///
    /// - Throws: `Lost` if another process has taken over.
    func confirm() throws {
        let isRecent = state.withLock { $0.ownHolder != nil && ContinuousClock.now - $0.renewedAt < Self.checkInterval }
        if !isRecent { try renew() }
    }

    /// Gives up the lease, if this object has it.
    func release() {
        guard state.withLock({ $0.ownHolder }) != nil else { return }
        try? store.withLock {
            if read()?.id == id { Disk.remove(path) }
        }
        state.withLock { $0.ownHolder = nil }
    }
}
