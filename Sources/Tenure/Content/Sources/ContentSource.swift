public import Foundation

extension Tenure {
    /// A place from which asset packs come.
    ///
    /// Tenure has three: its service, a web server, and the app's bundle. An app can add others, such as On-Demand
    /// Resources or Background Assets, with `ContentSources.custom(_:keys:)`.
    ///
    /// A source delivers bytes and decides nothing. Tenure verifies the catalog's signature and the digest of every file
    /// before it installs anything, and asks for a pack only while the customer is entitled to it.
    public protocol ContentSource: Sendable {
        /// A name that stays the same in later releases of the app. Tenure keeps the last catalog of each source under it.
        var identifier: String { get }

        /// Returns the signed catalogs of this source, and the folders with packs that are on the device already.
        ///
        /// Tenure calls it at the start of the app, once a day, for `Content.refresh()`, and while a download can't find its
        /// file.
        ///
        /// - Throws: `ContentSourceError.missing` if the source has no catalog, and so no packs. Any other error if it
        ///   can't be reached. Tenure goes on with the catalogs that it knows, and asks again later.
        func list() async throws -> [ContentListing]

        /// Delivers a range of a published file, in order and to its end.
        ///
        /// `receive` takes the bytes in pieces of any size. A source that first has to make the whole file available reports
        /// its progress meanwhile. What was delivered before an error stays, and isn't asked for again.
        ///
        /// Return when `receive` has taken the last byte. Return soon when the task is canceled: pausing a download and the
        /// end of a right do that.
        ///
        /// - Parameter receive: throws if the download must stop. Pass its error on.
        /// - Throws: `ContentSourceError`. Any other error counts as trouble with the network, and Tenure tries again.
        func fetch(_ request: ContentRequest, receive: (ContentDelivery) throws -> Void) async throws

        /// Frees what the source itself keeps of a pack on the device. Tenure calls it after it has installed the pack, and
        /// when the app removes it.
        func remove(_ pack: String) async
    }

    /// What a content source has.
    public enum ContentListing: Sendable, Hashable {
        /// The contents of `catalog.jws`, as `tenure content publish` wrote it.
        case catalog(Data)
        /// A folder on the device, as `tenure content embed` wrote it. Its packs open in place.
        case folder(URL)
    }

    /// A range of a published file that a content source is asked for.
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
        /// Whether the source threw `ContentSourceError.refused` just now. It has to get a new authorization first.
        public var wasRefused = false
    }

    /// What a content source hands over.
    public enum ContentDelivery: Sendable {
        /// The next bytes of the range.
        case bytes(Data)
        /// How much of the pack the source has made available so far, from 0 to 1, before it has bytes to deliver.
        case preparing(Double)
    }

    /// Why a content source delivers nothing, or nothing more.
    public enum ContentSourceError: Swift.Error, Sendable, Hashable {
        /// Trouble with the network or the server. Tenure tries again, at the earliest after `retryAfter` seconds.
        case unavailable(retryAfter: Double? = nil)
        /// The source rejected the authorization, such as an expired link. Tenure tries once more; if that is rejected
        /// too, the download fails.
        case refused
        /// The source doesn't have the file, or has no catalog. If the catalog names a newer version of a pack, Tenure
        /// goes on with that.
        case missing
    }
}
