#if canImport(Security) && !os(macOS)
    import Foundation
    import TenureCore

    /// Downloads with a background `URLSession`, which the system continues while the app isn't running.
    /// `BackgroundTransfers` decides what it downloads.
    final class BackgroundSession: NSObject, BackgroundDownloads, URLSessionDownloadDelegate, Sendable {
        private struct State: Sendable {
            var session: URLSession?
            // The closures of `connect`.
            var ended: (@Sendable (BackgroundResult) -> Void)?
            var delivered: (@Sendable () -> Void)?
        }

        /// The App Group that the app shares with its extensions; nil if they share none.
        private let group: String?
        private let state = Locked(State())
        /// The only session of this process. A process can't have two background sessions with the same identifier.
        private static let shared = Locked<BackgroundSession?>(nil)

        /// Returns the only session of this process, and creates it if necessary.
        ///
        /// - Parameter group: the App Group that the app shares with its extensions. Nil if they share none.
        static func ofThisProcess(group: String?) -> BackgroundSession {
            shared.withLock { shared in
                let session = shared ?? BackgroundSession(group: group)
                shared = session
                return session
            }
        }

        private init(group: String?) { self.group = group }

        private var session: URLSession {
            state.withLock { state in
                if let session = state.session { return session }
                let configuration = URLSessionConfiguration.background(
                    withIdentifier: Tenure.Content.backgroundIdentifier)
                configuration.sharedContainerIdentifier = group
                configuration.isDiscretionary = false
                configuration.sessionSendsLaunchEvents = true
                configuration.urlCache = nil
                configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
                configuration.httpCookieStorage = nil
                configuration.httpShouldSetCookies = false
                let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
                state.session = session
                return session
            }
        }

        func connect(ended: @escaping @Sendable (BackgroundResult) -> Void, delivered: @escaping @Sendable () -> Void) {
            state.withLock { ($0.ended, $0.delivered) = (ended, delivered) }
            // The closures are stored first: the system calls the delegate as soon as the session exists.
            _ = session
        }

        func downloads() async -> [BackgroundStatus] {
            await tasks().compactMap { task in
                task.taskDescription.map { BackgroundStatus(label: $0, received: task.countOfBytesReceived) }
            }
        }

        private func tasks() async -> [URLSessionTask] {
            await withCheckedContinuation { continuation in
                session.getAllTasks { tasks in
                    continuation.resume(returning: tasks.filter { [.running, .suspended].contains($0.state) })
                }
            }
        }

        func start(_ orders: [BackgroundOrder]) {
            let session = session
            for order in orders {
                var request = URLRequest(url: order.url)
                request.allowsExpensiveNetworkAccess = order.allowsExpensiveNetwork
                request.allowsConstrainedNetworkAccess = order.allowsConstrainedNetwork
                for (name, value) in order.headers { request.setValue(value, forHTTPHeaderField: name) }
                let task = session.downloadTask(with: request)
                task.taskDescription = order.label
                task.countOfBytesClientExpectsToReceive = order.expectedSize
                task.resume()
            }
        }

        func cancel(_ labels: Set<String>) async {
            for task in await tasks() where task.taskDescription.map(labels.contains) ?? false { task.cancel() }
        }

        func keepRunning(_ body: @escaping @Sendable () async -> Void) async {
            let end = DispatchSemaphore(value: 0)
            // The system keeps the app running until this closure returns. It calls the closure again if time is up.
            ProcessInfo.processInfo.performExpiringActivity(withReason: "Tenure hands over downloads") { isExpired in
                if isExpired { end.signal() } else { end.wait() }
            }
            await body()
            end.signal()
        }

        // MARK: Reports

        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
        ) {
            guard let label = downloadTask.taskDescription else { return }
            let response = downloadTask.response as? HTTPURLResponse
            let result = BackgroundResult(
                label: label, status: response?.statusCode,
                contentRange: response?.value(forHTTPHeaderField: "Content-Range"), file: location)
            state.withLock { $0.ended }?(result)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            // `didFinishDownloadingTo` has already reported a download that succeeded.
            guard error != nil, let label = task.taskDescription else { return }
            state.withLock { $0.ended }?(BackgroundResult(label: label))
        }

        func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
            state.withLock { $0.delivered }?()
        }
    }
#endif
