public import Foundation

extension Tenure {
    /// Where asset packs come from: one source, or several sources in an array.
    ///
    /// ```swift
    /// var options = Tenure.Options()
    /// options.content = [.embedded(), .service(keys: ["…"])]
    /// ```
    ///
    /// If several catalogs contain a pack, the first source in the array delivers it. A pack in the app's bundle is
    /// installed from the start. If a catalog contains another version of such a pack, that version is its update.
    public struct ContentSources: Sendable, ExpressibleByArrayLiteral {
        /// Where a source gets its packs.
        enum Kind: Sendable {
            case service
            case webServer(URL)
            case embedded(URL)
            case custom(any ContentSource)
        }

        /// The sources, each with the keys that may sign its catalogs.
        let elements: [(kind: Kind, keys: [String])]

        private init(_ kind: Kind, keys: [String]) { elements = [(kind, keys)] }

        /// Combines sources, the preferred source first.
        public init(arrayLiteral sources: ContentSources...) { elements = sources.flatMap(\.elements) }

        /// Your Tenure service, which gives links only to customers who may use a pack.
        ///
        /// - Parameter keys: the keys that may sign the catalog, as `tenure policy signing-key` prints them.
        public static func service(keys: [String]) -> ContentSources { ContentSources(.service, keys: keys) }

        /// A web server with the folder that `tenure content publish` wrote. It has no access control: anyone who knows
        /// the address can download all packs.
        ///
        /// - Parameter keys: the keys that may sign the catalog, as `tenure policy signing-key` prints them.
        public static func webServer(_ url: URL, keys: [String]) -> ContentSources {
            ContentSources(.webServer(url), keys: keys)
        }

        /// A folder in the app's bundle that `tenure content embed` wrote. Its packs are installed without a download,
        /// and their files open in place.
        ///
        /// - Parameters:
        ///   - folder: the name of the folder.
        ///   - bundle: the bundle that contains the folder.
        public static func embedded(_ folder: String = "Content", in bundle: Bundle = .main) -> ContentSources {
            let root = bundle.resourceURL ?? bundle.bundleURL
            return embedded(at: root.appendingPathComponent(folder, isDirectory: true))
        }

        /// A folder that `tenure content embed` wrote.
        public static func embedded(at folder: URL) -> ContentSources { ContentSources(.embedded(folder), keys: []) }

        /// A source that the app implements.
        ///
        /// - Parameter keys: the keys that may sign the source's catalogs, as `tenure policy signing-key` prints them.
        ///   A source that lists only folders needs no keys.
        public static func custom(_ source: any ContentSource, keys: [String] = []) -> ContentSources {
            ContentSources(.custom(source), keys: keys)
        }
    }

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
