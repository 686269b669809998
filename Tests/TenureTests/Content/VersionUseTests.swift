import CommandRunner
import Foundation
import Testing

@testable import Tenure

@Suite struct `Markers of processes that use a pack version` {
    private let folder: Folder
    private let now = InventedApp.now

    init() throws {
        folder = try Folder()
        try FileManager.default.createDirectory(atPath: folder.path + "/users", withIntermediateDirectories: true)
    }

    private func mark(_ name: String, _ contents: String) throws { try folder.write(contents, to: "users/" + name) }

    private var names: [String] { Disk.names(in: folder.path + "/users").sorted() }

    @Test(arguments: [(0, true), (604_799, true), (604_800, false), (-604_799, true), (-604_800, false)])
    func `a marker of another process counts for less than a week, before or after its date`(age: Int, isUsed: Bool)
        throws
    {
        let name = "0123.\(getppid())"
        try mark(name, "\(now.timeIntervalSince1970 - Double(age))")
        #expect(VersionUse.isUsed("0123", inFolder: folder.path, at: now) == isUsed)
        #expect(names == (isUsed ? [name] : []))
    }

    // An earlier process had the ID of this process, or no process has the ID.
    @Test(arguments: ["\(getpid())", "999999999", "0", "-1", "x", ""])
    func `a marker of a process that doesn't run is removed`(process: String) throws {
        try mark("0123." + process, "\(now.timeIntervalSince1970)")
        #expect(!VersionUse.isUsed("0123", inFolder: folder.path, at: now))
        #expect(names == [])
    }

    @Test func `a marker without a date is removed`() throws {
        for contents in ["", "today", String(repeating: "1", count: 65)] {
            try mark("0123.\(getppid())", contents)
            #expect(!VersionUse.isUsed("0123", inFolder: folder.path, at: now))
            #expect(names == [])
        }
    }

    @Test func `a marker of another version doesn't count, and stays`() throws {
        let others = ["012.\(getppid())", "0123-4.\(getppid())", "01234.\(getppid())"]
        for other in others { try mark(other, "\(now.timeIntervalSince1970)") }
        #expect(!VersionUse.isUsed("0123", inFolder: folder.path, at: now))
        #expect(names == others.sorted())
    }

    @Test func `one valid marker among invalid markers is enough`() throws {
        let valid = "0123.\(getppid())"
        try mark(valid, "\(now.timeIntervalSince1970)")
        try mark("0123.999999999", "\(now.timeIntervalSince1970)")
        #expect(VersionUse.isUsed("0123", inFolder: folder.path, at: now))
        #expect(names == [valid])
    }
}
