import Logging
import ServiceLifecycle
import TenureCore

/// Reloading the configuration of several apps while they run, on SIGHUP or `POST /v1/admin/apps/reload`.
extension RunningApps {
    /// The names of the apps that changed when the configuration was reloaded, and the warnings about the new
    /// configuration.
    struct Reload: Sendable {
        let added: [String]
        let removed: [String]
        /// The apps that were and still are configured.
        let reloaded: [String]
        let warnings: [String]
    }

    /// The mistakes in the new configuration. The reload changed nothing, except perhaps the TLS certificate.
    struct ReloadRefusal: Error {
        let mistakes: [String]
    }

    /// Reloads the configuration and the files in its settings. Running apps get the new settings, and keep their
    /// databases open. If there is a mistake, only the TLS certificate changes, and the call throws `ReloadRefusal`.
    func reload() async throws -> Reload {
        // Only one reload runs at a time.
        while isReloading.exchange(true) { try await Task.sleep(for: .milliseconds(20)) }
        defer { isReloading.withLock { $0 = false } }
        // Even if the configuration has a mistake, an expired certificate can be replaced.
        certificate?.reload(sharedMetrics, logger)
        let old = configuration
        let unchanged: AppsReading = (configuration: old, mistakes: [], warnings: [])
        let reading = await reread?() ?? unchanged
        guard reading.mistakes.isEmpty, let fresh = reading.configuration else {
            throw ReloadRefusal(mistakes: reading.mistakes)
        }

        // Finds all mistakes before anything changes.
        let running = old.apps.compactMap { app in self[app.name].map { (name: app.name, app: $0) } }
        var mistakes = fresh.mistake.map { [$0] } ?? []
        mistakes += old.mistakes(in: fresh, running: Set(running.map(\.name))) + fresh.findings
        guard mistakes.isEmpty else { throw ReloadRefusal(mistakes: mistakes.map(\.description)) }

        // Creates the services of the running apps again, with the new settings.
        var replacements: [(name: String, old: RunningApp, new: RunningApp)] = []
        do throws(ServiceError) {
            for (name, app) in running {
                guard let configuration = fresh[name] else { continue }
                let replacement = try await makeApp(configuration, app.service.store, registeringWebhooks: false)
                replacements.append((name, app, replacement))
            }
            // Messages are queued for a webhook as soon as it's registered. So webhooks are registered only now that no
            // app has a mistake.
            for (_, _, newApp) in replacements {
                try await newApp.service.configuration.registerWebhooks(in: newApp.service.store)
            }
        } catch {
            // If an app's database failed, the webhooks of earlier apps are registered already. This registers their
            // old webhooks again. `EndpointRegistry` removes new webhooks after some minutes without heartbeats.
            for (_, oldApp, _) in replacements {
                try? await oldApp.service.configuration.registerWebhooks(in: oldApp.service.store)
            }
            throw ReloadRefusal(mistakes: [error.description])
        }

        // Nothing fails from here on. The new configuration is used, and the services of the old configuration end.
        let replaced = useConfiguration(fresh, routes: routes(for: fresh), replacements: replacements)
        for group in replaced { await group.triggerGracefulShutdown() }

        // Ends the apps that are no longer configured, and starts the new apps.
        let removed = old.apps.map(\.name).filter { fresh[$0] == nil }
        for name in removed {
            await runners.end(name, metrics(of: name))
            record(failure: nil, of: name)
        }
        let added = fresh.apps.filter { old[$0.name] == nil }
        let errors = await start(added)
        for app in added { await runners.add(app.name, of: self, error: errors[app.name]) }
        logger.notice(
            "reloaded the configuration", metadata: ["added": "\(added.map(\.name))", "removed": "\(removed)"])
        return Reload(
            added: added.map(\.name), removed: removed, reloaded: fresh.apps.map(\.name).filter { old[$0] != nil },
            warnings: reading.warnings)
    }
}
