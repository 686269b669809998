import Foundation
import GRDB

/// A consistent copy of a record in SQLite, made while a service goes on writing.
package struct SQLiteBackup: Sendable {
    package let source: String
    package let target: String

    package init(of source: String, to target: String) {
        self.source = source
        self.target = target
    }

    package enum Failure: Error, Sendable, Hashable {
        case noSource(path: String)
        case exists(path: String)
        /// The record that is to be copied, by whatever name.
        case itself(path: String)
        /// A record that somebody has in hand.
        case inUse(path: String)
        case cannotWrite(path: String, detail: String)
        case record(StoreError)
    }

    /// What was copied.
    package struct Receipt: Sendable, Hashable {
        package let customers: Int
        package let artifacts: Int
        /// Bytes of the copy.
        package let size: Int
    }

    /// Complete, flushed and read back, or not there at all.
    ///
    /// The record is copied as it is, whichever release wrote it: a copy is what one makes before an update.
    package func run(replacing: Bool) throws(Failure) -> Receipt {
        guard FileManager.default.fileExists(atPath: source) else { throw .noSource(path: source) }
        guard replacing || !FileManager.default.fileExists(atPath: target) else { throw .exists(path: target) }
        guard !SQLiteFile.areSame(source, target) else { throw .itself(path: target) }
        // A log that is left beside what is replaced would be taken for the copy's.
        if FileManager.default.fileExists(atPath: SQLiteFile.resolved(target) + "-wal") {
            guard SQLiteFile.takesInLog(target) else { throw .inUse(path: target) }
        }
        do throws(StoreError) {
            switch try SQLiteFile.contents(at: source) {
            case .record, .unknown: break
            case .nothing, .noTables: throw .unusable(database: source, detail: "it holds no record")
            }
        } catch .newerDatabase {
            // Copied as it is.
        } catch {
            throw .record(error)
        }
        let aside = "\(target).\(UInt64.random(in: .min ... .max)).partial"
        defer {
            for name in [aside, aside + "-journal", aside + "-wal", aside + "-shm"] { unlink(name) }
        }
        // Before SQLite makes it: people's purchases are nobody else's.
        let descriptor = open(aside, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure() }
        defer { close(descriptor) }
        let receipt: Receipt
        do {
            try copy(to: aside)
            receipt = try verified(aside)
        } catch {
            let error = StoreError(error, path: source)
            // It is the copy that takes room.
            throw error == .full ? .cannotWrite(path: target, detail: "the disk is full") : .record(error)
        }
        // SQLite flushed it while it wrote; what a crash could still take is its name.
        guard fsync(descriptor) == 0 else { throw failure() }
        if replacing {
            guard rename(aside, target) == 0 else { throw failure() }
        } else {
            guard link(aside, target) == 0 else { throw errno == EEXIST ? .exists(path: target) : failure() }
        }
        flushFolder()
        return receipt
    }

    private func copy(to path: String) throws {
        var reading = Configuration()
        reading.label = "backup source"
        reading.busyMode = .timeout(5)
        // A pool reads one state, however much is written meanwhile.
        let pool = try DatabasePool(path: source, configuration: reading)
        let queue = try DatabaseQueue(path: path)
        try pool.backup(to: queue)
        // One file, without a log beside it.
        try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = DELETE") }
        try queue.close()
        try pool.close()
    }

    private func verified(_ path: String) throws -> Receipt {
        var reading = Configuration()
        reading.readonly = true
        let queue = try DatabaseQueue(path: path, configuration: reading)
        let receipt = try queue.read { db in
            let complaint = try String.fetchOne(db, sql: "PRAGMA integrity_check(1)")
            guard complaint == "ok" else { throw StoreError.damaged(complaint ?? "it says nothing of itself") }
            guard try Data.fetchOne(db, sql: "SELECT id FROM database")?.count == 16 else {
                throw StoreError.damaged("`\(source)` does not say which record it is")
            }
            let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber
            return Receipt(
                customers: try Int.fetchOne(db, sql: "SELECT count(*) FROM customers") ?? 0,
                artifacts: try Int.fetchOne(db, sql: "SELECT count(*) FROM artifacts") ?? 0, size: size?.intValue ?? 0)
        }
        try queue.close()
        return receipt
    }

    private func flushFolder() {
        let folder = (target as NSString).deletingLastPathComponent
        let descriptor = open(folder.isEmpty ? "." : folder, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    private func failure() -> Failure {
        .cannotWrite(path: target, detail: String(cString: strerror(errno)).lowercased())
    }
}

extension SQLiteBackup.Failure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noSource(let path): "there is no record at `\(path)`; name the database of your service by --database"
        case .exists(let path): "`\(path)` is there already; choose another name, or replace it by --force"
        case .itself(let path): "`\(path)` is the record itself; choose another name"
        case .inUse(let path):
            "`\(path)` is a database that something else has open; stop that first, or choose another name"
        case .cannotWrite(let path, let detail):
            "`\(path)` cannot be written (\(detail)); check the folder and who may write to it"
        case .record(let error): error.description
        }
    }
}
