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

    @Test func `the status of a regular file has its size, its links and its inode, and nothing else has a status`()
        throws
    {
        let files = FileManager.default
        let (first, second, other) = (folder.path + "/first", folder.path + "/second", folder.path + "/other")
        try WholeFile(path: first).write([1, 2, 3], replacing: true)
        try WholeFile(path: other).write([4], replacing: true)
        let alone = try #require(FileStatus(path: first))
        #expect(alone.size == 3 && alone.linkCount == 1)
        try files.linkItem(atPath: first, toPath: second)
        let linked = try #require(FileStatus(path: second))
        #expect(linked.size == 3 && linked.linkCount == 2 && linked.identifier == alone.identifier)
        let different = try #require(FileStatus(path: other))
        #expect(different.size == 1 && different.linkCount == 1 && different.identifier != alone.identifier)
        try files.createSymbolicLink(atPath: folder.path + "/symbolic", withDestinationPath: first)
        for path in [folder.path, folder.path + "/symbolic", folder.path + "/missing"] {
            #expect(FileStatus(path: path) == nil, "\(path)")
        }
    }

    @Test func `only its owner may read a file that is written, also if others could read the file that it replaces`()
        throws
    {
        let path = folder.path + "/state"
        for replaces in [false, true] {
            if replaces { try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path) }
            try WholeFile(path: path).write([1], replacing: true)
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test func `a file below a file is missing, and a file in a missing folder can't be written`() throws {
        try WholeFile(path: folder.path + "/state").write([1], replacing: true)
        let read = try WholeFile(path: folder.path + "/state/inner").read(maximumSize: 10)
        #expect(read == nil)
        let path = folder.path + "/missing/state"
        let failure = #expect(throws: FileFailure.self) { try WholeFile(path: path).write([1], replacing: true) }
        #expect(failure?.description == "can't create `\(path)` (no such file or directory)")
    }

    @Test func `a pipe is refused without waiting for a writer`() throws {
        let path = folder.path + "/pipe"
        try #require(mkfifo(path, 0o600) == 0)
        let failure = #expect(throws: FileFailure.self) { try WholeFile(path: path).read(maximumSize: 10) }
        #expect(failure?.description == "can't read `\(path)` (it is a pipe or a device; use a regular file)")
    }

    @Test func `an open file can be inspected before it is read as a whole`() throws {
        let file = WholeFile(path: folder.path + "/state")
        try file.write([1, 2, 3], replacing: true)
        var sizes: [Int] = []
        let read = try file.read(maximumSize: 10) { sizes.append(Int(lseek($0, 0, SEEK_END))) }
        #expect(sizes == [3])
        #expect(read == [1, 2, 3])
        let missing = try WholeFile(path: folder.path + "/missing").read(maximumSize: 10) { _ in sizes.append(0) }
        #expect(missing == nil && sizes == [3])
    }
}
