#if !os(macOS)
    import Foundation
    import Tenure

    /// Delivers asset packs through On-Demand Resources, which the App Store hosts. Copy this file into your app.
    ///
    /// Apple deprecated On-Demand Resources with iOS 27: use this for packs that are tagged already, and plan to move.
    ///
    /// Add the two files of each pack's version to the app's target, the manifest and the archive as
    /// `tenure content publish` named them, and tag both with the name of the pack. Add `catalog.jws` without a tag, so
    /// that it is part of the app. `tenure content list` shows the names.
    ///
    /// ```swift
    /// options.content = [.custom(OnDemandResourcesSource(), keys: ["…"])]
    /// ```
    struct OnDemandResourcesSource: Tenure.ContentSource {
        let identifier = "on-demand-resources"

        func list() throws -> [Tenure.ContentListing] {
            guard let file = Bundle.main.url(forResource: "catalog.jws", withExtension: nil) else {
                throw Tenure.ContentSourceError.missing
            }
            return [.catalog(try Data(contentsOf: file))]
        }

        func fetch(_ request: Tenure.ContentRequest, receive: (Tenure.ContentDelivery) throws -> Void) async throws {
            // A resource request can be used once. While it has access, the system doesn't remove the files.
            let access = NSBundleResourceRequest(tags: [request.pack])
            access.loadingPriority = NSBundleResourceRequestLoadingPriorityUrgent
            defer { access.endAccessingResources() }
            do {
                for try await fraction in begin(access) { try receive(.preparing(fraction)) }
            } catch let error as CocoaError where error.code.rawValue == NSBundleOnDemandResourceInvalidTagError {
                throw Tenure.ContentSourceError.missing
            }
            try Task.checkCancellation()
            guard let file = Bundle.main.url(forResource: request.digest, withExtension: nil) else {
                throw Tenure.ContentSourceError.missing
            }
            try deliver(request.range, of: file, receive)
        }

        /// Lets the system remove its copy of the pack before others, because Tenure has its own copy by now.
        func remove(_ pack: String) { Bundle.main.setPreservationPriority(0, forTags: [pack]) }

        /// Starts the download. Returns its progress as a stream, which ends when the files are on the device.
        private func begin(_ access: NSBundleResourceRequest) -> AsyncThrowingStream<Double, any Error> {
            let (fractions, continuation) = AsyncThrowingStream.makeStream(of: Double.self)
            let progress = access.progress
            let observation = progress.observe(\.fractionCompleted) { progress, _ in
                continuation.yield(progress.fractionCompleted)
            }
            continuation.onTermination = { reason in
                observation.invalidate()
                // The download was paused, or the right ended.
                if case .cancelled = reason { progress.cancel() }
            }
            access.beginAccessingResources { continuation.finish(throwing: $0) }
            return fractions
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
