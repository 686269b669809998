import Foundation
import HTTPTypes
import Hummingbird
import TenureAPI

/// `GET /metrics`, for Prometheus.
struct MetricsRoute: Sendable {
    let sources: [MetricsSource]
    let access: ServiceConfiguration.MetricsAccess
    let adminKey: AdminKey?
    var tries = WrongKeyLimit()

    @Sendable func respond(to request: Request, context: ServiceContext) async throws -> Response {
        switch access {
        case .off: throw Problem(.notFound, "there is nothing at this path")
        case .open: break
        case .guarded:
            if context.peer?.isLocal != true { try checkKey(of: request, from: WrongKeyLimit.name(of: context.peer)) }
        }
        return .text(await MetricsSource.text(of: sources), mediaType: PrometheusFamily.mediaType)
    }

    private func checkKey(of request: Request, from address: String) throws(Problem) {
        let refusal = Problem(
            .notAuthenticated, "metrics are available from this machine, or with the admin key as a bearer token")
        // As in `AdminKeyCheck`, a request without a key isn't a guess, and the right key is never locked out.
        guard request.hasAuthorization else { throw refusal }
        guard adminKey?.opens(request) != true else { return }
        let now = Date()
        try tries.check(address, now: now)
        _ = tries.add(address, now: now)
        throw refusal
    }
}
