import Foundation
import TenureCore

@testable import Tenure

/// A source that refuses its first request, but only after the download was stopped and the test releases it.
final class LateRefusal: Tenure.ContentSource {
    let identifier = "late"
    private let folder: String
    private let state = Locked(State())

    private struct State: Sendable {
        var requests = 0
        var isStopped = false
        var isReleased = false
    }

    init(_ folder: String) { self.folder = folder }

    /// Whether the first request is here.
    var isAsked: Bool { state.withLock { $0.requests > 0 } }
    /// Whether the download of the first request was stopped.
    var isStopped: Bool { state.withLock { $0.isStopped } }
    var isReleased: Bool { state.withLock { $0.isReleased } }
    func release() { state.withLock { $0.isReleased = true } }

    func list() throws -> [Tenure.ContentListing] {
        [.catalog(try Data(contentsOf: URL(fileURLWithPath: folder + "/catalog.jws")))]
    }

    func fetch(_ request: Tenure.ContentRequest, receive: (Tenure.ContentDelivery) throws -> Void) async throws {
        let isFirst = state.withLock { state in
            state.requests += 1
            return state.requests == 1
        }
        while isFirst, !Task.isCancelled { try? await Task.sleep(nanoseconds: 1_000_000) }
        if Task.isCancelled {
            state.withLock { $0.isStopped = true }
            // In another task, because a canceled task can't sleep.
            await Task.detached { [state] in
                while !state.withLock({ $0.isReleased }) { try? await Task.sleep(nanoseconds: 1_000_000) }
            }.value
            throw Tenure.ContentSourceError.refused
        }
        let file = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + request.digest))
        try receive(.bytes(file[Int(request.range.lowerBound)..<Int(request.range.upperBound)]))
    }

    func remove(_ pack: String) {}
}
