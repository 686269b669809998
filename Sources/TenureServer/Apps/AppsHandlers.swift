import Foundation
import Hummingbird
import TenureAPI
import TenureCore

/// The routes about all apps of the process, for its operator. These routes need the admin key at the top level of the
/// configuration, not a key inside its `apps` section.
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
                    + refusal.mistakes.map(\.hidingCredentials).joined(separator: "\n"),
                reason: "invalidConfiguration")
        }
        var answer = await answer()
        answer.added = reload.added
        answer.removed = reload.removed
        answer.reloaded = reload.reloaded
        answer.warnings = reload.warnings.map(\.hidingCredentials)
        return try .encoded(answer)
    }

    /// Responds with 404 to the paths of these routes where they don't exist: below `/apps/NAME`, and in a service with
    /// one app.
    @Sendable static func refuse(_ request: Request, _ context: ServiceContext) async throws -> Response {
        throw Problem(.notFound, "this route exists only if `apps` is configured; call it without `/apps/NAME`")
    }

    private func answer() async -> AppsAnswer {
        let configuration = apps.configuration
        return AppsAnswer(
            apps: await AppsHealth(apps: apps).states().map { state in
                AppsAnswer.App(
                    name: state.name, bundleID: configuration[state.name]?.configuration.policy.app.bundleID,
                    status: state.status, reason: state.reason,
                    detail: apps.failure(of: state.name)?.description.hidingCredentials)
            },
            default: configuration.unprefixedApp)
    }

    /// Checks that the request has the admin key at the top level of the configuration, not a key inside its `apps`
    /// section.
    private func check(_ request: Request, _ context: ServiceContext) throws(Problem) {
        try apps.wrongKeys.check(
            key, in: request, from: WrongKeyLimit.countedAddress(of: context.peer), now: now(),
            else: Problem(
                .notAuthenticated,
                "send the admin key at the top level of the configuration, not the key of an app, as `Authorization: Bearer …`"
            ))
    }
}
