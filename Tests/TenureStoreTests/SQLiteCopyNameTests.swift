import Foundation
import Testing

@testable import TenureStore

@Suite struct SQLiteCopyNameTests {
    @Test func `a copy of an SQLite database gets a name that no existing file has`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tenure-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("tenure.sqlite.replaced").path
        for name in [path, path + "-2", path + "-3", path + "-4"] {
            #expect(SQLiteCopy.freeName(path) == name)
            try Data().write(to: URL(fileURLWithPath: name))
        }
    }
}
