public import Foundation

extension Tenure {
    /// Files that a purchase unlocks, versioned together.
    public struct AssetPack: Sendable {
        /// The name of the pack in `content.yaml`.
        public let name: String
        let library: ContentLibrary

        /// Whether a pack is on the device, is being downloaded, or why it isn't.
        public enum State: Sendable, Hashable {
            /// The device has no content catalog yet, or no catalog contains the pack.
            case unknown
            /// The customer may not use the pack.
            case notEntitled
            /// All versions of the pack need a newer version of the app.
            case needsAppUpdate
            /// The pack can be downloaded, and the app doesn't currently request it.
            ///
            /// - Parameter size: the bytes that a download transfers.
            case available(size: Int64)
            /// The download waits for this reason, and then continues by itself.
            case waiting(Wait)
            /// This process, or another process of the app, is downloading the pack.
            case downloading(Progress)
            /// The app paused the download. `resume()` continues it.
            case paused
            /// All bytes are downloaded. The files are being verified and moved into place.
            case installing
            /// The files can be opened. `update` is the state of a newer version, if there is one.
            ///
            /// - Parameters:
            ///   - version: the digest of the version's manifest (its list of files).
            ///   - update: nil if no newer version is known.
            indirect case installed(version: String, update: State?)
            /// The download failed. `resume()` or `download()` starts it again.
            case failed(AssetPackError)
        }

        /// What a download waits for.
        public enum Wait: Sendable, Hashable {
            /// Another pack is being downloaded.
            case turn
            /// The network is unavailable, or the server doesn't respond.
            case network
            /// The network is expensive (cellular or a personal hotspot) or in Low Data Mode. `allowExpensiveNetwork()`
            /// lets the download use it.
            case consent
            /// The device has too little free space.
            ///
            /// - Parameter missing: the number of bytes that the customer has to free.
            case space(missing: Int64)
        }

        /// How far a download is, for a progress bar.
        public struct Progress: Sendable, Hashable {
            /// The number of bytes downloaded so far. It never decreases, even after a relaunch.
            public let bytes: Int64
            /// The number of bytes that the whole download transfers.
            public let total: Int64
            /// The average speed of the last few seconds. Nil until it is known.
            public let bytesPerSecond: Double?
            /// The estimated time until the download ends, in seconds. Nil until it is known.
            public var timeRemaining: TimeInterval? {
                bytesPerSecond.flatMap { $0 > 0 ? Double(total - bytes) / $0 : nil }
            }
            /// The part that is downloaded, from 0 to 1.
            public var fraction: Double { total > 0 ? min(1, Double(bytes) / Double(total)) : 1 }
        }

        /// The current state as far as this process knows it, without waiting. To follow its changes, use `states`.
        public var state: State { library.contentStates.state(of: name) }

        /// The current state, and the state after every change. Only after `installed` can files be opened.
        public var states: AsyncStream<State> { library.contentStates.watch(name) }

        /// Downloads the newest version that the app can use, and returns when that version is installed.
        ///
        /// Canceling the task that waits doesn't cancel the download. Without network or space, the call waits.
        ///
        /// - Throws: `AssetPackError`, or `CancellationError` if the waiting task was canceled.
        public func download() async throws { try await library.download(name) }

        /// Returns the URL of a file or folder of the installed pack. The URL is valid until the process ends. Right
        /// after the app starts, and after a right has ended, the call waits until Tenure knows whether the customer
        /// may use the pack, as `Tenure.allows(_:)` does.
        ///
        /// - Throws: `AssetPackError` if the pack isn't installed or has no such file, or the customer may not open it.
        public func url(for path: String) async throws -> URL { try await library.url(for: path, in: name) }

        /// Stops the download until `resume()` is called. The download also stays paused after a relaunch.
        public func pause() async { await library.pause(name) }

        /// Continues a download that is paused, is waiting or has failed.
        public func resume() async { await library.resume(name) }

        /// Stops the download and deletes the bytes that were downloaded.
        public func cancel() async { await library.cancel(name) }

        /// Removes the pack's files from the device.
        public func remove() async { await library.remove(name) }

        /// Compares all files with their digests, and removes damaged files. Returns true if no file is missing or was
        /// removed. Otherwise `download()` fetches the missing files.
        public func verify() async -> Bool { await library.verify(name) }

        /// Lets this download use an expensive network, or a network in Low Data Mode.
        public func allowExpensiveNetwork() async { await library.allowExpensiveNetwork(name) }
    }

    /// The app's asset packs, which come from the sources in `Options.content`.
    public var content: Content { Content(library: library) }
}
