import HTTPTypes
import Hummingbird
import TenureAPI

/// `GET /metrics`, for Prometheus.
struct MetricsRoute: Sendable {
    let sources: [MetricsSource]
    let access: ServiceConfiguration.MetricsAccess
    let adminKey: AdminKey?

    @Sendable func respond(to request: Request, context: ServiceContext) async throws -> Response {
        switch access {
        case .off: throw Problem(.notFound, "nothing is at this path")
        case .open: break
        case .guarded:
            guard context.peer?.isLocal == true || adminKey?.opens(request) == true else {
                throw Problem(.notAuthenticated, "metrics are told on this machine, or to who shows the admin key")
            }
        }
        return .text(try await ServiceMetrics.prometheus(of: sources), mediaType: PrometheusText.mediaType)
    }
}
