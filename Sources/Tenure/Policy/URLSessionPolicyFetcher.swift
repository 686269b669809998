package import Foundation
import TenurePolicyFile

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Fetches with URLSession: nothing is stored, no cookie sent, and no more read than a policy can have.
package struct URLSessionPolicyFetcher: PolicyFetcher {
    private let timeout: TimeInterval

    /// - Parameter timeout: seconds for the whole answer.
    package init(timeout: TimeInterval = 30) {
        self.timeout = timeout
    }

    package func fetch(_ url: URL, unlessTagged tag: String?) async throws(PolicyFetchError) -> PolicyAnswer {
        // A task that was cancelled before it began may never say so.
        guard !Task.isCancelled else { throw .cancelled }
        var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: timeout)
        if let tag { request.setValue(tag, forHTTPHeaderField: "If-None-Match") }
        let download = Download(limit: SignedPolicy.largestText)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForResource = timeout
        configuration.httpShouldSetCookies = false
        let session = URLSession(configuration: configuration, delegate: download, delegateQueue: nil)
        // A session keeps its delegate until it is told that nothing more will come.
        defer { session.finishTasksAndInvalidate() }
        let task = session.dataTask(with: request)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                download.begin(continuation)
                task.resume()
            }
        } onCancel: {
            task.cancel()
        }
        return try result.get()
    }
}

/// One answer on its way.
///
/// Unchecked: URLSession calls from one serial queue, `begin` comes before the task is resumed, and the lock guards all
/// that changes.
private final class Download: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    typealias Result = Swift.Result<PolicyAnswer, PolicyFetchError>

    private let limit: Int
    private let lock = NSLock()
    private var continuation: CheckedContinuation<Result, Never>?
    private var bytes = Data()
    private var failure: PolicyFetchError?
    private var isUnchanged = false
    private var tag: String?

    init(limit: Int) {
        self.limit = limit
    }

    func begin(_ continuation: CheckedContinuation<Result, Never>) {
        lock.withLock { self.continuation = continuation }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let mayGoOn = lock.withLock {
            guard let response = response as? HTTPURLResponse else {
                failure = .unreachable("it does not speak HTTP")
                return false
            }
            tag = response.value(forHTTPHeaderField: "ETag").flatMap { $0.utf8.count <= 256 ? $0 : nil }
            switch response.statusCode {
            case 200 where response.expectedContentLength > Int64(limit): failure = .tooLarge(limit: limit)
            case 200: return true
            case 304:
                isUnchanged = true
                return true
            default: failure = .status(response.statusCode)
            }
            return false
        }
        completionHandler(mayGoOn ? .allow : .cancel)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLong = lock.withLock {
            guard failure == nil else { return true }
            if bytes.count + data.count > limit {
                failure = .tooLarge(limit: limit)
                bytes = Data()
                return true
            }
            bytes.append(data)
            return false
        }
        if isTooLong { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let (continuation, result) = lock.withLock {
            defer { self.continuation = nil }
            return (self.continuation, self.result(error))
        }
        continuation?.resume(returning: result)
    }

    private func result(_ error: (any Error)?) -> Result {
        if let failure { return .failure(failure) }
        if let error {
            let isCancelled = (error as? URLError)?.code == .cancelled
            return .failure(isCancelled ? .cancelled : .unreachable((error as NSError).localizedDescription))
        }
        return .success(isUnchanged ? .unchanged : .text(bytes, tag: tag))
    }
}
