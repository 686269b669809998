import Foundation

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

    /// Complete, flushed and read back, or not there at all.
    ///
    /// The record is copied as it is, whichever release wrote it: a copy is what one makes before an update.
    package func run(replacing: Bool) throws(Failure) -> SQLiteCopy.Contents {
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
        return try copy(replacing: replacing)
    }

    private func copy(replacing: Bool) throws(Failure) -> SQLiteCopy.Contents {
        let connection: SQLiteConnection
        do throws(StoreError) {
            // For writing, so that no log is left beside a database that nothing else has open.
            connection = try SQLiteConnection(path: SQLiteFile.resolved(source), for: .writing)
        } catch {
            throw .record(error)
        }
        do throws(SQLiteCopy.Failure) {
            return try SQLiteCopy(target: target).write(from: connection, replacing: replacing)
        } catch {
            switch error {
            case .exists: throw .exists(path: target)
            case .cannotWrite(let detail): throw .cannotWrite(path: target, detail: detail)
            case .store(let error): throw .record(error)
            }
        }
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
