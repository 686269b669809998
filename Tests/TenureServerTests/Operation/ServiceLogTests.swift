import Foundation
import Logging
import TenureCore
import TenureStore
import Testing

@testable import TenureServer

/// What the services of a running process log if they can't do their work, and try again later.
@Suite struct `the log of services that try again` {
    /// Runs a service until it has written this number of lines, and returns the level, the message and the detail of
    /// each line.
    private func lines(_ count: Int, of run: @escaping @Sendable (Logger) async throws -> Void) async throws
        -> [[String]]
    {
        let (logger, lines) = LogLines.stream()
        let service = Task { try await run(logger) }
        var entries: [[String]] = []
        for await line in lines {
            let entry = try JSONSerialization.jsonObject(with: Data(line)) as? [String: String]
            entries.append(["level", "message", "detail"].map { entry?[$0] ?? "-" })
            if entries.count == count { break }
        }
        service.cancel()
        _ = try? await service.value
        return entries
    }

    @Test func `an app that can't start is logged with the reason, which the operator sees too`() async throws {
        try await withFolder { folder in
            let app = AppConfiguration(name: "notes", configuration: try Calculator.configuration(folder))
            let apps = RunningApps(try AppsConfiguration([app]), logger: Calculator.logger)
            let entries = try await lines(1) { logger in
                try await AppRunner(name: "notes", apps: apps, logger: logger, error: .failed("no disk")).run()
            }
            #expect(
                entries == [
                    ["error", "the app isn't running; trying again every 5.0 seconds", "the service failed: no disk"]
                ])
            #expect(apps.failure(of: "notes") == .failed("no disk"))
        }
    }

    @Test func `leftovers that can't be removed, and promises that can't be updated, are logged as two errors`()
        async throws
    {
        try await withFolder { folder in
            let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            try await store.close()
            let entries = try await lines(2) { logger in
                try await LeftoverRemoval(store: store, now: { Calculator.now }, logger: logger).run()
            }
            #expect(
                entries.map { Array($0.prefix(2)) } == [
                    [
                        "error",
                        "can't remove leftovers of erasures, updates and publications; trying again in ten minutes",
                    ],
                    [
                        "error",
                        """
                        can't update all promises that the last publication ends or restores; trying again in ten minutes
                        """,
                    ],
                ])
            #expect(entries.allSatisfy { $0[2] != "-" })
        }
    }

    @Test func `a database that was deleted while it was open is logged once, as critical`() async throws {
        try await withFolder { folder in
            let path = folder + "/tenure.sqlite"
            let store = try Store(SQLiteDatabase(path: path))
            _ = try await store.write { try $0.position() }
            let lines = LogLines()
            let watch = DatabaseWatch(store: store, logger: lines.logger(.info))
            await watch.check()
            #expect(lines.texts == [])
            try FileManager.default.removeItem(atPath: path)
            for _ in 0..<2 { await watch.check() }
            try #require(lines.texts.count == 1, "\(lines.texts)")
            let entry = try JSONSerialization.jsonObject(with: Data(lines.texts[0].utf8)) as? [String: String]
            #expect(entry?["level"] == "critical")
            #expect(entry?["message"]?.hasPrefix("`\(path)` was deleted or moved while it was open.") == true)
            try? await store.close()
        }
    }
}
