import CommandRunner
import Foundation
import TenureContent
import TenureContentPublishing
import Testing

/// Folders and files with names that shells and file systems treat in their own ways.
@Suite struct `names of published files` {
    /// `Flügel ö.wav` with decomposed characters (a letter and a combining mark), as a Mac's disk may store the name.
    private static let decomposed = "Flu\u{308}gel o\u{308}.wav"
    private static let composed = "Fl\u{FC}gel \u{F6}.wav"

    private func testBed() async throws -> ContentTestBed {
        let testBed = try await ContentTestBed(
            """
            app: com.example.calculator
            packs:
              piano: { entitlement: everything, files: "Kla\u{308}nge & Töne/" }
            """)
        try testBed.write("wing", to: "Kla\u{308}nge & Töne/Groß/\(Self.decomposed)")
        try testBed.write("dollar", to: "Kla\u{308}nge & Töne/$HOME 'a' \"b\" 猫 🎹.txt")
        return testBed
    }

    /// Compares bytes, because Swift's strings are equal in the composed and in the decomposed form.
    private func expect(_ path: String, isIn paths: [String], sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(paths.contains { $0.utf8.elementsEqual(path.utf8) }, "\(paths)", sourceLocation: sourceLocation)
    }

    @Test func `published file names use composed Unicode characters in the manifest, the archive and the bundle`()
        async throws
    {
        let testBed = try await testBed()
        let result = try await testBed.publish("--to", testBed.folder.url("veröffentlicht hier").path)
        #expect(result.status == 0, "\(result.errors)")
        let folder = testBed.folder.url("veröffentlicht hier").path
        let signed = try SignedCatalog.verify(
            Data(contentsOf: URL(fileURLWithPath: folder + "/catalog.jws")), keys: [testBed.pin], bundleID: nil)
        let version = try #require(signed.catalog["piano"]?.versions.first)
        let manifest = try PackManifest(
            json: Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(version.manifest)")))
        let paths = manifest.files.map(\.path)
        let listed = try Tool.run(
            "/usr/bin/env", ["tar", "--quoting-style=literal", "-tf", "\(folder)/\(version.archive)"])
        let embedded = testBed.folder.url("Im Bündel").path
        #expect(try await testBed.run("embed", "--to", embedded).status == 0)
        let content = try EmbeddedContent(json: Data(contentsOf: URL(fileURLWithPath: embedded + "/content.json")))
        let inBundle = content["piano"]?.files.map(\.path) ?? []
        for path in ["Groß/\(Self.composed)", "$HOME 'a' \"b\" 猫 🎹.txt"] {
            expect(path, isIn: paths)
            expect(path, isIn: listed.output.split(separator: "\n").map(String.init))
            expect(path, isIn: inBundle)
            #expect(FileManager.default.contents(atPath: "\(embedded)/piano/\(path)")?.isEmpty == false, "\(path)")
        }
        #expect(paths.count == 2)
    }
}
