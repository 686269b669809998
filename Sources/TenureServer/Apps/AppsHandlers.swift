import Foundation
import Hummingbird
import TenureAPI
import TenureCore
import TenureJSON

/// The routes about all apps of the process, for its owner. They need the admin key that is set outside of `apps`.
struct AppsHandlers: Sendable {
    let apps: RunningApps
    let key: AdminKey?
    let now: @Sendable () -> Date

    static let listPath: RouterPath = "/v1/admin/apps"
    static let reloadPath: RouterPath = "/v1/admin/apps/reload"

    /// `GET /v1/admin/apps`: the apps, and whether each one runs and can write.
    @Sendable func list(_ request: Request, _ context: ServiceContext) async throws -> Response {
        try check(request, context)
        return await .json(answer { _ in })
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
        return await .json(
            answer { json in
                for (name, names) in [
                    ("added", reload.added), ("removed", reload.removed), ("reloaded", reload.reloaded),
                    ("warnings", reload.warnings.map(\.hidingCredentials)),
                ] {
                    json.key(name)
                    json.value(names)
                }
            })
    }

    /// The handler of these routes below `/apps/NAME`, and in a service without several apps.
    @Sendable static func refuse(_ request: Request, _ context: ServiceContext) async throws -> Response {
        throw Problem(.notFound, "this route exists only if `apps` is configured; call it without `/apps/NAME`")
    }

    /// The response: the fields that `body` writes, then the default app and all apps in the order of the configuration.
    private func answer(_ body: (inout JSONWriter) -> Void) async -> [UInt8] {
        let states = await AppsHealth(apps: apps).states()
        let configuration = apps.configuration
        return JSONWriter.object { json in
            body(&json)
            json.field("default", ifPresent: configuration.unprefixedApp)
            json.field("apps", states) { json, state in
                json.object { json in
                    json.field("name", state.name)
                    json.field("bundleID", ifPresent: configuration[state.name]?.configuration.policy.app.bundleID)
                    json.write(state)
                    json.field("detail", ifPresent: apps.failure(of: state.name)?.description.hidingCredentials)
                }
            }
        }
    }

    private func check(_ request: Request, _ context: ServiceContext) throws(Problem) {
        try apps.wrongKeys.check(
            key, in: request, from: WrongKeyLimit.name(of: context.peer), now: now(),
            else: Problem(
                .notAuthenticated,
                "send the admin key that is set outside of `apps`, and not an app's, as `Authorization: Bearer …`"))
    }
}
