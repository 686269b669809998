import Foundation

/// File systems on which SQLite's locks and shared memory don't work (https://www.sqlite.org/wal.html, section 1).
enum NetworkFileSystem {
    /// Returns an error if the path is on such a file system; otherwise nil.
    static func objection(to path: String) -> StoreError? { type(at: path).flatMap { objection(to: path, ofType: $0) } }

    /// Returns an error if SQLite doesn't work on a file system of this type; otherwise nil.
    static func objection(to path: String, ofType type: String) -> StoreError? {
        guard refusedTypes.contains(type) else { return nil }
        return .unusable(
            database: path,
            detail: """
                it is on a network file system (\(type)), on which SQLite loses data; move it to a local disk, or use \
                PostgreSQL
                """)
    }

    /// The types of NFS and SMB, as Linux and macOS name them.
    private static let refusedTypes: Set<String> = ["nfs", "nfs4", "cifs", "smb3", "smb2", "smbfs"]

    #if os(Linux)
        /// The type of the file system at a path, or of its folder if nothing is there yet.
        private static func type(at path: String) -> String? {
            // The table of the mounts that this process sees. The C library's `statfs` isn't available in Swift on
            // Linux.
            guard let status = status(at: path),
                let table = FileManager.default.contents(atPath: "/proc/self/mountinfo")
            else { return nil }
            return type(ofDevice: UInt64(status.st_dev), in: String(decoding: table, as: UTF8.self))
        }

        /// The status of the file at a path, or of its folder if there is no such file.
        private static func status(at path: String) -> stat? {
            var status = stat()
            if stat(path, &status) == 0 { return status }
            let folder = (path as NSString).deletingLastPathComponent
            return stat(folder.isEmpty ? "." : folder, &status) == 0 ? status : nil
        }

        /// Finds the line of a device, such as `36 35 98:0 /a /b rw,noatime master:1 - ext3 /dev/root rw`, and returns
        /// the type after the dash. `man 5 proc` describes the table.
        static func type(ofDevice device: UInt64, in table: String) -> String? {
            // The numbers that C's macros `major` and `minor` return. Swift doesn't import them.
            let major = ((device >> 8) & 0xFFF) | ((device >> 32) & 0xFFFF_F000)
            let minor = (device & 0xFF) | ((device >> 12) & 0xFFFF_FF00)
            for line in table.split(separator: "\n") {
                let fields = line.split(separator: " ")
                guard fields.count > 2, fields[2] == "\(major):\(minor)", let dash = fields.firstIndex(of: "-"),
                    fields.indices.contains(dash + 1)
                else { continue }
                return String(fields[dash + 1])
            }
            return nil
        }
    #else
        private static func type(at path: String) -> String? {
            var status = statfs()
            let folder = (path as NSString).deletingLastPathComponent
            guard statfs(path, &status) == 0 || statfs(folder.isEmpty ? "." : folder, &status) == 0 else { return nil }
            return withUnsafeBytes(of: &status.f_fstypename) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
        }
    #endif
}
