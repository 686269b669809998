public import Foundation

extension Tenure {
    /// Files that a purchase unlocks, versioned together.
    public struct AssetPack: Sendable {
        public let name: String
        let library: ContentLibrary

        public enum State: Sendable, Hashable {
            /// There is no catalog yet.
            case unknown
            case notEntitled
            case needsAppUpdate
            /// - Parameter size: the bytes that a download transfers.
            case available(size: Int64)
            case waiting(Wait)
            case downloading(Progress)
            case paused
            case installing
            /// The files are complete. `update` is the state of a newer version, if there is one.
            indirect case installed(version: String, update: State?)
            case failed(AssetPackError)
        }

        public enum Wait: Sendable, Hashable {
            /// Another pack is being downloaded.
            case turn
            case network
            /// The network is expensive or in Low Data Mode: see `allowExpensiveNetwork()`.
            case consent
            /// - Parameter missing: bytes to be freed.
            case space(missing: Int64)
        }

        public struct Progress: Sendable, Hashable {
            /// Bytes that have arrived. Never goes back, also after a relaunch.
            public let bytes: Int64
            public let total: Int64
            /// Nil until it is known.
            public let bytesPerSecond: Double?
            /// In seconds. Nil until it is known.
            public var timeRemaining: TimeInterval? {
                bytesPerSecond.flatMap { $0 > 0 ? Double(total - bytes) / $0 : nil }
            }
            /// From 0 to 1.
            public var fraction: Double { total > 0 ? min(1, Double(bytes) / Double(total)) : 1 }
        }

        /// The state now.
        public var state: State { library.board.state(of: name) }

        /// The state now, and after every change. Only `installed` means that the files are there.
        public var states: AsyncStream<State> { library.board.watch(name) }

        /// Downloads the newest version that the app can use, and returns when it is installed.
        ///
        /// Canceling the task that waits doesn't cancel the download. Without network or space, the call waits.
        ///
        /// - Throws: `AssetPackError`, or `CancellationError` if the waiting task was canceled.
        public func download() async throws { try await library.download(name) }

        /// A file or folder of the installed pack. The URL is valid until the process ends.
        ///
        /// - Throws: `AssetPackError` if the pack isn't installed or has no such file, or the customer may not open it.
        public func url(for path: String) async throws -> URL { try await library.url(for: path, in: name) }

        /// Stops the download until `resume()`, also after a relaunch.
        public func pause() async { await library.pause(name) }

        /// Continues a download that was paused, waits or failed.
        public func resume() async { await library.resume(name) }

        /// Stops the download and discards what has arrived.
        public func cancel() async { await library.cancel(name) }

        /// Removes the pack's files from the device.
        public func remove() async { await library.remove(name) }

        /// Compares all files with their digests, and removes damaged ones. Returns whether the pack is complete.
        public func verify() async -> Bool { await library.verify(name) }

        /// Lets this download use an expensive network, or one in Low Data Mode.
        public func allowExpensiveNetwork() async { await library.allowExpensiveNetwork(name) }
    }

    /// The app's asset packs: see `Options.content`.
    public var content: Content { Content(library: library) }
}
