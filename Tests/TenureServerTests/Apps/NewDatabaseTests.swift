import Foundation
import TenureCore
import TenureStore
import Testing

@testable import TenureServer

/// Apps that start again in a service that was started with the option for a new database.
@Suite struct `apps with a new database` {
    /// Returns the configuration of an app that has a signing key, has no database, and must create one.
    private func configured(_ name: String, in folder: String) async throws -> AppConfiguration {
        let own = folder + "/" + name
        try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
        var configuration = try Calculator.configuration(own)
        try await TenureService(configuration).store.close()
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: configuration.databasePath + suffix)
        }
        configuration.createsDatabase = true
        return AppConfiguration(name: name, configuration: configuration)
    }

    @Test func `an app with a new database starts again after a failure, and uses the same database`() async throws {
        try await withFolder { folder in
            let configuration = try AppsConfiguration([try await configured("calculator", in: folder)])
            let apps = RunningApps(configuration, logger: Calculator.logger)
            #expect(try await apps.start().isEmpty)
            let store = try #require(apps["calculator"]).service.store
            // This also happens after the services of an app have failed.
            try await store.close()
            apps.remove("calculator")
            let again = try await apps.start("calculator")
            #expect(again.service.store.databaseID == store.databaseID)
            await apps.close()
        }
    }

    @Test func `a reload works after an app has created its new database`() async throws {
        try await withFolder { folder in
            let configuration = try AppsConfiguration([try await configured("calculator", in: folder)])
            let apps = RunningApps(configuration, logger: Calculator.logger)
            #expect(try await apps.start().isEmpty)
            let reload = try await apps.reload()
            #expect(reload.reloaded == ["calculator"] && reload.added.isEmpty && reload.removed.isEmpty)
            await apps.close()
        }
    }

    @Test func `an app that starts later than the other apps creates its new database then, and can start again`()
        async throws
    {
        try await withFolder { folder in
            let calculator = try await configured("calculator", in: folder)
            var notes = try await configured("notes", in: folder)
            let isFailing = Locked(true)
            notes.openStore = { _ in
                if isFailing.withLock({ $0 }) { throw ServiceError.failed("the database can't be opened") }
                return nil
            }
            let apps = RunningApps(try AppsConfiguration([calculator, notes]), logger: Calculator.logger)
            #expect(try await apps.start().keys.sorted() == ["notes"])
            #expect(apps.failure(of: "notes")?.description.contains("can't be opened") == true)
            #expect(!FileManager.default.fileExists(atPath: notes.configuration.databasePath))
            isFailing.withLock { $0 = false }
            let store = try await apps.start("notes").service.store
            #expect(apps.failure(of: "notes") == nil)
            try await store.close()
            apps.remove("notes")
            #expect(try await apps.start("notes").service.store.databaseID == store.databaseID)
            await apps.close()
        }
    }
}

/// Apps that don't start, or start at a wrong time.
@Suite struct `apps that can't start` {
    private func configured(_ name: String, in folder: String) throws -> AppConfiguration {
        let own = folder + "/" + name
        try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
        return AppConfiguration(name: name, configuration: try Calculator.configuration(own))
    }

    @Test func `an app that opened its database under an older configuration doesn't run, and can start again`()
        async throws
    {
        try await withFolder { folder in
            let apps = Locked<RunningApps?>(nil)
            let isFirst = Locked(true)
            var calculator = try configured("calculator", in: folder)
            try await TenureService(calculator.configuration).store.close()
            calculator.openStore = { _ in
                if isFirst.exchange(false), let apps = apps.withLock({ $0 }) { _ = try await apps.reload() }
                return nil
            }
            let running = RunningApps(try AppsConfiguration([calculator]), logger: Calculator.logger)
            apps.withLock { $0 = running }
            let changed = ServiceError.app(name: "calculator", "the configuration changed while the app started")
            await #expect(throws: changed) { _ = try await running.start("calculator") }
            let isRunning = running["calculator"] != nil
            #expect(!isRunning)
            let again = try await running.start("calculator")
            #expect(try await again.service.store.read { try $0.customerCount() } == 0)
            let unknown = ServiceError.app(name: "other", "the configuration doesn't have this app anymore")
            await #expect(throws: unknown) { _ = try await running.start("other") }
            await running.close()
        }
    }

    @Test func `if no app can start, the error is that of the first app in the configuration`() async throws {
        try await withFolder { folder in
            let names = ["zebra", "ant", "cat"]
            let failing = try names.map { name in
                var app = try configured(name, in: folder)
                app.openStore = { _ in throw ServiceError.failed("no database of \(name)") }
                return app
            }
            let apps = RunningApps(try AppsConfiguration(failing), logger: Calculator.logger)
            await #expect(throws: ServiceError.failed("no database of zebra")) { _ = try await apps.start() }
            let expected: [ServiceError?] = names.map { .failed("no database of \($0)") }
            #expect(names.map { apps.failure(of: $0) } == expected)
        }
    }
}
