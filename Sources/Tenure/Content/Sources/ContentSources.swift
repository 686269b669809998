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
        /// One source, with the keys that may sign its catalogs.
        enum Element: Sendable {
            case service(keys: [String])
            case webServer(URL, keys: [String])
            case embedded(URL)
            case custom(any ContentSource, keys: [String])
        }

        let elements: [Element]

        private init(_ elements: [Element]) { self.elements = elements }

        /// Combines sources, the preferred source first.
        public init(arrayLiteral sources: ContentSources...) { elements = sources.flatMap(\.elements) }

        /// Your Tenure service, which gives links only to customers who may use a pack.
        ///
        /// - Parameter keys: the keys that may sign the catalog, as `tenure policy signing-key` prints them.
        public static func service(keys: [String]) -> ContentSources { ContentSources([.service(keys: keys)]) }

        /// A web server with the folder that `tenure content publish` wrote. It has no access control: anyone who knows
        /// the address can download all packs.
        ///
        /// - Parameter keys: the keys that may sign the catalog, as `tenure policy signing-key` prints them.
        public static func webServer(_ url: URL, keys: [String]) -> ContentSources {
            ContentSources([.webServer(url, keys: keys)])
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
        public static func embedded(at folder: URL) -> ContentSources { ContentSources([.embedded(folder)]) }

        /// A source that the app implements.
        ///
        /// - Parameter keys: the keys that may sign the source's catalogs, as `tenure policy signing-key` prints them.
        ///   A source that lists only folders needs no keys.
        public static func custom(_ source: any ContentSource, keys: [String] = []) -> ContentSources {
            ContentSources([.custom(source, keys: keys)])
        }
    }
}
