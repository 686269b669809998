import Foundation
import Testing

@testable import Tenure

struct StateFolderTests {
    @Test func `only the owner of the local state may read its folder`() throws {
        let parent = FileManager.default.temporaryDirectory.appendingPathComponent("tenure-" + UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: parent) }
        let folder = parent.appendingPathComponent("state")
        try FileStateStorage(folder: folder).update { _ in Data("state".utf8) }
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o700)
    }
}
