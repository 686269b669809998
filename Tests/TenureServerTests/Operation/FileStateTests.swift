import CommandRunner
import Foundation
import TenureFileAttributes
import Testing

/// The identity and the state of files, by which folders are watched and the same file is found under two names.
@Suite struct FileStateTests {
    private let folder: Folder
    private let file: String
    private let link: String
    private let broken: String

    /// Makes a file of three bytes with a second name, a symbolic link to it, and a broken link.
    init() throws {
        folder = try Folder()
        file = try folder.write("abc", to: "file")
        link = folder.url("link").path
        broken = folder.url("broken").path
        try FileManager.default.linkItem(atPath: file, toPath: folder.url("hard").path)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file)
        try FileManager.default.createSymbolicLink(atPath: broken, withDestinationPath: folder.url("none").path)
    }

    @Test func `all names of a file have its identity, and no other file has it`() throws {
        let identity = try #require(FileIdentity(path: file))
        #expect(identity.kind == .file)
        #expect(FileIdentity(path: folder.url("hard").path) == identity)
        #expect(FileIdentity(path: link) == identity)
        let other = try folder.write("abc", to: "other")
        #expect(FileIdentity(path: other) != identity)
        #expect(FileIdentity(path: folder.path)?.kind == .folder)
        let pipe = folder.url("pipe").path
        try #require(mkfifo(pipe, 0o600) == 0)
        #expect(FileIdentity(path: pipe)?.kind == .other)
        #expect(FileIdentity(path: broken) == nil && FileIdentity(path: folder.url("none").path) == nil)
    }

    @Test func `a broken link exists, and a missing file doesn't`() {
        #expect(FileIdentity.exists(file) && FileIdentity.exists(link) && FileIdentity.exists(broken))
        #expect(!FileIdentity.exists(folder.url("none").path))
    }

    @Test func `the state of a link is its own unless it is followed`() throws {
        let state = try #require(FileState(path: file))
        #expect(state.kind == .file && state.size == 3)
        #expect(FileState(path: link)?.kind == .link)
        #expect(FileState(path: link, followsLinks: true) == state)
        #expect(FileState(path: broken)?.kind == .link)
        #expect(FileState(path: broken, followsLinks: true) == nil)
    }

    @Test func `a file's state changes with its size and with the date of its last change`() throws {
        func state(changedAt seconds: Double) throws -> FileState? {
            let date = Date(timeIntervalSince1970: seconds)
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file)
            return FileState(path: file)
        }
        let first = try #require(try state(changedAt: 1_000_000_000))
        #expect(try state(changedAt: 1_000_000_000) == first)
        #expect(try state(changedAt: 1_000_000_001) != first)
        // Another file of the same size and date.
        let other = try folder.write("abc", to: "other")
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_000_000_000)], ofItemAtPath: other)
        #expect(FileState(path: other) != first)
        let handle = try #require(FileHandle(forWritingAtPath: file))
        defer { try? handle.close() }
        try handle.seekToEnd()
        try handle.write(contentsOf: Data("d".utf8))
        let longer = try #require(try state(changedAt: 1_000_000_000))
        #expect(longer.size == 4 && longer != first)
        // An open file has the state and the identity of its path.
        #expect(FileState(descriptor: handle.fileDescriptor) == longer)
        #expect(FileIdentity(descriptor: handle.fileDescriptor) == FileIdentity(path: file))
    }

    @Test func `an open file that only its owner may read isn't open to others, and a closed one counts as open`()
        throws
    {
        for (mode, isOpen) in [(0o600, false), (0o604, true)] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
            let handle = try #require(FileHandle(forReadingAtPath: file))
            #expect(FilePermissions.areOpenToOthers(handle.fileDescriptor) == isOpen)
            try handle.close()
        }
        #expect(FilePermissions.areOpenToOthers(-1))
        #expect(FilePermissions.owner(ofFileAt: link)?.user == getuid())
        let owner = FilePermissions.owner(ofFileAt: broken)?.user
        #expect(owner == nil)
    }
}
