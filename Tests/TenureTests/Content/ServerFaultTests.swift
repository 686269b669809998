import CommandRunner
import Foundation
import TenureContent
import TenureContentPublishing
import TenureCore
import Testing

@testable import Tenure

@Suite(.timeLimit(.minutes(5))) struct `Downloads from faulty servers and networks` {
    private static let files: [String: Data] = [
        "samples/a.wav": ContentTestBed.bytes(9_000_000), "samples/b.wav": ContentTestBed.bytes(5_000_000, seed: 2),
        "index.json": Data("{}".utf8), "empty.txt": Data(),
    ]
    private static let size = files.values.reduce(0) { $0 + $1.count }

    @Test func `downloads survive an unreliable connection without fetching much again`() async throws {
        let testBed = try ContentTestBed(
            Self.files,
            faults: [
                .cut(after: 1_000_000), .status(500), .stall(after: 500_000), .status(429, headers: ["Retry-After: 0"]),
                .ignoreRange, .wrongRange, .flip(at: 100_000), .cut(after: 700_000),
            ])
        // 40 MB a second.
        testBed.server.slowDown(400)
        let tenure = testBed.device.start()
        let watched = Task {
            var last: Int64 = 0
            for await state in tenure.content["piano"].states {
                if case .failed(let error) = state { Issue.record("\(error)") }
                if case .installed = state { break }
                guard case .downloading(let progress) = state else { continue }
                #expect(progress.bytes >= last)
                last = progress.bytes
            }
        }
        try await tenure.content["piano"].download()
        await watched.value
        #expect(testBed.server.faultsLeft == 0)
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
        // One chunk was corrupted. Bytes in the kernel's buffers count as sent when a connection closes.
        let buffers = 4 * 1_500_000
        #expect(testBed.server.sent <= Int(1.1 * Double(Self.size)) + (4 << 20) + buffers)
    }

    @Test func `a download waits until the date in Retry-After, measured by the server's clock`() async throws {
        // The server's clock is years behind.
        let fields = ["Date: Sun, 06 Nov 1994 08:49:37 GMT", "Retry-After: Sun, 06 Nov 1994 08:49:40 GMT"]
        let testBed = try ContentTestBed(Self.files, faults: [.status(503, headers: fields)])
        let tenure = testBed.device.start()
        let started = ContinuousClock.now
        try await tenure.content["piano"].download()
        #expect(ContinuousClock.now - started >= .seconds(3))
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
    }

    @Test func `a download is retried soon if the date in Retry-After is past or can't be read`() async throws {
        let over = ["Date: Sun, 06 Nov 1994 08:49:37 GMT", "Retry-After: Sun, 06 Nov 1994 08:00:00 GMT"]
        let faults: [ContentServer.Fault] = [
            .status(503, headers: over), .status(503, headers: ["Retry-After: tomorrow"]),
            .status(503, headers: ["Retry-After: Sun, 06 Nov 2094 08:49:37 GMT"]),
        ]
        let testBed = try ContentTestBed(Self.files, faults: faults)
        let tenure = testBed.device.start()
        try await tenure.content["piano"].download()
        #expect(testBed.server.faultsLeft == 0)
    }

    @Test func `downloads continue when the customer asks, although the server requests a pause of centuries`()
        async throws
    {
        let testBed = try ContentTestBed(Self.files, faults: [.status(503, headers: ["Retry-After: 1000000000000"])])
        let tenure = testBed.device.start()
        let piano = tenure.content["piano"]
        let download = Task { try await piano.download() }
        while testBed.server.faultsLeft > 0 { try await Task.sleep(nanoseconds: 5_000_000) }
        #expect(await piano.reaches { $0 == .waiting(.network) } == .waiting(.network))
        try await Task.sleep(nanoseconds: 200_000_000)
        #expect(piano.state == .waiting(.network))
        await piano.resume()
        try await download.value
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
    }

    @Test func `downloads continue without a pause after each lost connection that delivered bytes`() async throws {
        let testBed = try ContentTestBed(
            Self.files, faults: [ContentServer.Fault](repeating: .cut(after: 300_000), count: 8)
        ) { $0.chance = { 0 } }
        let tenure = testBed.device.start()
        let started = ContinuousClock.now
        try await tenure.content["piano"].download()
        #expect(testBed.server.faultsLeft == 0)
        // Pauses that double each time would take 63 seconds.
        #expect(ContinuousClock.now - started < .seconds(50))
    }

    @Test func `downloads fail after a chunk has arrived with wrong bytes five times`() async throws {
        let flips = [ContentServer.Fault](repeating: .flip(at: 0), count: 20)
        let testBed = try ContentTestBed(Self.files, faults: flips)
        let tenure = testBed.device.start()
        await #expect(throws: Tenure.AssetPackError.corrupted("piano")) { try await tenure.content["piano"].download() }
        #expect(testBed.server.faultsLeft >= 10)
    }

    @Test func `a download uses no bytes of a response with another range than requested`() async throws {
        let testBed = try ContentTestBed(Self.files, faults: [.shiftedRange])
        let tenure = testBed.device.start()
        try await tenure.content["piano"].download()
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
        // The client requests the same range again, so it kept nothing of the response.
        let ranges = testBed.server.ranges
        #expect(ranges.count == 2 && Set(ranges).count == 1, "\(ranges)")
    }

    @Test(arguments: [
        (ContentServer.Fault.ignoreRange, "HTTP range requests"),
        (.status(302, headers: ["Location: /elsewhere"]), "redirects"),
    ])
    func `a server without ranges, or with redirects, is logged once`(
        fault: ContentServer.Fault, reason: String
    ) async throws {
        let lines = Locked<[String]>([])
        let testBed = try ContentTestBed(Self.files, faults: [fault, fault]) { setup in
            setup.options.log = Tenure.Log { _, line in lines.withLock { $0.append(line) } }
        }
        let tenure = testBed.device.start()
        try await tenure.content["piano"].download()
        let address = testBed.server.url.absoluteString
        #expect(lines.withLock { $0.count { $0.contains(address) && $0.contains(reason) } } == 1)
    }

    @Test func `a manifest that doesn't match its digest fails the download`() async throws {
        let testBed = try ContentTestBed(Self.files)
        let publication = try testBed.publish(Self.files)
        let version = try #require(publication.packs.first?.version.manifest)
        let path = testBed.published + "/" + version.description
        // Another manifest of the same size, for the same archive.
        let text = try String(contentsOfFile: path, encoding: .utf8).replacingOccurrences(
            of: "index.json", with: "hacks.json")
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        let tenure = testBed.device.start()
        await #expect(throws: Tenure.AssetPackError.corrupted("piano")) { try await tenure.content["piano"].download() }
        await #expect(throws: Tenure.AssetPackError.notInstalled("piano")) {
            try await tenure.content["piano"].url(for: "")
        }
    }

    @Test func `a download fails after the server has refused two links, and can be retried`() async throws {
        let testBed = try ContentTestBed(Self.files, faults: [.status(403), .status(403)])
        let tenure = testBed.device.start()
        await #expect(throws: Tenure.AssetPackError.refused("piano")) { try await tenure.content["piano"].download() }
        try await tenure.content["piano"].download()
        #expect(try await ContentTestBed.contents(of: tenure) == Self.files)
    }
}
