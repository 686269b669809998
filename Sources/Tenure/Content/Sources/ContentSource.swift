public import Foundation

extension Tenure {
    /// A source from which the app gets asset packs.
    ///
    /// Tenure has three sources: its service, a web server, and the app's bundle. An app can add other sources, such as
    /// On-Demand Resources or Background Assets, with `ContentSources.custom(_:keys:)`.
    ///
    /// A source only delivers bytes. Tenure verifies the catalog's signature and the digest of every file before it
    /// installs a pack. Tenure requests a pack only while the customer may use the pack.
    public protocol ContentSource: Sendable {
        /// A name that stays the same in later releases of the app. Tenure stores the last catalog of each source under
        /// this name.
        var identifier: String { get }

        /// Returns the signed catalogs of this source, and the folders with packs that are on the device already.
        ///
        /// Tenure calls this method when the app starts, once a day, for `Content.refresh()`, and if the source doesn't
        /// have the file of a download.
        ///
        /// - Throws: `ContentSourceError.missing` if the source has no catalog, and so no packs. Any other error if the
        ///   source can't be reached: Tenure keeps the catalogs that it has, and calls again later.
        func list() async throws -> [ContentListing]

        /// Delivers a range of a published file, in order and to its end.
        ///
        /// Pass the bytes to `receive` in pieces of any size. A source that first has to download the whole file passes
        /// `preparing` meanwhile. Tenure keeps the bytes that were delivered before an error, and doesn't request them
        /// again.
        ///
        /// Return when `receive` has taken the last byte. Return promptly when the task is canceled: Tenure cancels the
        /// task when the app pauses the download, and when the customer's right ends.
        ///
        /// - Parameter receive: throws if the download must stop. Pass its error on.
        /// - Throws: `ContentSourceError`. Any other error is treated as a network failure, and Tenure tries again.
        func fetch(_ request: ContentRequest, receive: (ContentDelivery) throws -> Void) async throws

        /// Deletes the source's own copy of a pack on the device, if there is such a copy. Tenure calls this method
        /// after it has installed the pack, and when the app removes the pack.
        func remove(_ pack: String) async
    }

    /// A catalog or a folder that a content source lists.
    public enum ContentListing: Sendable, Hashable {
        /// The contents of `catalog.jws`, as `tenure content publish` wrote it.
        case catalog(Data)
        /// A folder on the device, as `tenure content embed` wrote it. Its packs open in place.
        case folder(URL)
    }

    /// A request to a content source for a range of a published file.
    public struct ContentRequest: Sendable, Hashable {
        /// The name of the pack to which the file belongs.
        public let pack: String
        /// The name of the file: its SHA-256 digest, as 64 hexadecimal digits.
        public let digest: String
        /// The size of the whole file, in bytes.
        public let size: Int64
        /// The bytes to deliver; never empty, and at most 32 MiB.
        public let range: Range<Int64>
        /// Seconds without a byte after which the source throws `ContentSourceError.unavailable`.
        public let timeout: Double
        /// Whether cellular networks and personal hotspots may carry the bytes.
        public let allowsExpensiveNetwork: Bool
        /// Whether networks in Low Data Mode may carry the bytes.
        public let allowsConstrainedNetwork: Bool
        /// Whether the source just threw `ContentSourceError.refused` for the same range. If so, it has to get a new
        /// authorization first, such as a new link.
        public var wasRefused = false
    }

    /// What a content source passes to `receive`.
    public enum ContentDelivery: Sendable {
        /// The next bytes of the range.
        case bytes(Data)
        /// How much of the pack the source has made available so far, from 0 to 1, before it has bytes to deliver.
        case preparing(Double)
    }

    /// Why a content source can't deliver the requested bytes.
    public enum ContentSourceError: Swift.Error, Sendable, Hashable {
        /// The network or the server is unavailable. Tenure tries again, at the earliest after `retryAfter` seconds.
        case unavailable(retryAfter: Double? = nil)
        /// The server rejected the authorization, such as an expired link. Tenure tries once more. If the server
        /// rejects the second request, too, the download fails.
        case refused
        /// The source doesn't have the file, or has no catalog. If the catalog contains a newer version of the pack,
        /// Tenure downloads the newer version instead.
        case missing
    }
}
