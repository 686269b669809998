import Foundation
import TenureCore
import Testing

@testable import TenureContent

@Suite struct `Embedded content` {
    private let digest = ContentDigest(of: Data("manifest".utf8))

    private func content(_ files: String, more: String = "", unlock: String = #""entitlement":"piano""#) throws
        -> EmbeddedContent
    {
        let pack = #""name":"piano",\#(unlock),"version":"\#(digest)","files":[\#(files)]"#
        return try EmbeddedContent(json: Data(#"{"format":1,"packs":[{\#(pack)}\#(more)]}"#.utf8))
    }

    @Test func `embedded content with valid paths and sizes is read as it was written`() throws {
        let read = try content(#"{"path":"notes/a.wav","size":5},{"path":"index.json","size":0}"#)
        #expect(read["piano"]?.files.map(\.path) == ["notes/a.wav", "index.json"])
        #expect(read["piano"]?.installedSize == 5)
        #expect(try EmbeddedContent(json: read.json) == read)
    }

    @Test(arguments: ["../a", "/a", "a/../../b", "a//b", "c:a", "a\\\\b", ""])
    func `embedded content can't name a file outside of its folder`(path: String) {
        #expect(throws: ContentError.self) { try content(#"{"path":"\#(path)","size":1}"#) }
    }

    @Test(arguments: ["", "..", "Piano", "a/b", "grand_piano", String(repeating: "a", count: 65)])
    func `embedded content with an invalid name of a pack is rejected`(name: String) {
        #expect(throws: ContentError.invalidEmbeddedContent("`\(name)` isn't a valid name of a pack")) {
            try content("", more: #",{"name":"\#(name)","product":"p","version":"\#(digest)","files":[]}"#)
        }
    }

    @Test(arguments: [
        #"{"path":"a","size":-1}"#, #"{"path":"a","size":8589934592}"#, #"{"path":"a","size":1},{"path":"A","size":1}"#,
        #"{"path":"a","size":1},{"path":"a/b","size":1}"#, #"{"path":"a"}"#,
        (0..<8).map { #"{"path":"\#($0)","size":8589934591}"# }.joined(separator: ","),
    ])
    func `embedded content with impossible sizes or conflicting paths is rejected`(files: String) {
        #expect(throws: ContentError.self) { try content(files) }
    }

    @Test func `embedded content of another format or with an unreadable minimum version is rejected`() throws {
        func read(format: Int = 1, minimum: String) throws -> EmbeddedContent {
            let pack = #""name":"piano","product":"p","minimumAppVersion":"\#(minimum)","version":"\#(digest)""#
            return try EmbeddedContent(json: Data(#"{"format":\#(format),"packs":[{\#(pack),"files":[]}]}"#.utf8))
        }
        #expect(try read(minimum: "3.2")["piano"]?.minimumAppVersion?.description == "3.2")
        for (format, minimum) in [(2, "3.2"), (0, "3.2"), (1, "new"), (1, "")] {
            #expect(throws: ContentError.self, "\(format) \(minimum)") { try read(format: format, minimum: minimum) }
        }
    }

    @Test func `embedded content has at most 100 packs, with at most 10,000 files each`() throws {
        func read(packs: Int, files: Int) throws -> EmbeddedContent {
            let list = (0..<files).map { #"{"path":"\#($0)","size":1}"# }.joined(separator: ",")
            let all = (0..<packs).map { #"{"name":"p\#($0)","product":"p","version":"\#(digest)","files":[\#(list)]}"# }
            return try EmbeddedContent(json: Data(#"{"format":1,"packs":[\#(all.joined(separator: ","))]}"#.utf8))
        }
        #expect(try read(packs: 100, files: 1).packs.count == 100)
        #expect(throws: ContentError.self) { try read(packs: 101, files: 1) }
        #expect(try read(packs: 1, files: 10_000).packs.first?.files.count == 10_000)
        #expect(throws: ContentError.self) { try read(packs: 1, files: 10_001) }
    }

    @Test func `embedded content must name each pack once, with exactly one entitlement or product that unlocks it`() {
        let again = #",{"name":"piano","product":"p","version":"\#(digest)","files":[]}"#
        #expect(throws: ContentError.self) { try content("", more: again) }
        for unlock in [#""entitlement":"e","product":"p""#, #""storage":"purgeable""#, #""product":"p","storage":"x""#]
        {
            #expect(throws: ContentError.self, "\(unlock)") { try content("", unlock: unlock) }
        }
        #expect(throws: Never.self) { try content("", unlock: #""product":"p","storage":"purgeable""#) }
    }
}

@Suite struct `Sizes in a content catalog` {
    private func catalog(manifest: Int = 300, archive: Int64 = 3048, installed: Int64 = 1000) throws {
        let digest = ContentDigest(of: Data("archive".utf8))
        let version = ContentCatalog.Version(
            minimumAppVersion: nil, manifest: digest, manifestSize: manifest, archive: digest, archiveSize: archive,
            installedSize: installed)
        _ = try ContentCatalog(
            bundleID: "com.example.calculator",
            packs: [.init(name: "loops", unlock: .entitlement("e"), isPurgeable: false, versions: [version])])
    }

    @Test func `a content catalog with sizes that no archive can have is rejected`() throws {
        try catalog()
        try catalog(archive: 1000)
        #expect(throws: ContentError.self) { try catalog(archive: 999) }
        #expect(throws: ContentError.self) { try catalog(installed: -1) }
        #expect(throws: ContentError.self) { try catalog(installed: PackManifest.maximumPackSize + 1) }
        #expect(throws: ContentError.self) { try catalog(archive: PackManifest.maximumArchiveSize + 1) }
        #expect(throws: ContentError.self) { try catalog(manifest: 0) }
        #expect(throws: ContentError.self) { try catalog(manifest: PackManifest.maximumTextSize + 1) }
    }
}
