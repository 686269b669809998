import CSQLite
import Foundation
import TenureFileAttributes

/// Compares the files of an open database with the files at their paths, so that a replaced file is noticed. One caller
/// at a time may use an object of this class.
///
/// An SQLite database in use has three files: the database itself, the *log* (the write-ahead log, `-wal`), and the
/// *index* of the log, which processes share in memory (`-shm`).
///
/// The header is read through SQLite's own descriptor. A descriptor of this class would drop SQLite's locks when it
/// closes (https://www.sqlite.org/howtocorrupt.html, section 2.2).
final class SQLiteOpenFiles {
    /// The path of the database, without symbolic links.
    let path: String
    /// The connection that writes to the open database.
    let connection: SQLiteConnection
    /// The open files: the database, its log and the log's index. If the configured path is a link, also the link.
    private let files: [(path: String, identity: FileIdentity)]
    /// The first `startSize` bytes of the file's header, which don't change while the database is open.
    private let start: ArraySlice<UInt8>
    /// The copy numbers (`SQLiteCopyNumber`) that the file's header may have: the current number, and the number that
    /// the file has until a checkpoint writes the log into it.
    private let acceptedCopyNumbers: Set<UInt32>
    /// The size of the file in bytes when its header was last found unchanged.
    private var size: sqlite3_int64 = 0

    /// - Parameters:
    ///   - configured: the path in the configuration, which may be a link.
    ///   - identity: the file at that path before the first connection opened it.
    ///   - connection: has read from the database, so that all files exist.
    init(configured: String, identity: FileIdentity?, connection: SQLiteConnection) throws(StoreError) {
        path = SQLiteFile.resolved(configured)
        self.connection = connection
        var files: [(path: String, identity: FileIdentity)] = []
        let names = (path == configured ? [] : [configured]) + [path, path + Self.logSuffix, path + Self.indexSuffix]
        for name in names {
            guard let identity = FileIdentity(path: name) else { throw Self.changed(name) }
            files.append((name, identity))
        }
        self.files = files
        guard identity == nil || identity == files.first?.identity else { throw Self.changed(configured) }
        guard let header = Self.header(connection) else { throw Self.changed(path) }
        start = header[..<Self.startSize]
        acceptedCopyNumbers = [UInt32(bitPattern: try SQLiteCopyNumber.read(connection)), Self.number(in: header)]
    }

    /// The error for a file that was replaced while this object was created.
    private static func changed(_ path: String) -> StoreError {
        .failed("`\(path)` was replaced while it was opened; try again")
    }

    /// The suffix of the log's path.
    static let logSuffix = "-wal"
    /// The suffix of the path of the log's index.
    static let indexSuffix = "-shm"

    /// Returns what happened to the first file that was replaced; nil if all paths still lead to the open files.
    func replacement() -> FileReplacement? {
        for (path, identity) in files {
            guard let current = FileIdentity(path: path) else {
                // Another error, such as a folder without access, doesn't mean that the file was replaced.
                if errno == ENOENT || errno == ENOTDIR { return FileReplacement(change: .missing, path: path) }
                continue
            }
            guard current == identity else { return FileReplacement(change: .another, path: path) }
        }
        // Check twice, because another process may be writing at this moment.
        if !isHeaderUnchanged(), !isHeaderUnchanged() { return FileReplacement(change: .overwritten, path: path) }
        // If the index was deleted just now, the next check reports it as missing.
        if let index = FileState(path: path + Self.indexSuffix, followsLinks: true), index.size < Self.indexSize {
            return FileReplacement(change: .overwritten, path: path + Self.indexSuffix)
        }
        // Check the log twice, too: another process may be writing at this moment.
        if isLogComplete() || isLogComplete() { return nil }
        return FileReplacement(change: .overwritten, path: path + Self.logSuffix)
    }

    /// Whether the file at a path is one of the open files.
    func isOpen(_ path: String) -> Bool {
        guard let current = FileIdentity(path: path) else { return false }
        return files.contains { $0.path == path && $0.identity == current }
    }

    /// Whether only the index was replaced. The database and its log are complete then, so a restart loses nothing:
    /// SQLite makes a new index.
    func isOnlyIndexReplaced(in replacement: FileReplacement) -> Bool {
        replacement.path == path + Self.indexSuffix && isOpen(path) && isOpen(path + Self.logSuffix)
            && isHeaderUnchanged()
    }

    // MARK: Header

    /// The size of `start`: everything before the file change counter
    /// (https://www.sqlite.org/fileformat2.html, section 1.3).
    private static let startSize = 24
    /// The offset of the copy number (`user_version`) in the header.
    private static let numberOffset = 60
    private static let headerSize = 100

    /// Whether the file's header is still that of the open database, and the file wasn't truncated. The start of the
    /// header must be the same, and its copy number must be accepted.
    private func isHeaderUnchanged() -> Bool {
        guard let header = Self.header(connection) else { return false }
        let number = Self.number(in: header)
        guard header[..<Self.startSize] == start, acceptedCopyNumbers.contains(number) else { return false }
        let currentSize = Self.file(SQLITE_FCNTL_FILE_POINTER, of: connection).flatMap { Self.size(of: $0) } ?? size
        // The file may be shorter than before if another process has run VACUUM, but never shorter than the database.
        guard currentSize >= min(size, contentSize ?? size) else { return false }
        size = currentSize
        return true
    }

