import Foundation
import HTTPTypes
import Hummingbird
import TenureAPI

/// `GET /metrics`, for Prometheus.
struct MetricsRoute: Sendable {
    let sources: [MetricsSource]
    let access: ServiceConfiguration.MetricsAccess
    let adminKey: AdminKey?
    var wrongKeys = WrongKeyLimit()

    @Sendable func respond(to request: Request, context: ServiceContext) async throws -> Response {
        switch access {
        case .off: throw Problem(.notFound, "there is nothing at this path; check the path")
        case .open: break
        case .guarded:
            guard context.peer?.isLocal != true else { break }
            try wrongKeys.check(
                adminKey, in: request, from: WrongKeyLimit.name(of: context.peer),
                else: Problem(
                    .notAuthenticated,
                    "metrics are available from this machine, or with the admin key as a bearer token"
                ))
        }
        return .text(await MetricsSource.text(of: sources), mediaType: PrometheusFamily.mediaType)
    }
}
