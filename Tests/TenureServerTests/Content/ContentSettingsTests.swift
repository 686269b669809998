import CommandRunner
import Foundation
import TenureAPI
import TenureContent
import TenureContentPublishing
import Testing

@testable import TenureServer

@Suite struct `settings of content` {
    private static func s3(_ change: (inout S3Settings) -> Void = { _ in }) throws -> (S3Settings, Folder) {
        let folder = try Folder()
        var settings = S3Settings(
            region: "eu-central-1", bucket: "packs", accessKeyID: "AKIDEXAMPLE",
            secretAccessKeyFile: try folder.writeSecret("secret\n", to: "secret"))
        change(&settings)
        return (settings, folder)
    }

    @Test func `the settings of an S3 bucket are checked before the service starts`() throws {
        let (good, folder) = try Self.s3()
        #expect(good.mistakes == [])
        let changes: [(String, (inout S3Settings) -> Void)] = [
            ("region` is missing", { $0.region = "" }), ("region` must have", { $0.region = "eu/central" }),
            ("bucket` is missing", { $0.bucket = "" }), ("bucket` must have", { $0.bucket = "a/b" }),
            ("accessKeyID` is missing", { $0.accessKeyID = "" }),
            ("secretAccessKeyFile` is missing", { $0.secretAccessKeyFile = "" }),
            ("prefix`", { $0.prefix = "/a" }), ("prefix`", { $0.prefix = "a/" }),
            ("endpoint`", { $0.endpoint = "http://example.com" }), ("endpoint`", { $0.endpoint = "example.com" }),
            ("endpoint`", { $0.endpoint = "https://example.com/path" }),
            ("endpoint`", { $0.endpoint = "https://user@example.com" }),
            ("endpoint`", { $0.endpoint = "https://example.com?a=b" }),
        ]
        for (mistake, change) in changes {
            var settings = good
            change(&settings)
            #expect(settings.mistakes.contains { $0.contains(mistake) }, "\(mistake): \(settings.mistakes)")
        }
        var content = ContentSettings(folder: folder.path)
        content.s3 = good
        content.linkLifetime = 7 * 86_400
        #expect(content.mistakes == [] && content.findings == [])
        content.linkLifetime += 1
        #expect(content.mistakes.map(\.description).contains { $0.contains("7 days") })
        content.s3 = nil
        #expect(content.mistakes == [])
        content.linkLifetime = 1
        #expect(content.mistakes == [])
        content.linkLifetime = 0.9
        #expect(content.mistakes.map(\.description).contains { $0.contains("at least a second") })
    }

    @Test func `settings of content need secret files that only their owner can read`() throws {
        let (settings, folder) = try Self.s3()
        var content = ContentSettings(folder: folder.path)
        content.s3 = settings
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: settings.secretAccessKeyFile)
        #expect(content.findings.count == 1 && "\(content.findings[0])".contains("chmod 600"))
        try FileManager.default.removeItem(atPath: settings.secretAccessKeyFile)
        #expect(content.findings.count == 1)
        try folder.writeSecret("", to: "secret")
        #expect(content.findings.count == 1 && "\(content.findings[0])".contains("the file is empty"))
    }

    @Test func `settings of content report a missing folder, and a folder without a catalog`() throws {
        let folder = try Folder()
        #expect(ContentSettings(folder: folder.path).findings == [])
        #expect(ContentSettings(folder: folder.path + "/none").findings.count == 1)
        #expect(ContentSettings(folder: try folder.write("", to: "file")).findings.count == 1)
        let problem = ContentSettings(folder: folder.path).catalogProblem(of: "com.example.calculator")
        #expect(problem?.description.contains("tenure content publish") == true)
        let published = try PublishedContent(in: folder.path)
        try published.publishThree()
        let content = ContentSettings(folder: published.folder)
        #expect(content.catalogProblem(of: "com.example.calculator") == nil)
        #expect(content.catalogProblem(of: "com.example.other")?.description.contains("com.example.other") == true)
    }

    @Test func `download links are valid for as long as the setting says`() throws {
        var values = SettingValues()
        #expect(try #require(ServeOptions(values)).content.linkLifetime == 86_400)
        try values.read(arguments: ["--content-link-lifetime", "90m"])
        #expect(try #require(ServeOptions(values)).content.linkLifetime == 5400)
        for wrong in ["0s", "24", "x", "-1h", "400d"] {
            try values.read(arguments: ["--content-link-lifetime=\(wrong)"])
        }
        #expect(values.mistakes.count == 5)
        #expect(try #require(ServeOptions(values)).content.linkLifetime == 5400)
    }

    @Test func `with a bucket, the links to content are presigned URLs of the manifest and the archive`() async throws {
        let (settings, folder) = try Self.s3()
        try await withContent(changing: {
            $0.content?.s3 = settings
            $0.content?.linkLifetime = 600
        }) { testBed in
            let everything = ContentCatalog.Unlock.entitlement("everything")
            let version = try testBed.published.publish([testBed.published.pack("grand-piano", everything)])
                .packs[0].version
            let links = try await testBed.links("grand-piano", try await testBed.owner())
            let bucket = "https://s3.eu-central-1.amazonaws.com/packs/"
            for (link, digest) in [(links.manifest, version.manifest), (links.archive, version.archive)] {
                #expect(link.hasPrefix("\(bucket)\(digest)?X-Amz-Algorithm=") && link.contains("&X-Amz-Expires=600&"))
            }
            #expect(links.expiresAt == Calculator.now.addingTimeInterval(600))
        }
        withExtendedLifetime(folder) {}
    }
}
