import Foundation
import Hummingbird
import Logging
import ServiceLifecycle
import TenureAPI
import TenureCore
import TenureStore

/// The apps of one process. Each runs as soon as its database can be used, whatever the others do.
final class RunningApps: Sendable {
    /// An app with an open database.
    struct RunningApp: Sendable {
        let service: TenureService
        let responder: RouterResponder<ServiceContext>
    }

    let configurations: [AppConfiguration]
    /// What each app counts, also while it doesn't run.
    let metrics: [String: ServiceMetrics]
    private let running = Locked<[String: RunningApp]>([:])
    /// All apps share the connections.
    private let downloads: Downloads?

    init(_ configurations: [AppConfiguration]) {
        self.configurations = configurations
        metrics = Dictionary(configurations.map { ($0.name, ServiceMetrics()) }) { first, _ in first }
        downloads = configurations.first?.configuration.downloads
    }

    subscript(name: String) -> RunningApp? { running.withLock { $0[name] } }

    /// Starts every app that can start. Throws if none can; returns why others can't, by their names.
    func start() async throws(ServiceError) -> [String: ServiceError] {
        let results = await withTaskGroup(of: (String, Result<RunningApp, ServiceError>).self) { group in
            for app in configurations {
                group.addTask {
                    do throws(ServiceError) {
                        return (app.name, .success(try await self.open(app)))
                    } catch {
                        return (app.name, .failure(error))
                    }
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        var errors: [String: ServiceError] = [:]
        // In their order, so that of two with one database always the same one starts.
        for app in configurations {
            do throws(ServiceError) {
                guard let opened = try results[app.name]?.get() else { continue }
                try await register(opened, as: app.name)
            } catch {
                errors[app.name] = error
            }
        }
        if errors.count == configurations.count {
            throw configurations.lazy.compactMap { errors[$0.name] }.first
                ?? .apps("there is no app; add one below `apps`")
        }
        return errors
    }

    /// Returns the app with this name; starts it if it doesn't run.
    func start(_ app: AppConfiguration) async throws(ServiceError) -> RunningApp {
        if let running = self[app.name] { return running }
        let opened = try await open(app)
        try await register(opened, as: app.name)
        return opened
    }

    /// Notes that the app's services ended, and its database is closed.
    func remove(_ name: String) { running.withLock { $0[name] = nil } }

    /// Closes all databases. For a process that doesn't start.
    func close() async {
        for app in running.withLock({ $0.values.map(\.service) }) { try? await app.store.close() }
    }

    private func open(_ app: AppConfiguration) async throws(ServiceError) -> RunningApp {
        let store: Store
        do {
            store = try await app.open?() ?? TenureService.openStore(app.configuration)
        } catch {
            throw ServiceError(opening: error)
        }
        do throws(ServiceError) {
            let service = try await TenureService(
                app.configuration, store: store, downloads: downloads, metrics: metrics[app.name] ?? ServiceMetrics())
            return RunningApp(service: service, responder: try service.router().responder())
        } catch {
            // An app that doesn't start must not keep its database open.
            try? await store.close()
            throw error
        }
    }

    private func register(_ app: RunningApp, as name: String) async throws(ServiceError) {
        let id = app.service.store.databaseID
        let other = running.withLock { apps in
            let other = apps.first { $0.value.service.store.databaseID == id }?.key
            if other == nil { apps[name] = app }
            return other
        }
        guard let other else { return }
        try? await app.service.store.close()
        throw .app(name: name, "it has the database of the app `\(other)`; give each its own")
    }
}

extension ServiceError {
    fileprivate init(opening error: any Error) {
        switch error {
        case let error as ServiceError: self = error
        case let error as StoreError: self.init(error)
        default: self = .failed("\(error)")
        }
    }
}
