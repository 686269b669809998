import Foundation
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
}
