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
