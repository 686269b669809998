extension Tenure {
    /// The app's asset packs.
    public struct Content: Sendable {
        let library: ContentLibrary

        /// The pack with a name, which need not exist.
        public subscript(name: String) -> AssetPack { AssetPack(name: name, library: library) }

        /// The packs that the sources name and those on the device, by name.
        public var packs: [Listing] { get async { await library.listings } }

        /// Asks all sources for newer catalogs.
        public func refresh() async { await library.refresh() }

        /// Installs what the system has downloaded while the app wasn't running, and returns when that is done.
        ///
        /// Call it when the system starts the app for the background session `backgroundIdentifier`:
        ///
        /// ```swift no-check
        /// .backgroundTask(.urlSession(Tenure.Content.backgroundIdentifier)) {
        ///     await tenure.content.finishBackgroundDownloads()
        /// }
        /// ```
        public func finishBackgroundDownloads() async { await library.finishBackgroundDownloads() }

        /// The identifier of the session in which the system downloads asset packs.
        public static var backgroundIdentifier: String { "tenure.content" }

        /// An asset pack in a list.
        public struct Listing: Sendable, Hashable {
            /// The name of the pack.
            public let name: String
            /// Its state when the list was made.
            public let state: AssetPack.State
            /// The bytes of all its files outside of the app's bundle: installed, older and partial versions.
            public let bytesOnDisk: Int64
        }
    }
}
