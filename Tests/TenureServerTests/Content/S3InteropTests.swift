import CommandRunner
import Crypto
import Foundation
import TenureContent
import TenureContentPublishing
import TenureMint
import TenureServer
import Testing

@testable import TenureServer

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Compares presigned URLs with those of AWS's client (botocore), and uses them with a server that verifies signatures
/// (hadro). Both are Python packages.
@Suite(
    .enabled(if: S3Interop.python != nil, "TENURE_INTEROP_PYTHON names no Python with botocore"),
    .timeLimit(.minutes(5))) struct `presigned URLs`
{
    @Test func `presigned URLs of 500 objects are equal to those of botocore, the AWS library for Python`() throws {
        var random = SeededRandom(seed: 20)
        let (settings, folder) = try S3Interop.settings(50, &random)
        var ours: [String] = []
        var described: [[String: Any?]] = []
        for setting in settings {
            let presigner = try S3Presigner(setting)
            var objects: [[String: Any]] = []
            for number in 0..<10 {
                let name = S3Interop.name(number, &random)
                let lifetime = Int.random(in: 1...604_800, using: &random)
                let time = Int.random(in: 1_300_000_000...2_500_000_000, using: &random)
                ours.append(
                    presigner.url(
                        ofObject: name, lifetime: lifetime, at: Date(timeIntervalSince1970: Double(time) + 0.4)))
                let key = setting.prefix.isEmpty ? name : "\(setting.prefix)/\(name)"
                objects.append(["key": key, "lifetime": lifetime, "time": time])
            }
            described.append([
                "endpoint": setting.endpoint.isEmpty ? nil : setting.endpoint, "region": setting.region,
                "bucket": setting.bucket, "style": setting.urlStyle == .path ? "path" : "virtual",
                "accessKeyID": setting.accessKeyID,
                "secret": try S3Interop.text(setting.secretAccessKeyFile),
                "sessionToken": try setting.sessionTokenFile.map(S3Interop.text), "objects": objects,
            ])
        }
        let theirs = try S3Interop.presigned(described.map { $0.mapValues { $0 ?? NSNull() } }, in: folder)
        #expect(ours.count == 500 && theirs.count == 500)
        for (mine, other) in zip(ours, theirs) where mine != other { Issue.record("\(mine)\n\(other)") }
    }

    @Test func `presigned URLs give access to files of an S3 server that verifies signatures`() async throws {
        let folder = try Folder()
        let published = folder.path + "/buckets/packs/calculator"
        try FileManager.default.createDirectory(atPath: folder.path + "/files", withIntermediateDirectories: true)
        try folder.write(String(repeating: "all the keys of a piano", count: 100_000), to: "files/piano.txt")
        let version = try ContentPublisher(folder: published, key: P256.Signing.PrivateKey()).publish(
            bundleID: "com.example.calculator",
            packs: [try PackSource(name: "piano", unlock: .entitlement("a"), folder: folder.path + "/files")]
        ).packs[0].version
        let archive = try Data(contentsOf: URL(fileURLWithPath: "\(published)/\(version.archive)"))
        let server = try S3Server(folder.path + "/buckets", accessKeyID: "AKIDEXAMPLE", secret: "s3cret/+")
        let port = try #require(try await server.port(), "\(server.log)")

        func presigner(secret: String = "s3cret/+", accessKeyID: String = "AKIDEXAMPLE") throws -> S3Presigner {
            var settings = S3Settings(
                region: "eu-west-2", bucket: "packs", accessKeyID: accessKeyID,
                secretAccessKeyFile: try folder.writeSecret(secret, to: UUID().uuidString))
            settings.prefix = "calculator"
            settings.endpoint = "http://127.0.0.1:\(port)"
            return try S3Presigner(settings)
        }
        func get(_ url: String, range: String? = nil) async throws -> (Data, Int) {
            var request = URLRequest(url: try #require(URL(string: url)))
            request.setValue(range, forHTTPHeaderField: "Range")
            let (data, response) = try await URLSession.shared.data(for: request)
            return (data, (response as? HTTPURLResponse)?.statusCode ?? 0)
        }
        let now = Date()
        let link = try presigner().url(of: version.archive, lifetime: 60, at: now)
        #expect(try await get(link) == (archive, 200))
        #expect(try await get(link, range: "bytes=1000-1999") == (archive[1000..<2000], 206))
        let manifest = try await get(try presigner().url(of: version.manifest, lifetime: 604_800, at: now))
        #expect(try PackManifest(json: manifest.0).archive == version.archive)
        // A resumed download ends with the same bytes.
        let part = folder.url("pack.tar")
        try archive.prefix(123_456).write(to: part)
        let resumed = try Tool.run("/usr/bin/env", ["curl", "-sSf", "-C", "-", "-o", part.path, link])
        #expect(resumed.status == 0, "\(resumed.errors)")
        #expect(try Data(contentsOf: part) == archive)

        let changed = link.dropLast() + (link.hasSuffix("0") ? "1" : "0")
        for (name, url) in [
            ("changed", String(changed)),
            ("of another object", link.replacing(version.archive.description, with: version.manifest.description)),
            ("longer", link.replacing("X-Amz-Expires=60", with: "X-Amz-Expires=600")),
            ("expired", try presigner().url(of: version.archive, lifetime: 60, at: now.addingTimeInterval(-120))),
            ("another secret", try presigner(secret: "other").url(of: version.archive, lifetime: 60, at: now)),
            ("another key", try presigner(accessKeyID: "AKIDOTHER").url(of: version.archive, lifetime: 60, at: now)),
            ("unsigned", String(link.prefix { $0 != "?" })),
        ] { #expect(try await get(url).1 == 403, "\(name)") }
    }

    @Test func `presigned URLs are signed with new secrets after a reload`() throws {
        let folder = try Folder()
        var settings = S3Settings(
            region: "eu-central-1", bucket: "packs", accessKeyID: "AKIDEXAMPLE",
            secretAccessKeyFile: try folder.writeSecret("old", to: "secret"))
        settings.sessionTokenFile = try folder.writeSecret("old token", to: "token")
        let links = try S3Links(settings)
        func url() -> String { links.presigner.url(ofObject: "a", lifetime: 60, at: Date(timeIntervalSince1970: 0)) }
        let old = url()
        try folder.writeSecret("new", to: "secret")
        try folder.writeSecret("new token", to: "token")
        #expect(url() == old)
        try links.reload()
        let new = url()
        #expect(new != old && new.contains("X-Amz-Security-Token=new%20token"))
        #expect(new == (try S3Presigner(settings).url(ofObject: "a", lifetime: 60, at: Date(timeIntervalSince1970: 0))))
        // Invalid secrets don't replace the previous ones.
        try folder.writeSecret("", to: "token")
        #expect(throws: ServiceError.self) { try links.reload() }
        #expect(url() == new)
    }
}

/// Runs botocore, the AWS library for Python, and makes random settings and object names.
enum S3Interop {
    static let python = ProcessInfo.processInfo.environment["TENURE_INTEROP_PYTHON"]

    private static let script = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().appendingPathComponent("../../Interop/presign.py").standardizedFileURL.path

    static func text(_ file: String) throws -> String { try String(contentsOfFile: file, encoding: .utf8) }

    /// Makes random settings for all kinds of buckets.
    static func settings(_ count: Int, _ random: inout SeededRandom) throws -> ([S3Settings], Folder) {
        let folder = try Folder()
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/+=")
        func characters(_ count: Int, _ random: inout SeededRandom) -> String {
            String((0..<count).map { _ in letters[Int.random(in: letters.indices, using: &random)] })
        }
        let prefixes = ["", "calculator", "a/b/c", "Töne & Räume", "a+b=c,d;e?f#g%20h", "~user/*('!')@:$", "猫"]
        let regions = ["us-east-1", "eu-central-1", "eu-west-2", "ap-southeast-2"]
        let endpoints = ["https://s3.example.com", "https://s3.example.com:9000", "http://127.0.0.1:9000"]
        let settings = try (0..<count).map { number in
            var settings = S3Settings(
                region: regions[number % regions.count], bucket: "packs-\(number)",
                accessKeyID: "AKIA" + characters(16, &random).filter { $0.isLetter || $0.isNumber },
                secretAccessKeyFile: try folder.writeSecret(characters(40, &random), to: "secret-\(number)"))
            settings.prefix = prefixes[number % prefixes.count]
            if number.isMultiple(of: 3) {
                settings.sessionTokenFile = try folder.writeSecret(characters(300, &random), to: "token-\(number)")
            }
            // Without an endpoint, botocore uses a special host name for the first region.
            if settings.region == "us-east-1" || number.isMultiple(of: 2) {
                settings.endpoint = endpoints[number % endpoints.count]
            }
            if !settings.endpoint.contains("127.0.0.1"), number % 5 < 2 { settings.urlStyle = .virtualHost }
            return settings
        }
        return (settings, folder)
    }

    /// Returns an object name. Every second name looks like the name of a published file.
    static func name(_ number: Int, _ random: inout SeededRandom) -> String {
        let bytes = (0..<8).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } }
        if number.isMultiple(of: 2) { return ContentDigest(of: bytes).description }
        let parts = ["test.txt", "a b", "ü", "+", "&=", "%", "~", "x/y", "?", "#", "'\"", "猫🎹", "*", "(1)"]
        return (0...number % 4).map { _ in parts[Int.random(in: parts.indices, using: &random)] }.joined()
    }

    static func presigned(_ settings: [[String: Any]], in folder: Folder) throws -> [String] {
        let input = folder.url("settings.json")
        try JSONSerialization.data(withJSONObject: settings).write(to: input)
        let result = try Tool.run(try #require(python), [script, input.path])
        #expect(result.status == 0, "\(result.errors)")
        return try JSONDecoder().decode([String].self, from: Data(result.output.utf8))
    }
}

/// A server for files that verifies presigned URLs: hadro, a Python package.
struct S3Server {
    private let command: RunningCommand

    init(_ folder: String, accessKeyID: String, secret: String) throws {
        let python = URL(fileURLWithPath: try #require(S3Interop.python))
        command = try RunningCommand(
            ["-m", "hadro", "--port", "0", "--access-key", accessKeyID, "--secret-key", secret, folder],
            executable: python)
    }

    var log: String { command.output + command.errors }

    func port() async throws -> Int? {
        for _ in 0..<1200 {
            if let match = log.firstMatch(of: /running on http:\/\/127\.0\.0\.1:([0-9]+)/) { return Int(match.1) }
            try await Task.sleep(for: .milliseconds(50))
        }
        return nil
    }
}
