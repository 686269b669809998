import CommandRunner
import Foundation
import TenureContent
import Testing

@testable import Tenure

@Suite struct `Files on the device's disk` {
    private let folder: Folder

    init() throws { folder = try Folder() }

    private func path(_ name: String) -> String { folder.path + "/" + name }

    // MARK: Failures

    @Test func `a full disk or quota is recognized, and any other failure names the call and the file`() {
        for code in [ENOSPC, EDQUOT] {
            errno = code
            let failure = DiskFailure("write", "/a")
            #expect(failure == .full)
        }
        errno = EACCES
        let failure = DiskFailure("write", "/a")
        #expect(failure == .failed("can't write `/a` (permission denied)"))
        #expect(failure.description == "can't write `/a` (permission denied)")
        #expect(DiskFailure.full.description == "no space is left on the device")
    }

    @Test func `each file operation that fails throws an error with the file's path`() throws {
        let missing = path("missing")
        func failure(
            _ operation: String, _ path: String, _ reason: String = "no such file or directory"
        ) -> DiskFailure {
            .failed("can't \(operation) `\(path)` (\(reason))")
        }
        #expect(throws: failure("rename", missing)) { try Disk.move(missing, to: path("other")) }
        #expect(throws: failure("link", missing)) { try Disk.addLink(missing, as: path("other")) }
        #expect(throws: failure("open", missing)) { try Disk.flushFile(missing) }
        #expect(throws: failure("flush", missing)) { try Disk.flushFolder(missing) }
        #expect(throws: failure("create", missing + "/a")) { try Disk.replace(missing + "/a", with: Data()) }
        let below = try folder.write("", to: "file") + "/sub"
        #expect(throws: failure("create", below, "not a directory")) { try Disk.makeFolder(below) }
    }

    @Test func `a replaced file is readable only by its owner, and a failed replacement leaves no temporary file`()
        throws
    {
        for text in ["first", "second"] {
            try Disk.replace(path("file"), with: Data(text.utf8))
            #expect(try folder.text("file") == text)
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: path("file"))
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        try Disk.makeFolder(path("taken"))
        #expect(throws: DiskFailure.self) { try Disk.replace(path("taken"), with: Data()) }
        #expect(Disk.names(in: folder.path).sorted() == ["file", "taken"])
    }

    // MARK: Reading and writing

    @Test func `a file is read only if it has at most the maximum size`() throws {
        let file = try folder.write("[1,2]", to: "file")
        #expect(Disk.contents(of: file, maximumSize: 5) == Data("[1,2]".utf8))
        #expect(Disk.contents(of: file, maximumSize: 4) == nil)
        #expect(Disk.decoded([Int].self, at: file, maximumSize: 5) == [1, 2])
        #expect(Disk.decoded([Int].self, at: file, maximumSize: 4) == nil)
        #expect(Disk.decoded([String].self, at: file, maximumSize: 5) == nil)
    }

    @Test func `a part of a file is read in order, and a file that ends before the part is noticed`() throws {
        let contents = ContentTestBed.bytes(600_000)
        try contents.write(to: folder.url("file"))
        let descriptor = open(path("file"), O_RDONLY)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        for (range, isWhole) in [
            (2..<5, true), (0..<600_000, true), (7..<599_999, true), (599_999..<600_001, false), (4..<4, true),
        ] as [(Range<Int64>, Bool)] {
            var bytes: [UInt8] = []
            let result = try Disk.read(range, of: descriptor, path("file")) { bytes += $0 }
            #expect(result == isWhole, "\(range)")
            #expect(bytes == Array(contents[Int(range.lowerBound)..<min(600_000, Int(range.upperBound))]), "\(range)")
        }
    }

    @Test func `bytes are written at their offset, and the rest of the file stays`() throws {
        let file = try folder.write("0123456789", to: "file")
        let descriptor = open(file, O_WRONLY)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        try Disk.write(Data("xyz".utf8)[1...], to: descriptor, at: 3, file)
        #expect(try folder.text("file") == "012yz56789")
    }

    @Test func `the size of a folder counts a file with two names once`() throws {
        try folder.write("abc", to: "a")
        try Disk.addLink(path("a"), as: path("b"))
        try Disk.makeFolder(path("sub"))
        try folder.write("12345", to: "sub/c")
        #expect(Disk.size(below: folder.path) == 8)
        #expect(Disk.size(below: path("missing")) == 0)
    }

    // MARK: Locks and descriptors

    @Test func `a lock is free again after its body has thrown, and a lock without a folder can't be opened`() throws {
        struct Failed: Error {}
        let lock = InterProcessLock(path: path("lock"))
        #expect(throws: Failed.self) { try lock.withLock { () throws -> Void in throw Failed() } }
        #expect(try lock.withLock { 7 } == 7)
        let missing = path("missing/lock")
        #expect(throws: StateStorageError.lockUnavailable(path: missing, reason: "no such file or directory")) {
            try InterProcessLock(path: missing).withLock { () throws -> Void in }
        }
    }

    #if os(Linux)
        /// The number of files in the folder that this process has open.
        private func openFiles() throws -> Int {
            let name = "/" + (folder.path as NSString).lastPathComponent + "/"
            return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { descriptor in
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
                return target?.contains(name) == true
            }
        }

        @Test func `no file stays open after it was read, written, flushed, compared or locked`() throws {
            struct Failed: Error {}
            let file = path("file")
            try Disk.replace(file, with: Data("abc".utf8))
            try Disk.makeFolder(path("taken"))
            try? Disk.replace(path("taken"), with: Data("abc".utf8))
            _ = Disk.contents(of: file, maximumSize: 3)
            try Disk.flushFile(file)
            let lock = InterProcessLock(path: path("lock"))
            try lock.withLock { () throws -> Void in }
            try? lock.withLock { () throws -> Void in throw Failed() }
            for (size, text) in [(3, "abc"), (3, "abd"), (4, "abcd")] {
                let digest = ContentDigest(of: Data(text.utf8))
                let entry = PackManifest.File(
                    path: "file", offset: 512, size: Int64(size), digest: digest, chunks: [digest])
                #expect(entry.hasContents(at: file) == (text == "abc"), "\(text)")
            }
            #expect(try openFiles() == 0)
            let descriptor = open(file, O_RDONLY)
            #expect(try openFiles() == 1)
            close(descriptor)
        }
    #endif
}
