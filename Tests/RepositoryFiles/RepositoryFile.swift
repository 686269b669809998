import Foundation

/// Files of the repository, found from this one: examples, pages and cases lie where people read them.
package enum RepositoryFile {
    package static func bytes(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: self.path(path))))
    }

    package static func path(_ path: String) -> String {
        URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent(path).path
    }
}
