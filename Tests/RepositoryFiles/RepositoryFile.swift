import Foundation

/// Finds files of the repository by the path of this file: examples, pages of the documentation, and test cases.
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
