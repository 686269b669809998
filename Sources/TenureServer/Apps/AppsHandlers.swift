import Foundation
import Hummingbird
import Logging
import TenureAPI
import TenureCore
import TenureJSON
import TenureStore

/// The routes about all apps of the process. The routes of the admin API, for the operator, need the admin key at the
/// top level of the configuration, not a key inside its `apps` section.
struct AppsHandlers: Sendable {
    let apps: RunningApps
    /// The admin key at the top level of the configuration; nil if it is missing, so that all requests are rejected.
    let key: AdminKey?
    let now: @Sendable () -> Date

    static let listPath: RouterPath = "/v1/admin/apps"
    static let reloadPath: RouterPath = "/v1/admin/apps/reload"

    /// `GET /v1/admin/apps`: the apps, and whether each app runs and can write to its database.
    @Sendable func list(_ request: Request, _ context: ServiceContext) async throws -> Response {
        try check(request, context)
        return try .encoded(await answer())
    }

    /// `POST /v1/admin/apps/reload`: reloads the configuration, and reports what changed.
    @Sendable func reload(_ request: Request, _ context: ServiceContext) async throws -> Response {
        try check(request, context)
        let reload: RunningApps.Reload
        do {
            reload = try await apps.reload()
        } catch let refusal as RunningApps.ReloadRefusal {
            throw Problem(
                .conflict,
                "no app changed, because the configuration has mistakes:\n"
                    + refusal.mistakes.map(\.hidingCredentials).joined(separator: "\n"), reason: "invalidConfiguration")
        }
        var answer = await answer()
        answer.added = reload.added
        answer.removed = reload.removed
        answer.reloaded = reload.reloaded
        answer.warnings = reload.warnings.map(\.hidingCredentials)
        return try .encoded(answer)
    }

    /// `GET /health/ready`: lists all apps, and fails if no app can write to its database.
    @Sendable func ready(_ request: Request, context: ServiceContext) async throws -> Response {
        let states = await states(in: apps.configuration)
        let failures = states.compactMap { $0.app.reason }
        guard failures.count < states.count else {
            for (app, error) in states {
                guard let error else { continue }
                context.logger.error("the database failed", metadata: ["app": "\(app.name)", "detail": "\(error)"])
            }
            // If all apps fail for the same reason, the response has this reason.
            let list = states.map { "\($0.app.name): \($0.app.reason ?? "ok")" }.joined(separator: ", ")
            throw Problem(
                .busy, "no app is ready (\(list)); the log says why",
                reason: Set(failures).count == 1 ? failures.first : "noAppReady", retryAfter: 5)
        }
        return .jsonObject { json in
            json.field("status", "ok")
            json.object("apps") { json in
                for (app, _) in states {
                    json.object(app.name) { json in
                        json.field("status", app.status)
                        json.field("reason", ifPresent: app.reason)
                    }
                }
            }
        }
    }

    /// Returns the response to requests for an app that isn't running. The response doesn't contain the failure,
    /// because only the operator of the process may see it, in `GET /v1/admin/apps`.
    ///
    /// - Parameter failure: Why the app isn't running; nil if it wasn't started yet.
    static func notRunning(because failure: ServiceError?) -> Problem {
        if case .otherKeys? = failure {
            return Problem(
                .busy,
                "the app isn't running: the keys differ from the keys of other processes with this database; the service's log has the fix",
                reason: "otherKeys", retryAfter: 5)
        }
        return Problem(
            .busy, "the app isn't running; the service's log and `tenure apps list` say why", reason: "appNotRunning",
            retryAfter: 5)
    }

    /// Responds with 404 to the paths of these routes where they don't exist: below `/apps/NAME`, and in a service with
    /// one app.
    @Sendable static func refuse(_ request: Request, _ context: ServiceContext) async throws -> Response {
        throw Problem(.notFound, "this route exists only if `apps` is configured; call it without `/apps/NAME`")
    }

    private func answer() async -> AppsAnswer {
        let configuration = apps.configuration
        return AppsAnswer(apps: await states(in: configuration).map { $0.app }, default: configuration.unprefixedApp)
    }

    /// Checks all apps at the same time. Returns their states in the order of the configuration, with the error of each
    /// database that can't be written.
    private func states(in configuration: AppsConfiguration) async -> [(app: AppsAnswer.App, error: StoreError?)] {
        typealias Check = (name: String, reason: String?, error: StoreError?)
        let checks: [String: Check] = await withTaskGroup(of: Check.self) { group in
            for app in configuration.apps {
                group.addTask { [apps] in
                    guard let running = apps[app.name] else {
                        return (app.name, Self.notRunning(because: apps.failure(of: app.name)).reason, nil)
                    }
                    let error = await running.service.store.writeFailure()
                    return (app.name, error.flatMap { HealthRoutes.problem(of: $0).reason }, error)
                }
            }
            return await group.reduce(into: [:]) { $0[$1.name] = $1 }
        }
        return configuration.apps.map { app in
            let reason = checks[app.name]?.reason
            let state = AppsAnswer.App(
                name: app.name, bundleID: app.configuration.policy.app.bundleID,
                status: reason == nil ? "ok" : "failing", reason: reason,
                detail: apps.failure(of: app.name)?.description.hidingCredentials)
            return (state, checks[app.name]?.error)
        }
    }

    /// Checks that the request has the admin key at the top level of the configuration.
    private func check(_ request: Request, _ context: ServiceContext) throws(Problem) {
        try apps.wrongKeys.check(
            key, in: request, from: WrongKeyLimit.countedAddress(of: context.peer), now: now(),
            else: Problem(
                .notAuthenticated,
                "send the admin key at the top level of the configuration, not the key of an app, as `Authorization: Bearer …`"
            ))
    }
}
