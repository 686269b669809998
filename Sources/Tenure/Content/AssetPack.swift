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

        /// Returns the URL of a file or folder of the installed pack. The URL is valid until the process ends. After a
        /// start of the app, and after an entitlement has ended, the call waits like `Tenure.allows(_:)` until Tenure
        /// knows whether the customer may use the pack.
        ///
        /// - Throws: `AssetPackError` if the pack isn't installed, if it has no such file, or if the customer may not
        ///   use it.
        public func url(for path: String) async throws -> URL { try await library.url(for: path, in: name) }

        /// Stops the download until `resume()` is called. The download also stays paused after a relaunch.
        public func pause() async { await library.pause(name) }

        /// Continues a download that is paused, is waiting or has failed.
        public func resume() async { await library.resume(name) }

        /// Stops the download and deletes the bytes that were downloaded.
        public func cancel() async { await library.cancel(name) }

        /// Removes the pack's files from the device.
        public func remove() async { await library.remove(name) }

        /// Compares all downloaded files with their digests, and removes damaged files. Returns whether the pack can
        /// still be opened. If not, `download()` fetches the missing files.
        public func verify() async -> Bool { await library.verify(name) }

        /// Lets this download use an expensive network, or a network in Low Data Mode.
        public func allowExpensiveNetwork() async { await library.allowExpensiveNetwork(name) }
    }

    /// The app's asset packs, which come from the sources in `Options.content`.
    public var content: Content { Content(library: library) }

    /// The app's asset packs: files that a purchase unlocks, versioned together.
    public struct Content: Sendable {
        let library: ContentLibrary

        /// Returns the pack with this name. If there is no such pack, its state is `unknown`.
        public subscript(name: String) -> AssetPack { AssetPack(name: name, library: library) }

        /// All packs that a catalog contains or that are on the device, sorted by name.
        public var packs: [Listing] { get async { await library.listings } }

        /// Asks all sources in `Options.content` for newer catalogs of packs.
        public func refresh() async { await library.refresh() }

        /// Installs the packs that the system downloaded while the app wasn't running, and returns when that is done.
        ///
        /// Call it when the system starts the app for the background session `backgroundIdentifier`:
        ///
        /// ```swift no-check
        /// .backgroundTask(.urlSession(Tenure.Content.backgroundIdentifier)) {
        ///     await tenure.content.finishBackgroundDownloads()
        /// }
        /// ```
        public func finishBackgroundDownloads() async { await library.finishBackgroundDownloads() }

        /// The identifier of the background `URLSession` that downloads asset packs.
        public static var backgroundIdentifier: String { "tenure.content" }

        /// An asset pack in a list.
        public struct Listing: Sendable, Hashable {
            /// The pack's name in `content.yaml`, for `tenure.content[name]`.
            public let name: String
            /// The state of the pack when the list was made.
            public let state: AssetPack.State
            /// The total size of the pack's files outside the app's bundle: of installed, older and partial versions.
            public let bytesOnDisk: Int64
        }
    }

    /// Why an asset pack can't be downloaded or opened. An unavailable network or server isn't an error: the download
    /// waits until the network or the server is available.
    public enum AssetPackError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
        /// No content catalog has a pack with this name.
        case unknownPack(String)
        /// The customer may not use the pack.
        case notEntitled(String)
        /// All versions of the pack need a newer version of the app.
        case needsAppUpdate(String)
        /// The app canceled the download or removed the pack.
        case canceled(String)
        /// The server rejected two download links of the pack with this name, or the service gave no link.
        case refused(String)
        /// The server's bytes don't match the digests of the published pack.
        case corrupted(String)
        /// The pack isn't on the device.
        case notInstalled(String)
        /// The pack has no such file or folder.
        case missingFile(path: String)
        /// A file can't be read or written on the device, for this reason.
        case storage(String)

        /// Whether the same call may succeed later.
        public var isRetryable: Bool {
            switch self {
            case .canceled, .refused, .corrupted, .notInstalled, .storage: true
            case .unknownPack, .notEntitled, .needsAppUpdate, .missingFile: false
            }
        }

        /// The problem and its fix on one line, for a log.
        public var description: String { "\(texts.problem) \(texts.recovery)" }
        /// The problem in one English sentence.
        public var errorDescription: String? { texts.problem }
        /// What the customer can do about the problem.
        public var recoverySuggestion: String? { texts.recovery }

        private var texts: (problem: String, recovery: String) {
            switch self {
            case .unknownPack(let name):
                ("There is no content named “\(name)”.", "Please update the app, or contact support.")
            case .notEntitled: ("This content isn't part of your purchases.", "Buy it, or restore your purchases.")
            case .needsAppUpdate: ("This content needs a newer version of the app.", "Update the app.")
            case .canceled: ("The download was canceled.", "Download it again.")
            case .refused: ("The server refused the download.", "Please try again later.")
            case .corrupted: ("The downloaded content is damaged.", "Please try again later.")
            case .notInstalled: ("This content hasn't been downloaded.", "Download it.")
            case .missingFile(let path):
                ("The content has no file “\(path)”.", "Please update the app, or contact support.")
            case .storage(let reason):
                ("The content can't be stored: \(reason).", "Free some space on the device, and try again.")
            }
        }
    }
}
