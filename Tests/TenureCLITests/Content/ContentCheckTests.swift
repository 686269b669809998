import CommandRunner
import Foundation
import Testing

@Suite struct `tenure content check` {
    @Test func `tenure content check lists the packs of a content file, and skips files such as .DS_Store`()
        async throws
    {
        let testBed = try await ContentTestBed()
        try testBed.write("x", to: "piano/.DS_Store")
        try testBed.write("x", to: "piano/samples/._c4.wav")
        let policy = try testBed.folder.write(TestBed.policy, to: "policy.yaml")
        let result = try await testBed.run("check", "--policy", policy)
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        let file = testBed.folder.url("content.yaml").path
        #expect(
            result.output == "grand-piano: 2 files, 4 bytes\nloops: 1 file, 4 bytes\n\(file): no mistakes\n",
            "\(result.output)")
    }

    @Test func `tenure content check names the policy file if that file has the mistakes`() async throws {
        let testBed = try await ContentTestBed()
        let policy = try testBed.folder.write("entitlements: [piano]", to: "policy.yaml")
        let result = try await testBed.run("check", "--policy", policy)
        #expect(result.status == 2)
        let summary = try #require(result.output.split(separator: "\n").last)
        #expect(summary.hasPrefix(policy + ": ") && summary.contains("mistake"), "\(result.output)")
    }

    @Test func `tenure content check reports every mistake at its line and column`() async throws {
        let text = """
            app: com.example.notes
            packs:
              Grand Piano: { entitlement: everythin, files: piano/ }
              loops: { product: com.example.loops, entitlement: everything, files: ../loops }
              levels: { files: /levels, storage: keep, minimumAppVersion: v3 }
              books: { entitlement: everything, file: loops }
              songs: { product: com.example.calculator.yearl, files: loops }
            extra: 1
            """
        let testBed = try await ContentTestBed(text)
        let policy = try testBed.folder.write(TestBed.policy, to: "policy.yaml")
        let result = try await testBed.run("check", "--policy", policy)
        #expect(result.status == 2)
        let mistakes = [
            ("com.example.notes", "isn't the policy's app"), ("Grand Piano", "isn't a valid name of a pack"),
            ("everythin,", "did you mean `everything`?"), ("com.example.loops", "not both"), ("../loops", "has `..`"),
            ("levels:", "`entitlement` or `product` is missing"), ("/levels", "is an absolute path"),
            ("keep", "`keep` is unknown"), ("v3", "`v3` isn't a version"),
            ("file:", "`file` is unknown here; did you mean `files`?"),
            ("com.example.calculator.yearl,", "did you mean `com.example.calculator.yearly`?"),
            ("extra", "`extra` is unknown"),
        ]
        for (place, message) in mistakes {
            let position = try #require(Self.position(of: place, in: text))
            let isReported = result.output.split(separator: "\n").contains { line in
                line.contains("content.yaml:\(position): ") && line.contains(message)
            }
            #expect(isReported, "\(position) \(message)\n\(result.output)")
        }
        #expect(result.output.contains("\(mistakes.count) mistakes"), "\(result.output)")
    }

    /// The line and column at which a part of a text begins, counted from one.
    private static func position(of part: String, in text: String) -> String? {
        guard let range = text.range(of: part) else { return nil }
        let before = text[..<range.lowerBound].split(separator: "\n", omittingEmptySubsequences: false)
        return "\(before.count):\((before.last?.count ?? 0) + 1)"
    }

    static let programs: [(String, [UInt8])] = [
        ("Mach-O, 64 bits", [0xCF, 0xFA, 0xED, 0xFE]), ("Mach-O, 32 bits", [0xCE, 0xFA, 0xED, 0xFE]),
        ("Mach-O, big-endian", [0xFE, 0xED, 0xFA, 0xCF]), ("Mach-O, big-endian, 32 bits", [0xFE, 0xED, 0xFA, 0xCE]),
        ("fat", [0xCA, 0xFE, 0xBA, 0xBE]), ("fat, 64 bits", [0xCA, 0xFE, 0xBA, 0xBF]),
        ("fat, little-endian", [0xBE, 0xBA, 0xFE, 0xCA]), ("fat, 64 bits, little-endian", [0xBF, 0xBA, 0xFE, 0xCA]),
        ("ELF", [0x7F, 0x45, 0x4C, 0x46]),
        ("PE", Array("MZ".utf8) + Array(repeating: 0, count: 58) + [0x40, 0, 0, 0] + Array("PE\0\0".utf8)),
    ]

    @Test(arguments: programs) func `tenure content check rejects programs and libraries by their contents`(
        name: String, start: [UInt8]
    ) async throws {
        let testBed = try await ContentTestBed()
        try testBed.write(Data(start + Array(repeating: 0, count: 60)), to: "piano/samples/data.bin")
        for command in ["check", "embed"] {
            let options = command == "embed" ? ["--to", testBed.folder.url("embedded").path] : []
            let result = try await Command.run(["content", command, testBed.folder.url("content.yaml").path] + options)
            #expect(result.status == 2, "\(name)")
            let text = result.output + result.errors
            #expect(
                text.contains("content.yaml:3:50: ") && text.contains("`samples/data.bin`") && text.contains("2.5.2"))
        }
        #expect(!FileManager.default.fileExists(atPath: testBed.folder.url("embedded").path))
    }

    @Test func `tenure content check accepts text files that begin like a program`() async throws {
        let testBed = try await ContentTestBed()
        try testBed.write(
            "MZ are two letters, and this text goes on for more than sixty-four bytes.", to: "piano/a.txt")
        #expect(try await testBed.run("check").status == 0)
    }

    @Test
    func `tenure content check rejects links, pipes, long paths, empty packs, and names that differ only in case`()
        async throws
    {
        let testBed = try await ContentTestBed()
        let piano = testBed.folder.url("piano").path
        symlink("samples/c4.wav", piano + "/link")
        symlink("samples", piano + "/linked-folder")
        mkfifo(piano + "/pipe", 0o644)
        try testBed.write("", to: "piano/" + String(repeating: "a", count: 101))
        try testBed.write("", to: "piano/Straße")
        try testBed.write("", to: "piano/STRASSE")
        try testBed.write("", to: "piano/e\u{301}")
        try testBed.write("", to: "piano/\u{C9}")
        try FileManager.default.removeItem(at: testBed.folder.url("loops/beat.caf"))
        try testBed.write("", to: "loops/.DS_Store")
        let result = try await testBed.run("check")
        #expect(result.status == 2)
        for message in [
            "`link` is a link", "`linked-folder` is a link", "`pipe` is neither",
            "is too long: the name may have 100 bytes",
            "`STRASSE` and `Straße` can't both exist", "`\u{C9}` and `\u{E9}` can't both exist",
            "content.yaml:4:59: error: `loops/`: has no files", "7 mistakes",
        ] { #expect(result.output.contains(message), "\(message)\n\(result.output)") }
    }

    @Test func `tenure content check rejects a pack's folder that is a link or is reached through a link`() async throws
    {
        let testBed = try await ContentTestBed(
            """
            app: com.example.calculator
            packs:
              piano: { entitlement: everything, files: linked }
              loops: { entitlement: everything, files: ./linked/samples }
            """)
        symlink("piano", testBed.folder.url("linked").path)
        let result = try await testBed.run("check")
        #expect(result.status == 2)
        for place in ["3:44", "4:44"] {
            #expect(
                result.output.contains("content.yaml:\(place): error: `linked` is a link; name the folder itself"),
                "\(result.output)")
        }
    }

    @Test(arguments: [
        "", "[]", "packs:", "packs: []", "packs: 1", "app: [a]\npacks: {}", "packs: {a: 1}", "packs: {a: {files: .}}",
        "app: x\npacks: {a: {entitlement: a, files: content.yaml}}",
        "app: x\npacks: {a: {entitlement: a, files: none}}",
        "app: ''\npacks: {}", "a: &x [*x]", "\u{0}", "app: x\npacks: {a: {entitlement: [], files: {}}}",
        "app: x\npacks:\n" + (0...100).map { "  p\($0): {entitlement: a, files: loops}\n" }.joined(),
        String(repeating: "[", count: 10_000),
    ]) func `tenure content check reports a hostile content file's mistake with its position`(text: String) async throws
    {
        let testBed = try await ContentTestBed(text)
        let result = try await testBed.run("check")
        #expect(result.status == 2, "\(result.output)\(result.errors)")
        #expect(result.output.contains("content.yaml:"), "\(result.output)")
    }

    @Test func `tenure content exits with 1 for a missing file, and with 64 for a missing --key`() async throws {
        let testBed = try await ContentTestBed()
        #expect(try await Command.run("content", "check", testBed.folder.url("none.yaml").path).status == 1)
        #expect(try await Command.run("content", "publish", testBed.folder.url("content.yaml").path).status == 64)
    }
}
