import CommandRunner
import Foundation
import TenureContent
import Testing

@testable import TenureServer

@Suite struct `a presigned URL` {
    /// The values are those of AWS's page "Authenticating Requests: Using Query Parameters (AWS Signature Version 4)".
    @Test func `a presigned URL for the example in AWS's documentation has the documented signature`() throws {
        let file = NSTemporaryDirectory() + "s3-secret-\(UUID().uuidString)"
        #expect(
            FileManager.default.createFile(
                atPath: file, contents: Data("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\n".utf8),
                attributes: [.posixPermissions: 0o600]))
        defer { try? FileManager.default.removeItem(atPath: file) }
        var settings = S3Settings(
            region: "us-east-1", bucket: "examplebucket", accessKeyID: "AKIAIOSFODNN7EXAMPLE",
            secretAccessKeyFile: file)
        settings.endpoint = "https://s3.amazonaws.com"
        settings.urlStyle = .virtualHost
        let url = try S3Presigner(settings).url(
            ofObject: "test.txt", lifetime: 86_400, at: Date(timeIntervalSince1970: 1_369_353_600))
        #expect(url.hasPrefix("https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&"))
        #expect(
            url.hasSuffix("X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"))
    }

    /// The settings of a bucket, with a secret and a session token in files of the folder.
    private func settings(in folder: Folder) throws -> S3Settings {
        var settings = S3Settings(
            region: "eu-west-2", bucket: "packs", accessKeyID: "AKIDEXAMPLE",
            secretAccessKeyFile: try folder.writeSecret("s3cret/+\n", to: "secret"))
        settings.sessionTokenFile = try folder.writeSecret(" to/ken+=\n", to: "token")
        return settings
    }

    /// The signature was computed with Python's `hmac`.
    @Test func `a presigned URL has the bucket, the prefix, the port and the session token`() throws {
        let folder = try Folder()
        var settings = try settings(in: folder)
        settings.endpoint = "https://s3.example.com:9000"
        settings.prefix = "a & b"
        let expected = """
            https://s3.example.com:9000/packs/a%20%26%20b/c1.tar?X-Amz-Algorithm=AWS4-HMAC-SHA256\
            &X-Amz-Credential=AKIDEXAMPLE%2F20261120%2Feu-west-2%2Fs3%2Faws4_request&X-Amz-Date=20261120T120000Z\
            &X-Amz-Expires=600&X-Amz-SignedHeaders=host&X-Amz-Security-Token=to%2Fken%2B%3D\
            &X-Amz-Signature=23851741083dabb759fc9d86902a9efd2cade6b06a2424dd50c20fcbd06dc14c
            """
        let instant = Calculator.now.addingTimeInterval(0.4)
        #expect(try S3Presigner(settings).url(ofObject: "c1.tar", lifetime: 600, at: instant) == expected)
        withExtendedLifetime(folder) {}
    }

    @Test(arguments: [
        ("", S3Settings.URLStyle.path, "https://s3.eu-west-2.amazonaws.com/packs/"),
        ("", .virtualHost, "https://packs.s3.eu-west-2.amazonaws.com/"),
        ("https://s3.example.com:443", .path, "https://s3.example.com/packs/"),
        ("https://s3.example.com:80/", .virtualHost, "https://packs.s3.example.com:80/"),
        ("http://127.0.0.1:80", .path, "http://127.0.0.1/packs/"),
        ("http://127.0.0.1:443", .path, "http://127.0.0.1:443/packs/"),
    ])
    func `a presigned URL of a published file goes to the endpoint, or to AWS without one`(
        endpoint: String, style: S3Settings.URLStyle, start: String
    ) throws {
        let folder = try Folder()
        var settings = try settings(in: folder)
        settings.endpoint = endpoint
        settings.urlStyle = style
        let digest = ContentDigest(of: Data([1]))
        let url = try S3Presigner(settings).url(of: digest, lifetime: 90.9, at: Calculator.now)
        #expect(url.hasPrefix("\(start)\(digest)?X-Amz-Algorithm=") && url.contains("&X-Amz-Expires=90&"), "\(url)")
        withExtendedLifetime(folder) {}
    }

    @Test func `a missing or empty secret of a bucket is named without what was set as its path`() throws {
        let folder = try Folder()
        func missing(_ setting: String) -> ServiceError {
            .content(
                "the file in `\(setting)` doesn't exist; write the secret into a file of mode 600, and set its path")
        }
        var settings = try settings(in: folder)
        settings.sessionTokenFile = "to/ken+="
        #expect(throws: missing("content.s3.sessionTokenFile")) { try S3Presigner(settings) }
        settings.secretAccessKeyFile = "s3cret/+"
        #expect(throws: missing("content.s3.secretAccessKeyFile")) { try S3Presigner(settings) }
        let blank = try folder.writeSecret(" \n", to: "blank")
        settings.secretAccessKeyFile = blank
        #expect(throws: ServiceError.keyFile(path: blank, detail: "the file is empty; write the secret into it")) {
            try S3Presigner(settings)
        }
        withExtendedLifetime(folder) {}
    }

    @Test func `after a reload, presigned URLs are signed with the new secrets, unless these are invalid`() throws {
        let folder = try Folder()
        let links = try S3Links(try settings(in: folder))
        func url() -> String { links.presigner.url(ofObject: "a", lifetime: 60, at: Calculator.now) }
        let old = url()
        try folder.writeSecret("new", to: "secret")
        try folder.writeSecret("new token", to: "token")
        #expect(url() == old)
        try links.reload()
        let new = url()
        #expect(new != old && new.contains("&X-Amz-Security-Token=new%20token&"))
        try folder.writeSecret("", to: "token")
        #expect(throws: ServiceError.self) { try links.reload() }
        #expect(url() == new)
        withExtendedLifetime(folder) {}
    }
}
