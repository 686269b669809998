import CommandRunner
import Foundation
import Testing

@testable import Tenure

/// Separate processes on an unreliable connection. The tests kill the app and the server again and again.
@Suite(.serialized, .timeLimit(.minutes(20))) struct `Downloads on an unreliable connection` {
    private static let isSoak = ProcessInfo.processInfo.environment["TENURE_SOAK"] != nil
    private static let size = isSoak ? 512 << 20 : 64 << 20
    private static let chunk = 4 << 20

    private static var faults: [UnreliableConnection.Fault] {
        [
            .cut(after: 3_000_000), .status(500), .flip(at: 1_000_000), .stall(after: 500_000), .ignoreRange,
            .status(429, retryAfter: 1), .wrongRange, .cut(after: 100),
        ]
    }

    private static func fill(_ published: PublishedFolder) throws {
        try published.write("samples/large.wav", size / 2)
        for number in 0..<7 { try published.write("samples/\(number).wav", size / 16) }
        for number in 0..<64 { try published.write("notes/\(number).txt", size / 1024) }
        try published.write("empty.txt", 0)
    }

    /// Downloads while the app is killed at several points, also during the installation. Each later start continues
    /// the download by itself.
    ///
    /// - Returns: the app that has installed the pack.
    private func download(
        _ published: PublishedFolder, over line: UnreliableConnection, bytes total: Int, kills: Int,
        killsInstalling: Int,
        serverKillAfter: Int
    ) async throws -> ContentClient {
        var seen: Int64 = 0
        func start(_ settings: [String: String] = [:]) throws -> ContentClient {
            try ContentClient(
                device: published.device, from: published.url(port: line.port), key: published.keyText,
                // Longer than a busy machine lets the line wait for a processor.
                settings: settings.merging(["stall": "5"]) { given, _ in given })
        }
        func check(_ client: ContentClient) {
            let progress = client.progress
            #expect(progress == progress.sorted(), "progress went back")
            if let first = progress.first { #expect(first >= seen, "progress went back after a relaunch") }
            seen = max(seen, progress.last ?? 0)
            #expect(!client.lines.contains { $0.hasPrefix("failed") || $0.hasPrefix("error") }, "\(client.lines)")
        }
        for kill in 1...kills {
            let client = try start()
            if kill == 1 {
                try await client.reaches(prefix: "available")
                try client.send("download")
            }
            // The last kill leaves little to fetch: the next process has to read everything while it installs.
            try await client.reaches(bytes: Int64(kill == kills ? total * 95 / 100 : total * kill / (kills + 1)))
            if kill == serverKillAfter { try await published.killServer() }
            await client.kill()
            check(client)
        }
        for _ in 0..<killsInstalling {
            // Without this stop, a busy machine could install the pack before the kill.
            let client = try start(["stop": "installing"])
            try await client.reaches(line: "installing")
            await client.kill()
            #expect(client.lines.last == "installing", "the kill came too late")
            check(client)
        }
        let client = try start()
        try await client.reaches(prefix: "installed")
        check(client)
        return client
    }

    @Test func `downloads fetch at most a tenth of the bytes again after kills, lost connections and corruption`()
        async throws
    {
        let published = try await PublishedFolder()
        try Self.fill(published)
        let size = try published.publish()
        let line = try await UnreliableConnection(to: published.serverPort, faults: Self.faults)

        var client = try await download(
            published, over: line, bytes: Self.size, kills: 7, killsInstalling: 3, serverKillAfter: 3)
        #expect(try await client.comparison(with: published.source) == "identical")
        #expect(line.faultsLeft == 0)
        #expect(line.flipped == 1)
        print("download: \(line.passed) of \(size) bytes passed")
        #expect(line.passed <= size * 11 / 10 + line.flipped * Self.chunk)
        try await client.quit()

        // Half of the bytes are new. The other files only have new names.
        try published.write("samples/large.wav", Self.size / 2)
        for number in 0..<7 { try published.rename("samples/\(number).wav", to: "samples/renamed \(number).wav") }
        try published.publish()
        line.resetCount()
        line.add(Self.faults)
        client = try await download(
            published, over: line, bytes: Self.size / 2, kills: 8, killsInstalling: 2, serverKillAfter: 4)
        #expect(try await client.comparison(with: published.source) == "identical")
        #expect(line.faultsLeft == 0)
        print("update: \(line.passed) of \(Self.size / 2) bytes passed")
        #expect(line.passed <= Self.size / 2 * 11 / 10 + line.flipped * Self.chunk)
        try await client.quit()
    }

    @Test func `a download needs less than 100 MB of memory, however slow the disk is`() async throws {
        let published = try await PublishedFolder()
        try published.write("large.wav", 64 << 20)
        try published.publish()
        let client = try ContentClient(
            device: published.device, from: published.url(), key: published.keyText, settings: ["delay": "1000"])
        try await client.reaches(prefix: "available")
        let before = client.command.peakMemory ?? 0
        try client.send("download")
        try await client.reaches(prefix: "installed")
        let after = client.command.peakMemory ?? 0
        print("memory: \(before >> 20) MB before, \(after >> 20) MB at most")
        #expect(after - before <= 100 << 20)
        #if os(Linux)
            #expect(before > 0)
        #endif
        #expect(try await client.comparison(with: published.source) == "identical")
        try await client.quit()
    }

    @Test func `two processes share one download, even when one of them is killed`() async throws {
        let published = try await PublishedFolder()
        try published.write("large.wav", 48 << 20)
        let size = try published.publish()
        let line = try await UnreliableConnection(to: published.serverPort)
        let clients = try (0..<2).map { _ in
            try ContentClient(device: published.device, from: published.url(port: line.port), key: published.keyText)
        }
        for client in clients { try client.send("download") }
        for client in clients { try await client.reaches(bytes: 5_000_000) }
        // Finds the process that downloads.
        let record = try Data(contentsOf: URL(fileURLWithPath: published.device + "/content/transfer.json"))
        let holder = try JSONDecoder().decode(TransferLease.Holder.self, from: record)
        let (working, waiting) =
            clients[0].command.identifier == holder.process ? (clients[0], clients[1]) : (clients[1], clients[0])
        #expect(working.command.identifier == holder.process)
        await working.kill()
        try await waiting.reaches(prefix: "installed")
        #expect(try await waiting.comparison(with: published.source) == "identical")
        #expect(line.passed <= size * 11 / 10)
        try await waiting.quit()
    }

    @Test func `downloads don't depend on the device's clock`() async throws {
        let published = try await PublishedFolder()
        try published.write("large.wav", 24 << 20)
        let size = try published.publish()
        let line = try await UnreliableConnection(to: published.serverPort)
        let year = 365 * 86_400
        for (offset, part) in [(0, 0.3), (year, 0.6), (-year, 1), (year, 1)] {
            let client = try ContentClient(
                device: published.device, from: published.url(port: line.port), key: published.keyText,
                settings: ["clock": "\(offset)"])
            if offset == 0 { try client.send("download") }
            if part < 1 {
                try await client.reaches(bytes: Int64(part * Double(size)))
                await client.kill()
            } else {
                try await client.reaches(prefix: "installed")
                #expect(try await client.comparison(with: published.source) == "identical")
                try await client.quit()
            }
        }
        #expect(line.passed <= size * 11 / 10)
    }
}
