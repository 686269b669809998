import CommandRunner
import Foundation
import TenureFiles
import Testing

@Suite struct `Files that are read and written as a whole` {
    private let folder: Folder

    init() throws { folder = try Folder() }

    @Test func `a file isn't reported as written, and leaves no temporary file, if a folder has its name`() throws {
        let path = folder.path + "/state"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let failure = #expect(throws: FileFailure.self) { try WholeFile(path: path).write([1], replacing: true) }
        #expect(failure?.operation == "rename a temporary file to")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["state"])
    }

    @Test func `a file that must not be replaced keeps its contents`() throws {
        let file = WholeFile(path: folder.path + "/state")
        for (bytes, replacing, expected) in [([1, 2], false, [1, 2]), ([3], false, [1, 2]), ([3], true, [3])]
            as [([UInt8], Bool, [UInt8])]
        {
            try file.write(bytes, replacing: replacing)
            let read = try file.read(maximumSize: 10)
            #expect(read == expected)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["state"])
    }

    @Test func `a folder can't be read as a file, and a missing file is nil`() throws {
        let failure = #expect(throws: FileFailure.self) { try WholeFile(path: folder.path).read(maximumSize: 10) }
        #expect(failure?.operation == "read")
        let missing = try WholeFile(path: folder.path + "/state").read(maximumSize: 10)
        #expect(missing == nil)
    }

    @Test func `a file larger than the maximum size is read with one byte more than the maximum`() throws {
        let file = WholeFile(path: folder.path + "/state")
        try file.write([1, 2, 3, 4, 5], replacing: true)
        for (maximum, count) in [(6, 5), (5, 5), (4, 5), (3, 4), (0, 1)] {
            let read = try file.read(maximumSize: maximum)
            #expect(read?.count == count, "\(maximum) bytes")
        }
    }
}
