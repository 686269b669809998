import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import TenureAPI

/// `POST /v1/sync`
struct SyncRoute: Sendable {
    let service: SyncService
    let limits: ServiceConfiguration.Limits
    let now: @Sendable () -> Date
    let metrics: ServiceMetrics

    @Sendable func respond(to request: Request, context: ServiceContext) async throws -> Response {
        let body = try await body(of: request)
        let sync = try SyncRequest(reading: body, limits: limits)
        let answer: CustomerAnswer
        do {
            answer = try await service.sync(sync, on: ClaimedDevice(of: sync), now: now(), logger: context.logger)
        } catch let problem as Problem {
            metrics.synced(counted: 0, refused: problem.problems.map(\.code))
            throw problem
        }
        metrics.synced(
            counted: sync.artifactCount - answer.problems.count, refused: answer.problems.map(\.code))
        metrics.decided(answer.decisions)
        var json = JSONWriter(capacity: 4096)
        json.value(answer)
        return .json(json.bytes)
    }

    private func body(of request: Request) async throws -> Data {
        if let type = request.headers[.contentType], !type.lowercased().hasPrefix("application/json") {
            throw Problem(.unsupportedMediaType, "send `application/json`")
        }
        let tooLarge = Problem(.tooLarge, "the body is larger than \(limits.bodySize) bytes")
        // Who says so beforehand need not send it.
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > limits.bodySize {
            throw tooLarge
        }
        do {
            let buffer = try await request.body.collect(upTo: limits.bodySize)
            return Data(buffer.readableBytesView)
        } catch is NIOTooManyBytesError {
            throw tooLarge
        }
    }
}

extension SyncRequest {
    /// How many artifacts were sent.
    fileprivate var artifactCount: Int {
        (appTransaction == nil ? 0 : 1) + (receipt == nil ? 0 : 1) + (transactions?.count ?? 0)
            + (renewalInfos?.count ?? 0)
    }
}
