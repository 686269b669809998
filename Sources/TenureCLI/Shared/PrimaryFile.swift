import Foundation
import TenurePostgres
import TenureServer

/// The file beside a service's keys that says which PostgreSQL server was the primary when the service last used one.
///
/// Without it, a service that restarts while it reaches only the old primary of a failover would write to that one.
struct PrimaryFile {
    let path: String
    /// Whether to write the file. Commands that use the service's database only read it.
    let isWritten: Bool

    static let name = "postgres-primary.json"
    private static let largest = 4096

    init(in folder: String, isWritten: Bool) {
        path = URL(fileURLWithPath: folder).appendingPathComponent(Self.name).path
        self.isWritten = isWritten
    }

    private var folder: String { URL(fileURLWithPath: path).deletingLastPathComponent().path }

    /// Whether the folder exists, and may not be written to.
    var isUnwritable: Bool {
        FileManager.default.fileExists(atPath: folder) && !FileManager.default.isWritableFile(atPath: folder)
    }

    var memory: PrimaryMemory {
        let (file, folder, isWritten) = (SecretFile(path: path), folder, isWritten)
        return PrimaryMemory(path) {
            guard let contents = try file.contentsIfAny(upTo: Self.largest) else { return nil }
            return try JSONDecoder().decode(KnownPrimary.self, from: Data(contents.bytes))
        } write: { primary in
            // The first start creates the folder with the keys, after it has opened the database.
            guard isWritten, FileManager.default.fileExists(atPath: folder) else { return }
            try file.replace(with: Array(try JSONEncoder().encode(primary)) + [UInt8(ascii: "\n")])
        }
    }
}
