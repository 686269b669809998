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

/// Downloads with common tools, which get only the link.
@Suite struct `downloads with curl, wget and aria2c` {
    private static func path(of tool: String) -> String? {
        ["/usr/bin", "/usr/local/bin", "/bin"].map { "\($0)/\(tool)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    private static func has(_ tool: String) -> Bool { path(of: tool) != nil }

    /// Resumes a download with a tool from a partial file, and checks the result.
    private func resume(
        _ tool: String, _ arguments: @escaping @Sendable (_ url: String, _ file: String) -> [String]
    ) async throws {
        let path = try #require(Self.path(of: tool))
        try await withContent(.live) { testBed in
            let archive = try testBed.published.publish([
                testBed.published.pack("grand-piano", .entitlement("everything"), size: 20_000_000)
            ]).packs[0].version.archive
            let link = try await testBed.links("grand-piano", try await testBed.owner()).archive
            let whole = Data(try testBed.published.bytes(of: archive))
            let folder = try Folder()
            let file = folder.url("pack.tar")
            try whole.prefix(7_654_321).write(to: file)
            let url = "http://127.0.0.1:\(try #require(testBed.port))\(link)"
            let result = try await Tool.runOnSeparateThread(path, arguments(url, file.path))
            #expect(result.status == 0, "\(result.errors) \(result.output)")
            #expect(try Data(contentsOf: file) == whole)
            // The first part wasn't sent again.
            let metrics = String(buffer: try await testBed.client.get("/metrics").body)
            #expect(metrics.contains("tenure_download_bytes_total \(whole.count - 7_654_321)\n"), "\(tool)")
            let unpacked = try await Tool.runOnSeparateThread("/usr/bin/tar", ["-xf", file.path, "-C", folder.path])
            #expect(unpacked.status == 0, "\(unpacked.errors)")
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/samples/c4.wav")
            #expect(attributes[.size] as? Int == 20_000_000)
        }
    }

    @Test(.enabled(if: has("curl"), "curl isn't installed")) func `a download with curl continues where it stopped`()
        async throws
    {
        try await resume("curl") { ["-sS", "-f", "-C", "-", "-o", $1, $0] }
    }

    @Test(.enabled(if: has("wget"), "wget isn't installed")) func `a download with wget continues where it stopped`()
        async throws
    {
        try await resume("wget") { ["-nv", "-c", "-O", $1, $0] }
    }

    @Test(.enabled(if: has("aria2c"), "aria2c isn't installed"))
    func `a download with aria2c in four parts at once is complete`() async throws {
        let path = try #require(Self.path(of: "aria2c"))
        try await withContent(.live) { testBed in
            let archive = try testBed.published.publish([
                testBed.published.pack("grand-piano", .entitlement("everything"), size: 20_000_000)
            ]).packs[0].version.archive
            let link = try await testBed.links("grand-piano", try await testBed.owner()).archive
            let folder = try Folder()
            let url = "http://127.0.0.1:\(try #require(testBed.port))\(link)"
            let result = try await Tool.runOnSeparateThread(
                path, ["-x4", "-s4", "-k1M", "-q", "--no-conf", "-d", folder.path, "-o", "pack.tar", url])
            #expect(result.status == 0, "\(result.errors) \(result.output)")
            #expect(try Data(contentsOf: folder.url("pack.tar")) == Data(try testBed.published.bytes(of: archive)))
        }
    }
}