    /// The size of the database in bytes, according to the index; nil if the index has no number of pages.
    private var contentSize: sqlite3_int64? {
        guard let pages = indexHeader().map({ Self.number(at: Self.pageCount, in: $0) }), pages > 0 else { return nil }
        return sqlite3_int64(pages) * sqlite3_int64(pageSize)
    }

    /// Returns the size of an open file in bytes; nil if the system doesn't report it.
    private static func size(of file: UnsafeMutablePointer<sqlite3_file>) -> sqlite3_int64? {
        var size: sqlite3_int64 = 0
        return file.pointee.pMethods?.pointee.xFileSize?(file, &size) == SQLITE_OK ? size : nil
    }

    /// The header in the database's file; nil if the file is shorter. The log may have a newer header, which SQLite
    /// reads instead.
    private static func header(_ connection: SQLiteConnection) -> [UInt8]? {
        file(SQLITE_FCNTL_FILE_POINTER, of: connection).flatMap { bytes(headerSize, of: $0) }
    }

    /// Returns SQLite's own handle of an open file; nil if SQLite has no such file open.
    ///
    /// - Parameter pointer: `SQLITE_FCNTL_FILE_POINTER` for the database, or `SQLITE_FCNTL_JOURNAL_POINTER` for the
    ///   log.
    private static func file(_ pointer: Int32, of connection: SQLiteConnection) -> UnsafeMutablePointer<sqlite3_file>? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        return sqlite3_file_control(connection.handle, "main", pointer, &file) == SQLITE_OK ? file : nil
    }

    /// Returns the first bytes of a file; nil if the file is shorter.
    private static func bytes(_ count: Int, of file: UnsafeMutablePointer<sqlite3_file>) -> [UInt8]? {
        guard let read = file.pointee.pMethods?.pointee.xRead else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        return read(file, &bytes, Int32(count), 0) == SQLITE_OK ? bytes : nil
    }

    /// The copy number in a header, most significant byte first.
    private static func number(in header: [UInt8]) -> UInt32 {
        header[numberOffset..<numberOffset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    // MARK: Log

    // The sizes and offsets are in bytes; https://www.sqlite.org/walformat.html describes both formats.

    /// The smallest size of an index.
    private static let indexSize = 32_768
    private static let logHeaderSize = 32
    /// The size of what comes before each page in the log.
    private static let frameHeaderSize = 24
    /// The offset of the number of frames in the index (`mxFrame`).
    private static let lastFrame = 16
    /// The offset of the number of the database's pages in the index (`nPage`).
    private static let pageCount = 20
    /// The position of the salt in the index: random bytes that the log's header has too, unless the index belongs to
    /// another log.
    private static let indexSalt = 32..<40
    /// The position of the salt in the log's header.
    private static let logSalt = 16..<24

    /// Whether the log is long enough for the number of frames in the index, and its header has the index's salt.
    private func isLogComplete() -> Bool {
        guard let index = indexHeader() else { return true }
        let frames = Self.number(at: Self.lastFrame, in: index)
        // SQLite writes the header of an empty log with its first frame.
        guard frames > 0 else { return true }
        guard let file = Self.file(SQLITE_FCNTL_JOURNAL_POINTER, of: connection),
            let header = Self.bytes(Self.logHeaderSize, of: file)
        else { return false }
        guard let size = Self.size(of: file) else { return true }
        let minimumSize = Self.logHeaderSize + Int(frames) * (Self.frameHeaderSize + pageSize)
        return header[Self.logSalt].elementsEqual(index[Self.indexSalt]) && size >= minimumSize
    }

    /// Returns the number at an offset in the index, which has the byte order of the machine.
    private static func number(at offset: Int, in index: [UInt8]) -> UInt32 {
        index[offset..<offset + 4].withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
    }

    /// The size of a page in bytes. The header has two bytes for it, in which 1 means 65,536.
    private var pageSize: Int {
        let size = Int(start[16]) << 8 | Int(start[17])
        return size == 1 ? 65_536 : size
    }

    /// Returns the header of the log's index, of which the index has two copies with 48 bytes each. Nil if the copies
    /// differ, because another connection is writing the header, or if the index can't be read.
    private func indexHeader() -> [UInt8]? {
        guard let file = Self.file(SQLITE_FCNTL_FILE_POINTER, of: connection),
            let map = file.pointee.pMethods?.pointee.xShmMap
        else { return nil }
        var region: UnsafeMutableRawPointer?
        guard map(file, 0, Int32(Self.indexSize), 0, &region) == SQLITE_OK, let region else { return nil }
        let (first, second) = (
            [UInt8](UnsafeRawBufferPointer(start: region, count: 48)),
            [UInt8](UnsafeRawBufferPointer(start: region + 48, count: 48))
        )
        return first == second ? first : nil
    }
}
