import Foundation
import Logging
import TenurePostgres
import TenureServer

/// The file beside a service's keys that says which PostgreSQL server was the primary when the service last used one.
///
/// Without it, a service that restarts while it reaches only the old primary of a failover would write to that one.
struct PrimaryFile {
    let path: String
    /// Nil for commands that use the service's database: they only read the file.
    private let writer: Logger?

    static let name = "postgres-primary.json"
    private static let largest = 4096

    /// - Parameter writer: The service writes the file, and logs if it can't.
    init(in folder: String, writer: Logger? = nil) {
        path = URL(fileURLWithPath: folder).appendingPathComponent(Self.name).path
        self.writer = writer
    }

    private var folder: String { URL(fileURLWithPath: path).deletingLastPathComponent().path }

    var storage: PrimaryStorage {
        let (file, path, folder, writer) = (SecretFile(path: path), path, folder, writer)
        return PrimaryStorage(path) {
            guard let contents = try file.contentsIfAny(upTo: Self.largest) else { return nil }
            return try JSONDecoder().decode(KnownPrimary.self, from: Data(contents.bytes))
        } write: { primary in
            // The first start creates the folder with the keys, after it has opened the database.
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
