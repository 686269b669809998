import Foundation

/// Two ratios of the client: the time to download and install a pack against shell tools, and the bytes that an update
/// fetches against the changed file.
enum ContentClients {
    static let download = "content-client"
    static let update = "content-update"
    static let names = [download, update]

    static func measure(_ name: String) async throws {
        let folder = URL(fileURLWithPath: FileManager.default.currentDirectoryPath + "/.build/bench-\(name)")
        try? FileManager.default.removeItem(at: folder)
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("published"), withIntermediateDirectories: true)
        let published = folder.appendingPathComponent("published")
        let nginx = try Nginx(serving: published.path, state: folder.path + "/nginx")
        let content = ContentBenchmark(published: published)
        switch name {
        case download: try await measureDownload(folder, content, nginx)
        default: try await measureUpdate(folder, content, nginx)
        }
    }

    /// 512 MB in 64 files, from download to installed. The floor: curl, `sha256sum` and `tar`, one after the other.
    private static func measureDownload(_ folder: URL, _ content: ContentBenchmark, _ nginx: Nginx) async throws {
        let files = folder.appendingPathComponent("files").path
        try FileManager.default.createDirectory(atPath: files, withIntermediateDirectories: true)
        for number in 0..<64 { try RandomFile.write(8 << 20, to: "\(files)/\(number).caf", seed: UInt64(number)) }
        let publication = try content.publish(files: URL(fileURLWithPath: files))
        let url = try nginx.url
        let clock = ContinuousClock()
        var ratios: [Double] = []
        for round in 0...7 {
            let device = folder.appendingPathComponent("device-\(round)")
            let target = folder.appendingPathComponent("unpacked-\(round)").path
            defer {
                try? FileManager.default.removeItem(at: device)
                try? FileManager.default.removeItem(atPath: target)
            }
            func ours() async throws -> Double {
                // Flushes earlier writes first, so that they count for neither side.
                sync()
                let client = try content.client(on: device, server: url)
                return try await clock.measure { try await client.download() }.seconds
            }
            func floor() throws -> Double {
                try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
                sync()
                return try clock.measure {
                    let archive = target + "/archive"
                    _ = try Shell.run("curl", "-sSf", "-o", archive, "\(url.absoluteString)/\(publication.archive)")
                    let sum = try Shell.run("sha256sum", archive)
                    guard sum.hasPrefix(publication.archive) else {
                        throw BenchmarkFailure(
                            "the downloaded archive has the digest \(sum), not \(publication.archive)")
                    }
                    _ = try Shell.run("tar", "-xf", archive, "-C", target)
                }.seconds
            }
            let oursFirst = round.isMultiple(of: 2)
            let first = oursFirst ? try await ours() : try floor()
            let second = oursFirst ? try floor() : try await ours()
            let (mine, other) = oursFirst ? (first, second) : (second, first)
            // The first round warms up.
            guard round > 0 else { continue }
            ratios.append(mine / other)
            print("\(download): \(format(mine)) s, floor \(format(other)) s")
        }
        print("ratio \(download) \(format(ratios.median)) <=1")
    }

    /// An update with one changed file of 5% and two renamed ones: the bytes on the wire, with heads, catalog and
    /// manifest, against the changed file.
    private static func measureUpdate(_ folder: URL, _ content: ContentBenchmark, _ nginx: Nginx) async throws {
        let files = folder.appendingPathComponent("files").path
        try FileManager.default.createDirectory(atPath: files + "/new", withIntermediateDirectories: true)
        let size = 5 << 20
        for number in 0..<20 { try RandomFile.write(size, to: "\(files)/\(number).caf", seed: UInt64(number)) }
        _ = try content.publish(files: URL(fileURLWithPath: files))
        let device = folder.appendingPathComponent("device")
        try await content.client(on: device, server: nginx.url).download()
        let before = try nginx.bytesSent
        try RandomFile.write(size, to: "\(files)/7.caf", seed: 99)
        for number in [3, 11] {
            try FileManager.default.moveItem(atPath: "\(files)/\(number).caf", toPath: "\(files)/new/\(number).caf")
        }
        _ = try content.publish(files: URL(fileURLWithPath: files))
        // A new client, as after another start of the app.
        let client = try content.client(on: device, server: nginx.url)
        try await client.download()
        for path in ["7.caf", "new/3.caf", "new/11.caf", "0.caf"] {
            let installed = try Data(contentsOf: try await client.file(path))
            guard installed == (try Data(contentsOf: URL(fileURLWithPath: "\(files)/\(path)"))) else {
                throw BenchmarkFailure("the installed file `\(path)` differs from the published one")
            }
        }
        let sent = try nginx.bytesSent - before
        print("\(update): \(sent) bytes for a changed file of \(size)")
        print("ratio \(update) \(format(Double(sent) / Double(size))) <=1.1")
    }
}

/// Files of pseudo-random bytes, which no file system can compress.
enum RandomFile {
    /// Writes `size` bytes. The same seed gives the same bytes.
    static func write(_ size: Int, to path: String, seed: UInt64) throws {
        // Marsaglia's xorshift with 64 bits.
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        var words = [UInt64](repeating: 0, count: size / 8 + 1)
        for index in words.indices {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            words[index] = state
        }
        try words.withUnsafeBytes { bytes in
            try Data(bytes.prefix(size)).write(to: URL(fileURLWithPath: path))
        }
    }
}

/// Command-line tools, such as `curl`.
enum Shell {
    /// Runs a tool that is found in `PATH`, and returns its standard output. Throws if the tool fails.
    @discardableResult static func run(_ arguments: String...) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw BenchmarkFailure("`\(arguments[0])` failed with the status \(process.terminationStatus)")
        }
        return text
    }
}
