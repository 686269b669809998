extension Tenure {
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
}
