import HTTPTypes
import Hummingbird
import TenureAPI

/// `GET /metrics`, for Prometheus.
struct MetricsRoute: Sendable {
    let metrics: ServiceMetrics
    let access: ServiceConfiguration.MetricsAccess
    let adminKey: AdminKey?
    /// The record's file; nil where it is none.
    let database: String?
    /// Nil where the App Store is never asked.
    let appStore: AppStoreProgress?

    @Sendable func respond(to request: Request, context: ServiceContext) async throws -> Response {
        switch access {
        case .off: throw Problem(.notFound, "nothing is at this path")
        case .open: break
        case .guarded:
            guard context.peer?.isLocal == true || adminKey?.opens(request) == true else {
                throw Problem(.notAuthenticated, "metrics are told on this machine, or to who shows the admin key")
            }
        }
        var text = metrics.prometheus(database: database)
        if let appStore { text += try await appStore.prometheus }
        return .text(text, mediaType: PrometheusText.mediaType)
    }
}
