import Foundation
import Logging
import TenureCore
import TenureServer

/// `content-nginx`: bytes per second of 16 clients that download 100 MB each from the service, against an nginx that
/// also reads the file into memory. Then the memory that 1,000 slow clients take in the same service.
enum ContentDownloads {
    static let name = "content-nginx"
    private static let clients = 16
    private static let slowClients = 1000
    private static let size = 100_000_000

    // MARK: The service

    /// Runs the service in a separate process. It serves the content in the folder that the argument names, and writes
    /// an access token to the file `token` there.
    static func serve(_ arguments: [String]) async throws {
        guard let folder = arguments.first else { throw BenchmarkFailure("`--serve-content` needs a folder") }
        var configuration = ServiceConfiguration(
            databasePath: folder + "/tenure.sqlite", policy: try Fixtures.policy())
        configuration.port = 0
        configuration.content = ContentSettings(folder: folder + "/published")
        // All clients have the same address, so the default limit would refuse some of them.
        configuration.limits.connectionsPerAddress = 4 * slowClients
        let benchmark = try await CustomerBenchmark(
            configuration: configuration, downloadsPerCustomer: 2 * slowClients)
        try await benchmark.fill(to: 100)
        let tokens = benchmark.accessTokens(1, ofCustomersUpTo: 1)
        try Data(tokens[0].utf8).write(to: URL(fileURLWithPath: folder + "/token"))
        var logger = Logger(label: "bench")
        logger.logLevel = .error
        try await benchmark.run(logger: logger) { port in
            FileHandle.standardOutput.write(Data("port \(port)\n".utf8))
        }
    }

    // MARK: The measurement

    static func measure() async throws {
        let folder = FileManager.default.currentDirectoryPath + "/.build/bench-content"
        try? FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createDirectory(atPath: folder + "/files", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try RandomFile.write(size, to: folder + "/files/samples.caf", seed: 1)
        let published = URL(fileURLWithPath: folder + "/published")
        let publication = try ContentBenchmark(published: published).publish(
            files: URL(fileURLWithPath: folder + "/files"))

        let server = Process()
        server.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        server.arguments = ["--serve-content", folder]
        let output = Pipe()
        server.standardOutput = output
        try server.run()
        defer {
            server.terminate()
            server.waitUntilExit()
        }
        guard let line = String(data: output.fileHandleForReading.availableData, encoding: .utf8),
            let port = Int(line.filter(\.isNumber))
        else { throw BenchmarkFailure("the service didn't print its port; its errors are above") }
        let token = try String(contentsOfFile: folder + "/token", encoding: .utf8)
        let link = try link(port: port, token: token)
        let nginx = try Nginx(serving: published.path, state: folder + "/nginx")

        try compare(
            (port, link), with: (nginx.port, "/" + publication.archive), size: Int(publication.archiveSize))
        try measureMemory(of: server.processIdentifier, port, link)
    }

    private static func link(port: Int, token: String) throws -> String {
        let result = try Shell.run(
            "curl", "-sSf", "-H", "Authorization: Bearer \(token)", "http://127.0.0.1:\(port)/v1/content")
        struct Content: Decodable {
            struct Links: Decodable { let archive: String }
            let packs: [String: Links]
        }
        let content = try JSONDecoder().decode(Content.self, from: Data(result.utf8))
        guard let link = content.packs[ContentBenchmark.pack]?.archive else {
            throw BenchmarkFailure("the service offers no pack `\(ContentBenchmark.pack)`: \(result)")
        }
        return link
    }

    private static func compare(_ ours: (Int, String), with floor: (Int, String), size: Int) throws {
        for side in [ours, floor] { _ = try throughput(side, size: size) }
        var ratios: [Double] = []
        for round in 0..<9 {
            let oursFirst = round.isMultiple(of: 2)
            let first = try throughput(oursFirst ? ours : floor, size: size)
            let second = try throughput(oursFirst ? floor : ours, size: size)
            let (service, nginx) = oursFirst ? (first, second) : (second, first)
            ratios.append(service / nginx)
            print("\(name): \(Int(service / 1e6)) MB/s, nginx \(Int(nginx / 1e6)) MB/s")
        }
        print("ratio \(name) \(format(ratios.median)) >=0.6")
    }

    /// Returns the bytes per second of all clients together. Each downloads `size` bytes.
    private static func throughput(_ side: (port: Int, path: String), size: Int) throws -> Double {
        let connections = try (0..<clients).map { _ in try Loopback(port: side.port) }
        let counts = Locked<[Int]>([])
        let start = ContinuousClock.now
        DispatchQueue.concurrentPerform(iterations: clients) { index in
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 16)
            defer { buffer.deallocate() }
            guard (try? connections[index].ask(for: side.path)) != nil else { return }
            let count = connections[index].drain(into: buffer)
            counts.withLock { $0.append(count) }
        }
        let elapsed = ContinuousClock.now - start
        let complete = counts.withLock { $0.count { $0 >= size } }
        guard complete == clients else {
            throw BenchmarkFailure("only \(complete) of \(clients) downloads from port \(side.port) are complete")
        }
        return Double(clients * size) / elapsed.seconds
    }

    // MARK: Slow clients

    /// Measures how much more memory the service needs while 1,000 clients read 4 KB a second each.
    private static func measureMemory(of process: Int32, _ port: Int, _ link: String) throws {
        raiseFileLimit()
        let before = try residentMemory(of: process)
        let slow = try (0..<slowClients).map { _ in
            let connection = try Loopback(port: port, receiveBuffer: 4096)
            try connection.ask(for: link)
            return connection
        }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
        defer { buffer.deallocate() }
        var most = before
        for _ in 0..<20 {
            let closed = slow.count { $0.readAvailable(4096, into: buffer) == 0 }
            guard closed == 0 else { throw BenchmarkFailure("the service closed \(closed) downloads") }
            usleep(1_000_000)
            most = max(most, try residentMemory(of: process))
        }
        let metrics = try Shell.run("curl", "-sSf", "http://127.0.0.1:\(port)/metrics")
        guard metrics.contains("tenure_downloads_in_progress \(slowClients)\n") else {
            throw BenchmarkFailure("not all downloads are in progress:\n\(metrics)")
        }
        withExtendedLifetime(slow) {}
        print("\(name): \(slowClients) slow clients; \(before / 1024) KB before, \(most / 1024) KB at most")
        print("ratio \(name)-kilobytes \(format(Double(most - before) / 1024 / Double(slowClients))) <=320")
    }

    /// Returns the resident memory of a process in bytes, from Linux's `/proc`.
    private static func residentMemory(of process: Int32) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        guard let kilobytes = line?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw BenchmarkFailure("`/proc/\(process)/status` has no `VmRSS`")
        }
        return kilobytes * 1024
    }

    private static func raiseFileLimit() {
        #if canImport(Glibc)
            let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let files = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(files, &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, 1 << 20)
        setrlimit(files, &limit)
    }
}
