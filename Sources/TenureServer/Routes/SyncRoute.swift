import Foundation
import Hummingbird
import TenureAPI

/// `POST /v1/sync`
struct SyncRoute: Sendable {
    let service: SyncService
    let limits: ServiceConfiguration.Limits
    let now: @Sendable () -> Date

    @Sendable func respond(to request: Request, context: ServiceContext) async throws -> Response {
        let body = try await request.json(upTo: limits.bodySize)
        let sync = try SyncRequest(reading: body, limits: limits)
        let device = try ClaimedDevice(of: sync)
        let answer = try await service.policies.upToDate {
            try await service.sync(sync, on: device, now: now(), logger: context.logger)
        }
        var json = JSONWriter(capacity: 4096)
        json.value(answer)
        return .json(json.bytes)
    }
}
