import CommandRunner
import Foundation
import HTTPTypes
import HummingbirdTesting
import Logging
import NIOCore
import TenureAPI
import TenureAppStore
import TenureContent
import TenureContentPublishing
import TenureCore
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `a download over HTTP` {
    /// A file behind a link, with its entity tag, over a socket.
    private struct File: Sendable {
        let testBed: ContentTestBed
        let link: String
        let bytes: [UInt8]
        let tag: String

        func get(
            _ fields: [(HTTPField.Name, String)] = [], method: HTTPRequest.Method = .get
        ) async throws -> TestResponse { try await testBed.get(link, method: method, fields) }

        func expect(
            _ response: TestResponse, isPart range: Range<Int>, sourceLocation: SourceLocation = #_sourceLocation
        ) {
            #expect(response.status == .partialContent, sourceLocation: sourceLocation)
            #expect(Array(response.body.readableBytesView) == Array(bytes[range]), sourceLocation: sourceLocation)
            #expect(
                response.headers[.contentRange] == "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(bytes.count)",
                sourceLocation: sourceLocation)
            #expect(response.headers[.contentLength] == "\(range.count)", sourceLocation: sourceLocation)
        }

        func expectAll(_ response: TestResponse, sourceLocation: SourceLocation = #_sourceLocation) {
            #expect(response.status == .ok, sourceLocation: sourceLocation)
            #expect(Array(response.body.readableBytesView) == bytes, sourceLocation: sourceLocation)
            #expect(response.headers[.contentRange] == nil, sourceLocation: sourceLocation)
        }
    }

    private func withFile(size: Int = 1_000_000, _ body: @escaping @Sendable (File) async throws -> Void) async throws {
        try await withContent(.live) { testBed in
            let version = try testBed.published.publish([
                testBed.published.pack("grand-piano", .entitlement("everything"), size: size)
            ]).packs[0].version
            let link = try await testBed.links("grand-piano", try await testBed.owner()).archive
            try await body(
                File(
                    testBed: testBed, link: link, bytes: try testBed.published.bytes(of: version.archive),
                    tag: "\"\(version.archive)\""))
        }
    }

    private static func field(_ name: String) throws -> HTTPField.Name { try #require(HTTPField.Name(name)) }

    @Test func `whole and partial downloads over HTTP have an entity tag, a digest and a content type`() async throws {
        let representation = try Self.field("Repr-Digest")
        try await withFile { file in
            let digest = try #require(ContentDigest(file.tag.dropFirst().dropLast()))
            for (range, status) in [(nil, 200), ("bytes=0-99", 206)] {
                let response = try await file.get(range.map { [(.range, $0)] } ?? [])
                #expect(response.status.code == status)
                #expect(response.headers[.eTag] == file.tag)
                #expect(response.headers[.acceptRanges] == "bytes")
                #expect(response.headers[.cacheControl] == "private")
                #expect(response.headers[.contentType] == "application/x-tar")
                #expect(response.headers[.contentEncoding] == nil)
                #expect(
                    response.headers[representation] == "sha-256=:\(Data(digest.bytes).base64EncodedString()):")
            }
            // The service sends the file uncompressed, whatever encodings the client accepts.
            let compressed = try await file.get([(.acceptEncoding, "gzip, br, zstd, deflate")])
            file.expectAll(compressed)
            #expect(compressed.headers[.contentEncoding] == nil)
        }
    }

    @Test func `a download over HTTP gets one part for one range`() async throws {
        try await withFile { file in
            let size = file.bytes.count
            for (header, range) in [
                ("bytes=0-0", 0..<1), ("bytes=10-20", 10..<21), ("bytes=\(size - 1)-", (size - 1)..<size),
                ("bytes=500000-", 500_000..<size), ("bytes=-1", (size - 1)..<size), ("bytes=-500", (size - 500)..<size),
                ("bytes=-99999999999999999999", 0..<size), ("bytes=0-99999999999999999999", 0..<size),
                ("bytes=5-\(size)", 5..<size), ("BYTES=1-2", 1..<3), ("bytes= 1-2 ", 1..<3),
            ] {
                file.expect(try await file.get([(.range, header)]), isPart: range)
            }
        }
    }

    @Test(arguments: [
        "bytes=0-1,3-4", "bytes=0-1, 5-", "bytes=", "bytes", "bytes=a-b", "bytes=5-4", "bytes=--5", "bytes=1-2-3",
        "bytes=-", "bytes=+1-2", "bytes=1 -2", "bytes=1-2 3", "lines=1-2", "bytes=0x0-5", "",
    ])
    func `a download over HTTP gets the whole file for several ranges or an invalid range`(range: String) async throws {
        try await withFile(size: 1000) { file in
            file.expectAll(try await file.get([(.range, range)]))
        }
    }

    @Test func `a download over HTTP with a range beyond the file's end is refused`() async throws {
        try await withFile(size: 1000) { file in
            let size = file.bytes.count
            for range in ["bytes=\(size)-", "bytes=\(size)-\(size + 5)", "bytes=-0", "bytes=99999999999999999999-"] {
                let response = try await file.get([(.range, range)])
                let problem = try file.testBed.client.problem(response)
                #expect(problem.code == .rangeNotSatisfiable)
                #expect(
                    problem.detail
                        == "the file has \(size) bytes, and none in this range; ask for an earlier range")
                #expect(response.headers[.eTag] == file.tag && response.headers[.cacheControl] == "private")
                #expect(response.headers[.contentRange] == "bytes */\(size)")
            }
        }
    }

    @Test func `a range request with If-Range gets a part only if If-Range has the file's entity tag`() async throws {
        let condition = try Self.field("If-Range")
        try await withFile(size: 1000) { file in
            let range = (HTTPField.Name.range, "bytes=1-2")
            file.expect(try await file.get([range, (condition, file.tag)]), isPart: 1..<3)
            for other in ["W/\(file.tag)", "\"other\"", "Wed, 21 Oct 2026 07:28:00 GMT", "*"] {
                file.expectAll(try await file.get([range, (condition, other)]))
            }
        }
    }

    @Test func `a download over HTTP is refused if If-Match has another entity tag`() async throws {
        try await withFile(size: 1000) { file in
            for tags in [file.tag, "*", "\"a\", \(file.tag)"] {
                file.expectAll(try await file.get([(.ifMatch, tags)]))
            }
            for tags in ["\"a\"", "W/\(file.tag)", ""] {
                let response = try await file.get([(.ifMatch, tags), (.range, "bytes=0-1")])
                let problem = try file.testBed.client.problem(response)
                #expect(problem.code == .preconditionFailed, "\(tags)")
                #expect(
                    problem.detail
                        == "the file at this path has the entity tag \(file.tag); download it from its start")
                #expect(response.headers[.eTag] == file.tag)
            }
        }
    }

    @Test func `a download over HTTP gets 304 if If-None-Match has the file's entity tag`() async throws {
        try await withFile(size: 1000) { file in
            for tags in [file.tag, "W/\(file.tag)", "*", "\"a\", \(file.tag)"] {
                for method in [HTTPRequest.Method.get, .head] {
                    let response = try await file.get([(.ifNoneMatch, tags), (.range, "bytes=0-1")], method: method)
                    #expect(response.status == .notModified && response.body.readableBytes == 0)
                    #expect(response.headers[.eTag] == file.tag)
                }
            }
            file.expectAll(try await file.get([(.ifNoneMatch, "\"a\"")]))
        }
    }

    @Test func `a HEAD request for a download gets the headers of the whole file, without the file`() async throws {
        try await withFile { file in
            let port = try #require(file.testBed.port)
            let connection = try RawConnection(port: port)
            connection.send(
                "HEAD \(file.link) HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-1\r\nConnection: close\r\n\r\n")
            let answer = try #require(await connection.received()).lowercased()
            #expect(answer.hasPrefix("http/1.1 200 ") && answer.hasSuffix("\r\n\r\n"))
            for field in [
                "content-length: \(file.bytes.count)", "etag: \(file.tag)", "accept-ranges: bytes",
                "content-type: application/x-tar", "repr-digest: sha-256=:",
            ] {
                #expect(answer.contains("\r\n" + field), "\(field)")
            }
        }
    }

    @Test func `a download of a manifest over HTTP is JSON`() async throws {
        try await withContent(.live) { testBed in
            try testBed.published.publishThree()
            let link = try await testBed.links("grand-piano", try await testBed.owner()).manifest
            let response = try await testBed.get(link)
            #expect(response.headers[.contentType] == "application/json")
            #expect(try PackManifest(json: Data(buffer: response.body)).files.map(\.path) == ["samples/c4.wav"])
        }
    }
}
