import Foundation
import Logging
import TenureCore
import TenureServer

/// `http-customer`: requests per second of `GET /v1/customer`, with many customers in SQLite, against a route of the
/// same server that sends the same bytes from memory. Server and load share the machine, as they do for both routes.
enum HTTPRatio {
    static let name = "http-customer"
    static let population = 1_000_000
    private static let tokens = 20_000

    /// Runs the service in a separate process: fills the database, writes access tokens and scripts for `wrk`, and
    /// serves.
    ///
    /// - Parameter arguments: a folder for these files, the number of customers, and `sqlite` or `postgres`.
    static func serve(_ arguments: [String]) async throws {
        guard arguments.count >= 2, let population = Int(arguments[1]) else {
            throw BenchmarkFailure("`--serve` needs a folder and a number of customers")
        }
        let folder = arguments[0]
        var configuration = ServiceConfiguration(
            databasePath: folder + "/tenure.sqlite", policy: try Fixtures.policy())
        configuration.port = 0
        let isOnPostgres = arguments.contains(DatabaseKind.postgres.rawValue)
        if isOnPostgres { configuration.keysFolder = folder }
        let postgres = isOnPostgres ? try await PostgresBenchmark(configuration: configuration) : nil
        // The PostgreSQL server stops when the last reference to it is gone.
        defer { withExtendedLifetime(postgres) {} }
        let benchmark: CustomerBenchmark
        if let postgres {
            benchmark = postgres.service
        } else {
            benchmark = try await CustomerBenchmark(configuration: configuration)
        }
        try await benchmark.fill(to: population)
        let texts = benchmark.accessTokens(tokens, ofCustomersUpTo: population)
        try Data((texts.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: folder + "/tokens"))
        for (name, path) in [
            ("customers", CustomerBenchmark.customerPath),
            ("floor", isOnPostgres ? CustomerBenchmark.selectPath : CustomerBenchmark.memoryPath),
        ] {
            try Data(script(folder, path).utf8).write(to: URL(fileURLWithPath: folder + "/\(name).lua"))
        }
        var logger = Logger(label: "bench")
        logger.logLevel = .error
        try await benchmark.run(logger: logger) { port in
            FileHandle.standardOutput.write(Data("port \(port)\n".utf8))
        }
    }

    static func measure() throws {
        try withServer(of: population, named: "http") { customers, memory in
            // The system drops unread pages of the file. A run begins at the first customer, so only a long enough run
            // reads all of them.
            var seconds = 2
            while try load(customers, seconds: seconds) * Double(seconds) < Double(Self.tokens), seconds < 64 {
                seconds *= 2
            }
            _ = try load(memory, seconds: 2)
            // Other virtual machines on the host disturb for seconds. So the turns are short and many, and each side is
            // first in half of them.
            var ratios: [Double] = []
            for round in 0..<15 {
                let customersFirst = round.isMultiple(of: 2)
                let first = try load(customersFirst ? customers : memory, seconds: 2)
                let second = try load(customersFirst ? memory : customers, seconds: 2)
                let (customer, floor) = customersFirst ? (first, second) : (second, first)
                ratios.append(customer / floor)
                print("\(name): \(Int(customer)) requests/s, floor \(Int(floor))")
            }
            print("ratio \(name) \(format(ratios.median)) >=0.6")
        }
    }

    enum DatabaseKind: String { case sqlite, postgres }

    /// Runs the service with `population` customers in a separate process.
    ///
    /// - Parameter body: gets the arguments of `wrk` that request customers, each time another one, and those that
    ///   request the floor: the same bytes from memory, and with PostgreSQL after one bare SELECT.
    static func withServer(
        of population: Int, named folderName: String, on database: DatabaseKind = .sqlite,
        _ body: ([String], [String]) throws -> Void
    ) throws {
        let folder = FileManager.default.currentDirectoryPath + "/.build/bench-\(folderName)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let server = Process()
        server.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        server.arguments = ["--serve", folder, String(population), database.rawValue]
        let output = Pipe()
        server.standardOutput = output
        print("a database of \(population) customers in \(folder); filling it takes a while the first time")
        try server.run()
        defer {
            server.terminate()
            server.waitUntilExit()
        }
        guard let line = String(data: output.fileHandleForReading.availableData, encoding: .utf8),
            let port = Int(line.filter(\.isNumber))
        else { throw BenchmarkFailure("the service didn't print its port; its errors are above") }
        try body(
            ["-s", folder + "/customers.lua", "http://127.0.0.1:\(port)"],
            ["-s", folder + "/floor.lua", "http://127.0.0.1:\(port)"])
    }

    /// Runs `wrk` with 64 connections, and returns the requests per second.
    static func load(_ arguments: [String], seconds: Int) throws -> Double {
        let wrk = Process()
        wrk.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        wrk.arguments = ["wrk", "-t1", "-c64", "-d\(seconds)s"] + arguments
        let output = Pipe()
        wrk.standardOutput = output
        try wrk.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        wrk.waitUntilExit()
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("Requests/sec:") }),
            let number = Double(line.dropFirst("Requests/sec:".count).trimmingCharacters(in: .whitespaces)),
            !text.contains("Non-2xx")
        else {
            throw BenchmarkFailure("`wrk` failed; `make bench` installs it: \(text)")
        }
        return number
    }

    /// Returns a script for `wrk`, which requests the path with one token after the other.
    private static func script(_ folder: String, _ path: String) -> String {
        """
        local headers = {}
        -- `wrk` knows the header Host only from here on.
        init = function()
            for token in io.lines("\(folder)/tokens") do
                headers[#headers + 1] = wrk.format("GET", "\(path)", { Authorization = "Bearer " .. token })
            end
        end
        local next = 0
        request = function()
            next = next % #headers + 1
            return headers[next]
        end
        """
    }
}
