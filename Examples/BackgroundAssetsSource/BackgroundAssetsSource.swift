#if canImport(BackgroundAssets)
    import BackgroundAssets
    import Foundation
    import System
    import Tenure

    /// Delivers asset packs through Apple's Background Assets, hosted by Apple or by yourself. Copy this file into your
    /// app.
    ///
    /// Name each of Apple's asset packs like the pack in `content.yaml`, and put the two files of its version into it:
    /// the manifest and the archive, as `tenure content publish` named them. `tenure content list` shows the names.
    ///
    /// ```swift
    /// options.content = [.custom(BackgroundAssetsSource(), keys: ["…"])]
    /// ```
    ///
    /// The app needs a downloader extension and an App Group, as Background Assets requires. The system decides which
    /// networks it uses. Background Assets has no access control: Tenure asks for a pack only while the customer may
    /// use it.
    @available(iOS 26.0, macOS 26.0, tvOS 26.0, visionOS 26.0, *)
    struct BackgroundAssetsSource: Tenure.ContentSource {
        let identifier = "background-assets"
        /// The name of Apple's asset pack that has `catalog.jws`, so that a new catalog needs no release of the app.
        /// Without a name, `catalog.jws` is in the app's bundle.
        var catalogPack: String?

        private static let catalogName = "catalog.jws"

        func list() async throws -> [Tenure.ContentListing] {
            guard let catalogPack else {
                guard let file = Bundle.main.url(forResource: Self.catalogName, withExtension: nil) else {
                    throw Tenure.ContentSourceError.missing
                }
                return [.catalog(try Data(contentsOf: file))]
            }
            let manager = AssetPackManager.shared
            try await manager.ensureLocalAvailability(of: try await manager.assetPack(withID: catalogPack))
            return [.catalog(try Data(contentsOf: try manager.url(for: FilePath(Self.catalogName))))]
        }

        func fetch(_ request: Tenure.ContentRequest, receive: (Tenure.ContentDelivery) throws -> Void) async throws {
            try await makeAvailable(request.pack, receive)
            let file: URL
            do {
                file = try AssetPackManager.shared.url(for: FilePath(request.digest))
            } catch {
                // Apple's asset pack contains another version of the pack, without this file.
                throw Tenure.ContentSourceError.missing
            }
            try deliver(request.range, of: file, receive)
        }

        /// Removes Apple's copy of the pack, because Tenure has its own copy by now.
        func remove(_ pack: String) async { try? await AssetPackManager.shared.remove(assetPackWithID: pack) }

        /// Waits until the system has downloaded the asset pack, and reports the progress.
        private func makeAvailable(_ id: String, _ receive: (Tenure.ContentDelivery) throws -> Void) async throws {
            let manager = AssetPackManager.shared
            let (fractions, continuation) = AsyncStream.makeStream(of: Double.self)
            // If the pack is already on the device, there is no download, and no status update arrives.
            let watching = Task {
                for await update in manager.statusUpdates(forAssetPackWithID: id) {
                    if case .downloading(_, let progress) = update { continuation.yield(progress.fractionCompleted) }
                }
            }
            let downloading = Task {
                defer { continuation.finish() }
                try await manager.ensureLocalAvailability(of: try await manager.assetPack(withID: id))
            }
            defer {
                watching.cancel()
                downloading.cancel()
            }
            for await fraction in fractions { try receive(.preparing(fraction)) }
            try Task.checkCancellation()
            do {
                try await downloading.value
            } catch {
                throw Tenure.ContentSourceError.unavailable()
            }
        }

        /// Passes a range of the file to Tenure, in pieces of 256 KiB.
        private func deliver(
            _ range: Range<Int64>, of file: URL, _ receive: (Tenure.ContentDelivery) throws -> Void
        ) throws {
            let handle = try FileHandle(forReadingFrom: file)
            defer { try? handle.close() }
            try handle.seek(toOffset: UInt64(range.lowerBound))
            var rest = range.count
            while rest > 0 {
                try Task.checkCancellation()
                guard let piece = try handle.read(upToCount: min(rest, 256 * 1024)), !piece.isEmpty else {
                    throw Tenure.ContentSourceError.missing
                }
                try receive(.bytes(piece))
                rest -= piece.count
            }
        }
    }
#endif
