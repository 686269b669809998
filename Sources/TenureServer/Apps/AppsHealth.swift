import Hummingbird
import TenureAPI
import TenureJSON
import TenureStore

/// `GET /health/ready` of a service with several apps: lists all apps, and fails if no app can write to its database.
struct AppsHealth: Sendable {
    let apps: RunningApps

    /// Returns the response to requests for an app that isn't running. The response doesn't contain the failure, because
    /// only the operator of the process may see it, in `GET /v1/admin/apps`.
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

    @Sendable func ready(_ request: Request, context: ServiceContext) async throws -> Response {
        let states = await states()
        let failures = states.compactMap(\.reason)
        guard failures.count < states.count else {
            let list = states.map { "\($0.name): \($0.reason ?? "ok")" }.joined(separator: ", ")
            throw Problem(
                .busy, "no app is ready (\(list)); the log says why",
                reason: Set(failures).count == 1 ? failures.first : "noAppReady", retryAfter: 5)
        }
        return .jsonObject { json in
            json.field("status", "ok")
            json.object("apps") { json in
                for state in states {
                    json.object(state.name) { json in
                        json.field("status", state.status)
                        json.field("reason", ifPresent: state.reason)
                    }
                }
            }
        }
    }

    /// Checks all apps at the same time, and returns their states in the order of the configuration.
    func states() async -> [AppState] {
        let configurations = apps.configuration.apps
        let reasons = await withTaskGroup(of: (String, String?).self) { group in
            for app in configurations {
                group.addTask { [apps] in
                    guard let running = apps[app.name] else {
                        return (app.name, Self.notRunning(because: apps.failure(of: app.name)).reason)
                    }
                    return (app.name, await HealthRoutes(store: running.service.store).problem()?.reason)
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        return configurations.map { AppState(name: $0.name, reason: reasons[$0.name] ?? nil) }
    }
}

/// Whether an app is running and can write to its database.
struct AppState: Sendable {
    let name: String
    /// A stable name for the reason why the app isn't running or can't write; nil if it can write.
    let reason: String?

    var status: String { reason == nil ? "ok" : "failing" }
}
