import TenureCore
import TenureHTTP

/// Keeps the requests, and has no network.
struct RequestRecorder: Transport {
    private let kept = Locked<[TransportRequest]>([])

    init() {}

    var requests: [TransportRequest] { kept.withLock { $0 } }

    func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
        kept.withLock { $0.append(request) }
        throw .canceled
    }
}
