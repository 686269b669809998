import Hummingbird
import TenureAPI
import TenureJSON
import TenureStore

/// `GET /health/ready` of several apps: lists all, and fails if none can write.
struct AppsHealth: Sendable {
    let apps: RunningApps

    /// The problem of an app that can't use its database yet.
    static let notRunning = Problem(
        .busy, "the app doesn't run, because its database can't be used; try again", reason: "appNotRunning",
        retryAfter: 5)

    @Sendable func ready(_ request: Request, context: ServiceContext) async throws -> Response {
        let states = await states()
        let failures = states.compactMap(\.reason)
        guard failures.count < states.count else {
            let list = states.map { "\($0.name): \($0.reason ?? "ok")" }.joined(separator: ", ")
            throw Problem(
                .busy, "no app can write (\(list))",
                reason: Set(failures).count == 1 ? failures.first : "noAppReady", retryAfter: 5)
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("status", "ok")
        writer.key("apps")
        writer.beginObject()
        for (name, reason) in states {
            writer.key(name)
            writer.beginObject()
            writer.field("status", reason == nil ? "ok" : "failing")
            writer.field("reason", ifPresent: reason)
            writer.endObject()
        }
        writer.endObject()
        writer.endObject()
        return .json(writer.bytes)
    }

    /// In the order of the configuration; a reason for each app that can't write.
    private func states() async -> [(name: String, reason: String?)] {
        let reasons = await withTaskGroup(of: (String, String?).self) { group in
            for app in apps.configurations {
                group.addTask { [apps] in
                    guard let running = apps[app.name] else { return (app.name, Self.notRunning.reason) }
                    return (app.name, await HealthRoutes(store: running.service.store).problem()?.reason)
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        return apps.configurations.map { ($0.name, reasons[$0.name] ?? nil) }
    }
}
