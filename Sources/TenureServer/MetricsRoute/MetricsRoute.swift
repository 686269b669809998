import Foundation
import Hummingbird
import TenureAPI

/// `GET /metrics`: the metrics of all apps in Prometheus' text format.
struct MetricsRoute: Sendable {
    /// The metrics of each app.
    let sources: [MetricsSource]
    /// Who may read the metrics.
    let access: ServiceConfiguration.MetricsAccess
    /// The admin key that clients on other machines need if `access` is `guarded`; nil if the service has no admin key.
    let adminKey: AdminKey?
    let now: @Sendable () -> Date
    /// Refuses addresses that sent too many wrong keys.
    var wrongKeys = WrongKeyLimit()

    @Sendable func respond(to request: Request, context: ServiceContext) async throws -> Response {
        switch access {
        case .off: throw Problem(.notFound, "there is nothing at this path; check the path")
        case .open: break
        case .guarded:
            guard context.peer?.isLocal != true else { break }
            try wrongKeys.check(
                adminKey, in: request, from: WrongKeyLimit.countedAddress(of: context.peer), now: now(),
                else: Problem(
                    .notAuthenticated,
                    "metrics are available from this machine, or with the admin key as a bearer token"))
        }
        return .text(await MetricsSource.text(of: sources), mediaType: PrometheusFamily.mediaType)
    }
}
