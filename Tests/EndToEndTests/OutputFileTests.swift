import CommandRunner
import Foundation
import Testing

@testable import TenureCLI
@testable import TenureRehearsal

/// The files that commands write: their names, their contents, and what stays after a failure.
@Suite struct `files that commands write` {
    private let folder: Folder

    init() throws { folder = try Folder() }

    private func path(_ name: String) -> String { folder.url(name).path }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    private static func fault(_ detail: String, part: String? = nil) -> LineFault {
        LineFault(.nothingSigned, detail, part: part)
    }

    @Test func `the list of rejected lines has the number, the code, the part, the consequence and the reason`() throws
    {
        let list = BadLineFile(path: path("rejected.ndjson"))
        try list.add(BadLine(line: 3, fault: Self.fault("it is empty"), isWholeLine: true))
        try list.add(BadLine(line: 7, fault: Self.fault("it is \"x\"", part: "transactions[1]"), isWholeLine: false))
        // The list gets its name when it is complete.
        #expect(list.isUsed && !FileManager.default.fileExists(atPath: list.path))
        try list.close()
        #expect(
            try folder.text("rejected.ndjson") == #"""
                {"line":3,"code":"nothingSigned","rest":"the whole line is rejected","detail":"it is empty"}
                {"line":7,"code":"nothingSigned","part":"transactions[1]","rest":"the rest of the line is used","detail":"it is \"x\""}

                """#)
        #expect(list.omittedEntries == 0)
        #expect(try names() == ["rejected.ndjson"])
        // An existing list is replaced only if that is wanted, and a list without lines is no file.
        let line = BadLine(line: 1, fault: Self.fault("x"), isWholeLine: true)
        let kept = #expect(throws: CommandError.self) { try BadLineFile(path: list.path).add(line) }
        let words = "already exists; choose another name, or replace it with --force"
        #expect(kept?.description == "`\(list.path)` \(words)")
        let replacing = BadLineFile(path: list.path, replaces: true)
        try replacing.add(line)
        try replacing.close()
        #expect(try folder.text("rejected.ndjson").hasPrefix("{\"line\":1,"))
        let unused = BadLineFile(path: path("unused.ndjson"))
        try unused.close()
        #expect(try !unused.isUsed && names() == ["rejected.ndjson"])
    }

    @Test func `an output file that isn't completed leaves nothing, and never replaces a file of another command`()
        throws
    {
        try folder.write("old", to: "report")
        for replacing in [false, true] {
            let name = replacing ? "report" : "new"
            try StreamedFile(path: path(name), replacing: replacing).write(Array("half".utf8))
            #expect(try names() == ["report"] && folder.text("report") == "old")
        }
        do {
            let file = try StreamedFile(path: path("new"), replacing: false)
            try file.write(Array("mine".utf8))
            // Another command was faster.
            try folder.write("theirs", to: "new")
            let error = #expect(throws: CommandError.self) { try file.close() }
            let words = "already exists; choose another name, or replace it with --force"
            #expect(error?.description == "`\(path("new"))` \(words)")
        }
        #expect(try names() == ["new", "report"] && folder.text("new") == "theirs")
        let place = path("none/report")
        let error = #expect(throws: CommandError.self) { try StreamedFile(path: place, replacing: true) }
        let advice = "check that its folder exists and that you have permission to write"
        #expect(error?.description == "`\(place)` can't be written; \(advice)")
    }

    @Test func `a free name avoids files, broken links and the other outputs of the command`() throws {
        let start = path("evidence.rejected")
        #expect(FilePlan(writing: []).freeName(start, "ndjson") == "\(start).ndjson")
        try folder.write("x", to: "evidence.rejected.ndjson")
        #expect(FilePlan(writing: [nil]).freeName(start, "ndjson") == "\(start)-2.ndjson")
        try FileManager.default.createSymbolicLink(
            atPath: "\(start)-2.ndjson", withDestinationPath: path("nowhere"))
        #expect(FilePlan(writing: []).freeName(start, "ndjson") == "\(start)-3.ndjson")
        let report = "\(folder.path)/./evidence.rejected-3.ndjson"
        #expect(FilePlan(writing: [report]).freeName(start, "ndjson") == "\(start)-4.ndjson")
        #expect(FilePlan(writing: []).freeName(path("other"), "html") == path("other.html"))
    }

    @Test func `two spellings of one new file are one output, and a broken link is an existing file`() throws {
        try FileManager.default.createDirectory(at: folder.url("real"), withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: path("alias"), withDestinationPath: path("real"))
        try FileManager.default.createSymbolicLink(atPath: path("broken"), withDestinationPath: path("real/new"))
        let twice = "would be written twice; pass a different file for each output"
        for second in [folder.path + "/real/./new", path("alias") + "/new", path("broken")] {
            let plan = FilePlan(writing: [path("real/new"), nil, second])
            let error = #expect(throws: CommandError.self) { try plan.check(replacing: true) }
            #expect(error?.description == "`\(second)` \(twice)")
        }
        try FilePlan(writing: [path("real/new"), path("real/new-2"), path("new")]).check(replacing: false)
        let error = #expect(throws: CommandError.self) {
            try FilePlan(writing: [path("broken")]).check(replacing: false)
        }
        let words = "already exists; choose another name, or replace it with --force"
        #expect(error?.description == "`\(path("broken"))` \(words)")
        try FilePlan(writing: [path("broken")]).check(replacing: true)
        try folder.write("x", to: "real/file")
        #expect(FilePlan.files(at: path("real")) == [path("real"), path("real/file")])
        #expect(FilePlan.files(at: path("real/file")) == [path("real/file")])
        // A file is an input under each of its names.
        try FileManager.default.linkItem(atPath: path("real/file"), toPath: path("hard"))
        let input = #expect(throws: CommandError.self) {
            try FilePlan(reading: [nil, path("alias") + "/file"], writing: [path("hard")]).check(replacing: true)
        }
        let names = "`\(path("hard"))` is `\(path("alias"))/file`"
        #expect(input?.description == "\(names), which this command reads; write to another file")
    }

    @Test func `an input file is read up to its limit, which the message has in KB below 1 MB, and else in MB`() throws
    {
        let file = try folder.write("", to: "large")
        try #require(truncate(file, (2 << 20) + 1) == 0)
        #expect(try InputFile(path: file).bytes(limit: (2 << 20) + 1).count == (2 << 20) + 1)
        let words = "which no valid file of this kind is; check the path"
        for (limit, size) in [((1 << 20) - 1, "1023 KB"), (1 << 20, "1 MB"), (2 << 20, "2 MB")] {
            let error = #expect(throws: CommandError.self) { try InputFile(path: file).bytes(limit: limit) }
            #expect(error?.description == "`\(file)` is larger than \(size), \(words)")
        }
        for (name, message) in [
            (folder.path, "`\(folder.path)` is a folder; name a file in it"),
            (path("none"), "there is no file `\(path("none"))`; check the path"),
        ] {
            let error = #expect(throws: CommandError.self) { try InputFile(path: name).bytes() }
            #expect(error?.description == message)
        }
        #expect(InputFile(path: "-").name == "standard input" && InputFile(path: "./-").name == "./-")
    }

    @Test func `numbers have their nouns, and sizes their units up to terabytes`() {
        #expect([0, 1, 2].map { counted($0, "file") } == ["0 files", "1 file", "2 files"])
        let sizes: [(Int64, String)] = [
            (64_000_000_000, "64.0 GB"), (999_949_999_999, "999.9 GB"), (999_950_000_000, "1.0 TB"),
            (5_250_000_000_000_000, "5250.0 TB"),
        ]
        for (size, text) in sizes { #expect(byteCount(size) == text) }
    }
}
