import CommandRunner
import Foundation
import TenureContent
import TenureContentPublishing
import Testing

/// Which files of a folder a pack has, and what is wrong with the others.
@Suite struct `The folder of an asset pack` {
    private let folder: Folder
    private var piano: String { folder.url("piano").path }

    init() throws {
        folder = try Folder()
        try FileManager.default.createDirectory(at: folder.url("piano/sub"), withIntermediateDirectories: true)
    }

    private func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: folder.url("piano/" + name))
    }

    private func scan() -> (paths: [String], mistakes: [String]) {
        let (files, mistakes) = PackFiles.scan(piano)
        return (files.files.map(\.path), mistakes)
    }

    @Test func `a pack's files are sorted by the bytes of their paths, without the files that macOS adds`() throws {
        let names = [
            "z", "sub/c", "sub-b", "sub.b", "Y", ".hidden", ".DS_Store.txt", "a._b", ".DS_Store", "._c",
            "sub/.DS_Store",
        ]
        for name in names { try write(Array(name.utf8), to: name) }
        let (files, mistakes) = PackFiles.scan(piano)
        #expect(mistakes.isEmpty)
        let paths = [".DS_Store.txt", ".hidden", "Y", "a._b", "sub-b", "sub.b", "sub/c", "z"]
        #expect(files.files.map(\.path) == paths)
        #expect(files.files.map(\.size) == paths.map { Int64($0.utf8.count) })
        #expect(files.size == 41 && files.folder == piano)
    }

    @Test func `a folder that can't be a pack is reported with the reason`() throws {
        let empty = "has no files; a pack has at least one"
        #expect(scan().mistakes == [empty])
        try write([], to: "sub/.DS_Store")
        #expect(scan().mistakes == [empty])
        #expect(PackFiles.scan(folder.url("none").path).mistakes == ["can't be read (no such file or directory)"])
        let file = try folder.write("x", to: "file")
        let noFolder = "isn't a folder; name the folder with the files of the pack"
        #expect(PackFiles.scan(file).mistakes == [noFolder])
        let link = folder.url("link").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: piano)
        #expect(PackFiles.scan(link).mistakes == ["is a link; name the folder itself"])
        #expect(throws: PublishingError.rejectedFiles([empty])) {
            try PackSource(name: "piano", unlock: .entitlement("everything"), folder: piano)
        }
    }

    @Test func `each file that can't be published is reported once, with its kind and what to do`() throws {
        try write([0x7F, 0x45, 0x4C, 0x46], to: "a.elf")
        try write([0xCF, 0xFA, 0xED, 0xFE], to: "b.macho")
        // The Windows header may be anywhere after the DOS header.
        func program(_ end: String) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: 200)
            bytes.replaceSubrange(0..<2, with: Array("MZ".utf8))
            bytes[60] = 200
            return bytes + Array(end.utf8)
        }
        try write(program("PE\0\0"), to: "c.exe")
        try write(program("PE\0\u{1}"), to: "d.bin")
        try write(Array("MZ".utf8), to: "e.bin")
        try write([0x45, 0x4C, 0x46, 0x7F], to: "f.bin")
        try FileManager.default.createSymbolicLink(atPath: piano + "/g", withDestinationPath: "f.bin")
        try #require(mkfifo(piano + "/h", 0o600) == 0)
        try FileManager.default.createDirectory(at: folder.url("piano/i:"), withIntermediateDirectories: false)
        try write([], to: "i:/j:")
        try write([], to: "sub/k\u{7}")
        let code = "App Review (2.5.2) forbids apps to download code, so put it into the app"
        let separator = "has a `\\` or a `:`"
        #expect(
            scan().mistakes == [
                "`a.elf` is a Linux program or library (ELF); \(code)",
                "`b.macho` is a Mach-O program or library; \(code)", "`c.exe` is a Windows program (PE); \(code)",
                "`g` is a link; replace it with the file itself", "`h` is neither a file nor a folder; remove it",
                "`i:` \(separator)", "`sub/k\\u{7}` has control characters",
            ])
    }

    #if os(Linux)
        @Test func `a name that isn't UTF-8 is reported with its folder`() throws {
            try write([], to: "sub/a")
            let path = (Array((piano + "/sub/").utf8) + [0xFF, 0]).map { CChar(bitPattern: $0) }
            let descriptor = open(path, O_WRONLY | O_CREAT, 0o600)
            try #require(descriptor >= 0)
            close(descriptor)
            let (paths, mistakes) = scan()
            #expect(paths == ["sub/a"] && mistakes == ["`sub/` has a name that isn't UTF-8; rename the file"])
        }

        @Test func `at most twenty pairs of conflicting paths are reported`() throws {
            let numbers = (10...30).map { "\($0)" }
            for number in numbers {
                try write([], to: "A\(number)")
                try write([], to: "a\(number)")
            }
            let expected = numbers.prefix(20).map {
                "`A\($0)` and `a\($0)` can't both exist on every file system; rename one"
            }
            #expect(scan().mistakes == expected)
        }
    #endif

    @Test func `a pack encloses its folder and what is below it, also through a link`() throws {
        try write([1], to: "a")
        let (files, _) = PackFiles.scan(piano)
        let link = folder.url("link").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: piano)
        for path in [piano, piano + "/", piano + "/new/key.pem", folder.path + "/x/../piano/a", link + "/sub"] {
            #expect(files.encloses(path), "\(path)")
        }
        for path in [folder.path, piano + "-2", piano + "-2/a", piano + "/../key.pem", folder.path + "/pian"] {
            #expect(!files.encloses(path), "\(path)")
        }
    }
}
