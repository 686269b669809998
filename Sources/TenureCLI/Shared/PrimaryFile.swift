import Foundation
import Logging
import TenurePostgres
import TenureServer

/// The file that records which PostgreSQL server a service last used as the primary (the server that accepts writes).
/// It is in the folder of the service's keys.
///
/// After a failover (another server became the primary), a restarted service may reach only the old primary. Without
/// this file, it would write to the old primary.
struct PrimaryFile {
    let path: String
    /// The logger of the service, which writes the file. Nil for commands, which only read it.
    private let writer: Logger?

    static let name = "postgres-primary.json"
    private static let maximumSize = 4096

    /// - Parameter writer: the logger of the service, for errors when writing the file. Nil to only read the file.
    init(in folder: String, writer: Logger? = nil) {
        path = URL(fileURLWithPath: folder).appendingPathComponent(Self.name).path
        self.writer = writer
    }

    private var folder: String { URL(fileURLWithPath: path).deletingLastPathComponent().path }

    /// How the database's connections read and write the file.
    var storage: PrimaryStorage {
        let (file, path, folder, writer) = (SecretFile(path: path), path, folder, writer)
        return PrimaryStorage(path) {
            guard let contents = try file.contentsIfAny(upTo: Self.maximumSize) else { return nil }
            return try JSONDecoder().decode(KnownPrimary.self, from: Data(contents.bytes))
        } write: { primary in
            // At the first start, write nothing: the folder doesn't exist yet, because the keys are created after the
            // database is opened.
            guard let writer, FileManager.default.fileExists(atPath: folder) else { return }
            do {
                try file.replace(with: Array(try JSONEncoder().encode(primary)) + [UInt8(ascii: "\n")])
            } catch {
                writer.warning(
                    "after a restart, an old PostgreSQL primary might be used: \(error); make the folder writable")
            }
        }
    }
}
