import CommandRunner
import Foundation
import TenureFiles
import Testing

@testable import Tenure

/// A renamed file survives a loss of power only after its folder was flushed.
@Suite struct `Folders that can't be flushed` {
    @Test func `a file isn't reported as written if its folder can't be flushed`() throws {
        try withUnreadableFolder { folder in
            let file = WholeFile(path: folder + "/state")
            for replacing in [false, true] {
                let failure = #expect(throws: FileFailure.self) { try file.write([1, 2], replacing: replacing) }
                #expect(failure?.operation == "flush the folder of")
            }
            // The file itself is complete, and nothing else is left.
            let bytes = try file.read(maximumSize: 10)
            #expect(bytes == [1, 2])
        }
    }

    @Test func `content that must survive a loss of power isn't reported as stored if its folder can't be flushed`()
        throws
    {
        try withUnreadableFolder { folder in
            #expect(throws: DiskFailure.self) { try Disk.replace(folder + "/state", with: Data([1])) }
            #expect(throws: DiskFailure.self) { try Disk.flushFolder(folder) }
            try Disk.replace(folder + "/state", with: Data([2]), isLasting: false)
        }
    }

    /// `/proc` is a file system that can't flush folders.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self")))
    func `a file system that can't flush folders isn't an error`() throws { try Disk.flushFolder("/proc/self") }
}
