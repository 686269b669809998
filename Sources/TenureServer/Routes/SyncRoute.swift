import Foundation
import Hummingbird
import TenureAPI

/// `POST /v1/sync`: verifies and stores the signed artifacts that a client sent, responds with what the customer may
/// use, and counts the result in the metrics.
struct SyncRoute: Sendable {
    let service: SyncService
    let limits: ServiceConfiguration.Limits
    let now: @Sendable () -> Date
    let metrics: ServiceMetrics

    @Sendable func respond(to request: Request, context: ServiceContext) async throws -> Response {
        let body = try await request.json(upTo: limits.bodySize, in: context)
        let sync = try SyncRequest(
            reading: body, limits: (transactions: limits.transactions, renewalInfos: limits.renewalInfos))
        let device = try ClaimedDevice(of: sync)
        var answer: CustomerAnswer
        do {
            answer = try await service.policies.upToDate {
                try await service.sync(sync, on: device, now: now(), logger: context.logger)
            }
        } catch let problem as Problem {
            metrics.countSync(accepted: 0, rejected: problem.problems.map(\.code))
            throw problem
        }
        let listedCount = (sync.transactions?.count ?? 0) + (sync.renewalInfos?.count ?? 0)
        let artifactCount = [sync.appTransaction, sync.receipt].compactMap(\.self).count + listedCount
        // A rejected persona token is among the problems too, but it isn't an artifact.
        metrics.countSync(
            accepted: artifactCount - answer.problems.filter { $0.artifact != ArtifactPath.persona.name }.count,
            rejected: answer.problems.map(\.code))
        metrics.countDecisions(answer.decisions)
        answer.languages = request.languages
        return .json(capacity: 4096) { $0.value(answer) }
    }
}
