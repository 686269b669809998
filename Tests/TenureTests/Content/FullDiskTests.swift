import CommandRunner
import Foundation
import Testing

@testable import Tenure

/// Apps on a file system that is too small, in a separate mount namespace.
@Suite(
    .serialized, .timeLimit(.minutes(5)),
    .enabled(if: Namespace.isPossible, "no file system can be mounted in a namespace here"))
struct `Downloads on a full disk` {
    private static let largest = 8 << 20
    private static let reserve = 16 << 20

    /// Mounts a file system for the device and fills a part of it, until the file `free` exists beside the device's
    /// folder.
    private static func script(size: Int, filled: Int, device: String) -> String {
        """
        set -e
        mkdir -p '\(device)'
        mount -t tmpfs -o size=\(size) none '\(device)'
        head -c \(filled) /dev/zero > '\(device)/other' || true
        main=$$
        (while kill -0 $main 2>/dev/null; do
            if [ -e '\(device).free' ]; then rm -f '\(device)/other'; exit; fi
            sleep 0.05
        done) &
        exec "$@"
        """
    }

    private func free(_ published: PublishedFolder) throws { try Data().write(to: published.folder.url("device.free")) }

    private func publish(_ published: PublishedFolder) throws -> Int {
        for number in 0..<3 { try published.write("\(number).wav", Self.largest) }
        return try published.publish()
    }

    @Test func `a download on a full disk reports the missing bytes, and continues when they are free`() async throws {
        let published = try await PublishedFolder()
        let size = try publish(published)
        // The most that a download may need.
        let disk = size + Self.largest + Self.reserve
        let client = try ContentClient(
            device: published.device, from: published.url(), key: published.keyText,
            script: Self.script(size: disk, filled: Self.largest + (4 << 20), device: published.device))
        try client.send("download")
        let line = try await client.reaches(prefix: "waiting space")
        let missing = line.split(separator: " ").last.flatMap { Int($0) } ?? 0
        #expect(missing >= 4 << 20 && missing <= 5 << 20, "\(line)")
        try free(published)
        try await client.reaches(prefix: "installed", seconds: 30)
        #expect(try await client.comparison(with: published.source) == "identical")
        #expect(!client.lines.contains { $0.hasPrefix("failed") })
        try await client.quit()
    }

    @Test(arguments: [2, 12]) func `downloads wait when a write fails on a full disk, and fetch nothing again`(
        megabytes: Int
    ) async throws {
        let published = try await PublishedFolder()
        let size = try publish(published)
        let line = try await UnreliableConnection(to: published.serverPort)
        let disk = size + Self.largest + Self.reserve
        let client = try ContentClient(
            device: published.device, from: published.url(port: line.port), key: published.keyText,
            settings: ["space": "unknown"],
            script: Self.script(size: disk, filled: disk - megabytes << 20, device: published.device))
        try client.send("download")
        try await client.reaches(prefix: "waiting space")
        try free(published)
        try await Task.sleep(nanoseconds: 200_000_000)
        try client.send("resume")
        try await client.reaches(prefix: "installed", seconds: 30)
        #expect(try await client.comparison(with: published.source) == "identical")
        #expect(line.passed <= size * 11 / 10)
        try await client.quit()
    }

    @Test func `a download waits if the disk has no space at all, or too little space for an update`() async throws {
        let published = try await PublishedFolder()
        let size = try publish(published)
        let disk = size + Self.largest + Self.reserve
        let client = try ContentClient(
            device: published.device, from: published.url(), key: published.keyText,
            script: Self.script(size: disk, filled: disk + 1, device: published.device))
        try client.send("download")
        try await client.reaches(prefix: "waiting space")
        try free(published)
        try await client.reaches(prefix: "installed", seconds: 30)
        let installed = published.folder.url("installed").path
        try FileManager.default.copyItem(atPath: published.source, toPath: installed)
        for number in 0..<3 { try published.write("\(number).wav", Self.largest) }
        try published.publish()
        let start = client.lines.count
        try client.send("refresh")
        try await client.reaches(prefix: "available", from: start)
        // Three new files and the reserve need more than is free: one file and the reserve.
        try client.send("download")
        let line = try await client.reaches(prefix: "waiting space", from: start)
        let missing = line.split(separator: " ").last.flatMap { Int($0) } ?? 0
        #expect(abs(missing - 2 * Self.largest) < 2 << 20, "\(line)")
        // The app still has the version that is installed.
        #expect(try await client.comparison(with: installed) == "identical")
        #expect(!client.lines.contains { $0.hasPrefix("failed") || $0.hasPrefix("error") }, "\(client.lines)")
        await client.kill()
    }
}
