// Internal symbols are visible only in modules built with `-enable-testing`: debug builds, and those of `Scripts/fuzz`.
#if DEBUG || FUZZING
    import Foundation
    import TenureContent
    import TenureContentPublishing
    import TenureCore
    import TenurePolicyFile
    import TenureStore

    @testable import TenureServer

    /// The readers of content delivery. Each traps if an invariant doesn't hold.
    struct FuzzedContent: Sendable {
        private let links: ContentLinkKey
        private let folder: String

        /// Makes keys and the files of a pack in the folder.
        init(folder: String) throws {
            self.folder = folder
            links = try ContentLinkKey(folder: folder, databaseID: [1, 2, 3])
            try FileManager.default.createDirectory(atPath: folder + "/piano", withIntermediateDirectories: true)
            try Data("abc".utf8).write(to: URL(fileURLWithPath: folder + "/piano/a.txt"))
        }

        // MARK: Manifests and catalogs

        static func manifest(_ input: [UInt8]) {
            guard let manifest = try? PackManifest(json: Data(input)) else { return }
            guard let again = try? PackManifest(json: manifest.json), again == manifest else {
                fatalError("a manifest doesn't survive being written")
            }
            var end: Int64 = 0
            for file in manifest.files {
                let parts = file.path.split(separator: "/", omittingEmptySubsequences: false)
                guard !file.path.hasPrefix("/"), !parts.contains(".."), !file.path.utf8.contains(0) else {
                    fatalError("a path leads out of the pack's folder")
                }
                guard file.size >= 0, file.offset >= end, file.offset + file.size <= manifest.archiveSize else {
                    fatalError("files overlap, or end after the archive")
                }
                end = file.offset + file.size
                for index in file.chunks.indices where file.range(ofChunk: index).isEmpty {
                    fatalError("a chunk is empty")
                }
            }
        }

        static var manifests: [[UInt8]] {
            let digest = ContentDigest(of: Data("abc".utf8))
            let chunks = (0..<2).map { ContentDigest(of: Data("\($0)".utf8)) }
            var files: [PackManifest.File] = []
            for (path, size, parts) in [("a.txt", 3, [digest]), ("samples/é.wav", 5 << 20, chunks), ("empty", 0, [])] {
                files.append(
                    PackManifest.File(
                        path: path, offset: PackManifest.offset(after: files.last), size: Int64(size), digest: digest,
                        chunks: parts))
            }
            return [files, []].compactMap { files in
                try? PackManifest(
                    files: files, archive: digest, archiveSize: PackManifest.archiveSize(endingWith: files.last))
            }.map { Array($0.json) }
        }

        /// The payload of a catalog, which is read after its signature was verified.
        static func catalog(_ input: [UInt8]) {
            guard let signed = try? SignedCatalog(payload: Data(input), text: "") else { return }
            let catalog = signed.catalog
            guard signed.counter >= 1,
                let again = try? ContentCatalog(bundleID: catalog.bundleID, packs: catalog.packs),
                again == catalog
            else { fatalError("a catalog that can't be made was read") }
            for pack in catalog.packs {
                guard ContentCatalog.isName(pack.name), !pack.versions.isEmpty else { fatalError("a pack is invalid") }
                _ = pack.version(for: nil)
                _ = pack.version(for: AppVersion("3.2"))
            }
        }

        static let catalogs = [
            #"{"counter":1795176000,"iat":1795176000,"bundleID":"com.example.calculator","packs":{"piano":{"entitlement":"piano","versions":[\#(version)]},"loops":{"product":"com.example.loops","storage":"purgeable","versions":[\#(version)]}}}"#
        ].map { Array($0.utf8) }

        private static let version =
            #"{"minimumAppVersion":"3.2","manifest":"\#(digits)","manifestSize":200,"archive":"\#(digits)","archiveSize":2048,"installedSize":3}"#
        private static let digits = String(repeating: "0a", count: 32)

        static func embedded(_ input: [UInt8]) {
            guard let content = try? EmbeddedContent(json: Data(input)) else { return }
            guard let again = try? EmbeddedContent(json: content.json), again == content else {
                fatalError("embedded content doesn't survive being written")
            }
        }

        static let embeddedFiles = [
            #"{"format":1,"packs":[{"name":"grand-piano","entitlement":"piano","minimumAppVersion":"3.2","version":"\#(digits)","installedSize":1900,"files":[{"path":"samples/c4.wav","size":1900}]}]}"#
        ].map { Array($0.utf8) }

        // MARK: Publishing

        /// `content.yaml`, as a developer writes it.
        func yaml(_ input: [UInt8]) {
            guard let file = try? ContentFile.read(input, named: folder + "/content.yaml", policy: nil) else { return }
            for pack in file.packs where !pack.files.folder.hasPrefix(folder + "/") {
                fatalError("a pack's files are outside of the folder")
            }
        }

        static let yamls = [
            """
            app: com.example.calculator
            packs:
              grand-piano: { entitlement: piano, files: piano/, minimumAppVersion: "3.2" }
              loops: { product: com.example.loops, files: piano/, storage: purgeable }
            """
        ].map { Array($0.utf8) }

        // MARK: Downloads

        /// The token of a download link, or the bytes of a link without their authentication code.
        func linkToken(_ input: [UInt8]) {
            if let link = links.link(in: input), links.link(in: links.token(of: link).utf8) != link {
                fatalError("a link doesn't survive being written")
            }
            // Beyond this limit a date isn't exact, and no service makes such links.
            guard let link = ContentLink(input), abs(link.expiresAt.timeIntervalSince1970) < 1e15 else { return }
            guard links.link(in: links.token(of: link).utf8) == link else { fatalError("an own token isn't accepted") }
        }

        private static let link = ContentLink(
            file: .archive, digest: ContentDigest(of: Data("abc".utf8)), pack: "grand-piano",
            unlock: .entitlement("piano"), customer: 7, realm: Realm(.production), persona: nil,
            expiresAt: Date(timeIntervalSince1970: 1_795_176_000))

        var linkTokens: [[UInt8]] { [Array(links.token(of: Self.link).utf8), Self.link.bytes] }

        /// A `Range` header, for files of several sizes.
        static func rangeHeader(_ input: [UInt8]) {
            let header = String(decoding: input, as: UTF8.self)
            for size: Int64 in [0, 1, 1000, .max] {
                guard case .part(let range) = ByteRange(header, size: size) else { continue }
                guard !range.isEmpty, range.lowerBound >= 0, range.upperBound <= size else {
                    fatalError("a range outside of the file was accepted")
                }
            }
        }

        static let rangeHeaders = [
            "bytes=0-499", "bytes=500-", "bytes=-1", "bytes=0-0,5-9", "Bytes= 9223372036854775807-",
        ]
        .map { Array($0.utf8) }
    }
#endif
