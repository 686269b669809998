import Foundation
import TenureContent

/// Why a download stopped before its end. The downloaded bytes are kept.
enum TransferStop: Error {
    /// The network or the server is unavailable. The download is tried again.
    case network(retryAfter: Double?, madeProgress: Bool)
    /// The device has too little free space: `missing` bytes too few.
    case space(missing: Int64)
    /// The source no longer has this version.
    case gone
    /// The server rejected the authorization twice. The customer's right may have ended.
    case refused
    /// The app is in the background. The system downloads the missing bytes.
    case inBackground
    /// Trying again wouldn't help.
    case failed(Tenure.AssetPackError)
}

/// Downloads one version of a pack and installs it.
struct PackTransfer: Sendable {
    /// What a download reports while it runs.
    enum Event: Sendable {
        case progress(bytes: Int64, total: Int64)
        case installing
    }

    let pack: ContentCatalog.Pack
    let version: ContentCatalog.Version
    let source: any Tenure.ContentSource
    let store: PackStore
    /// The pack in the app's bundle; nil if the bundle doesn't have it.
    let embedded: EmbeddedPack?
    /// Seconds without a byte after which a connection is treated as lost.
    let timeout: Double
    let allowsExpensiveNetwork: Bool
    let allowsConstrainedNetwork: Bool
    /// Whether the app is in the foreground. In the background, only what the system has downloaded is installed.
    let isInForeground: Bool
    /// The downloads that the system continues in the background. Nil if it can't do so for this process.
    let background: BackgroundTransfers?
    let lease: TransferLease
    /// Returns the number of free bytes in a folder; nil if it isn't known.
    let freeSpace: @Sendable (String) -> Int64?
    let report: @Sendable (Event) -> Void

    /// The number of bytes that a download leaves free for the system.
    static let minimumFreeSpace: Int64 = 16 << 20
    /// After this number of new bytes, the progress is reported again.
    private static let reportingStep: Int64 = 256 << 10

    /// Downloads and installs the version. Throws `TransferStop` if the download stops before its end,
    /// `CancellationError` if it is canceled, and `TransferLease.Lost` if another process has taken over.
    func run() async throws {
        do {
            try await transferAndInstall()
        } catch DiskFailure.full {
            throw TransferStop.space(missing: Self.minimumFreeSpace)
        } catch let failure as DiskFailure {
            throw TransferStop.failed(.storage(failure.description))
        } catch is CorruptedContent {
            throw TransferStop.failed(.corrupted(pack.name))
        }
    }

    /// Downloads until all files are verified, and installs them. Continues what an earlier process began.
    private func transferAndInstall() async throws {
        let folder = try store.prepareFolder(of: pack.name, isPurgeable: pack.isPurgeable)
        let partial = try await partialPack(in: folder)
        let lease = lease
        let writer = PackWriter(partial, confirm: { try lease.confirm() })
        if try writer.finishInstallation(in: store, embedded: embedded?.pack.version) { return }
        repeat {
            try await fetch(into: writer, folder)
            report(.installing)
            try writer.makeEmptyFiles()
        } while try !writer.verify()
        try Task.checkCancellation()
        try writer.install(in: store, embedded: embedded?.pack.version)
    }

    /// Returns the partly downloaded version. Begins the download if it hasn't begun.
    func partialPack(in folder: String) async throws -> PartialPack {
        let manifest = try await manifest(in: folder)
        if let begun = PartialPack(version.manifest, manifest, in: folder) { return begun }
        try lease.confirm()
        try PartialPack.setAside(in: folder)
        let reusableFiles = ReusableFiles(
            store.names.compactMap { store.installed($0) }, embedded: embedded,
            setAside: PartialPack.setAsideVersion(in: folder, store))
        return try PartialPack.begin(
            PackDescription(pack, version, from: source.identifier), manifest, in: folder, reusing: reusableFiles)
    }

    /// Returns the version's manifest (its list of files): the stored manifest, or else the manifest from the source.
    private func manifest(in folder: String) async throws -> PackManifest {
        if let stored = store.manifest(version.manifest, inFolder: folder) { return stored }
        guard isInForeground else { throw TransferStop.inBackground }
        let size = Int64(version.manifestSize)
        // If the bytes are wrong, request the manifest again, as often as a chunk of a file.
        for _ in 0..<PackWriter.maximumFailures {
            var text = Data()
            try await fetchFromSource(version.manifest, size: size, 0..<size) { delivery in
                if case .bytes(let piece) = delivery { text += piece }
            }
            guard ContentDigest(of: text) == version.manifest else { continue }
            guard let manifest = try? PackManifest(json: text), manifest.archiveSize == version.archiveSize else {
                break
            }
            try store.store(text, as: version.manifest, inFolder: folder)
            return manifest
        }
        throw TransferStop.failed(.corrupted(pack.name))
    }

    /// Downloads ranges until no range is missing. Waits for ranges that the system is downloading.
    private func fetch(into writer: PackWriter, _ folder: String) async throws {
        report(.progress(bytes: writer.partialPack.downloadedBytes, total: writer.partialPack.totalBytes))
        var received = 0
        while true {
            try Task.checkCancellation()
            // Read the system's ranges before the files. Then a range that ends in between is in one of the two lists.
            let others = background?.ranges(of: pack.name, version) ?? []
            try writer.takeArrived()
            guard isInForeground, let range = writer.nextRange(except: others) else {
                if writer.partialPack.gaps.isEmpty { return }
                guard isInForeground, let background else { throw TransferStop.inBackground }
                try await background.waitForChange(of: pack.name, version)
                report(.progress(bytes: writer.partialPack.downloadedBytes, total: writer.partialPack.totalBytes))
                continue
            }
            if let free = freeSpace(folder), free < writer.partialPack.missingBytes + Self.minimumFreeSpace {
                throw TransferStop.space(missing: writer.partialPack.missingBytes + Self.minimumFreeSpace - free)
            }
            try await fetch(range, into: writer, &received)
            report(.progress(bytes: writer.partialPack.downloadedBytes, total: writer.partialPack.totalBytes))
        }
    }

    /// Downloads one range. Adds its size to `received`, the size of all complete ranges.
    private func fetch(_ range: Range<Int64>, into writer: PackWriter, _ received: inout Int) async throws {
        writer.begin(range)
        defer { writer.end() }
        var reported = writer.partialPack.downloadedBytes
        var count = 0
        do {
            try await fetchFromSource(version.archive, size: version.archiveSize, range) { delivery in
                switch delivery {
                case .preparing(let fraction):
                    let total = writer.partialPack.totalBytes
                    // The value isn't a number if the source divided by zero.
                    let prepared = fraction > 0 ? Int64(Double(total) * min(fraction, 1)) : 0
                    report(.progress(bytes: max(writer.partialPack.downloadedBytes, prepared), total: total))
                case .bytes(let piece):
                    guard piece.count <= range.count - count else { throw Tenure.ContentSourceError.unavailable() }
                    try writer.write(piece)
                    count += piece.count
                    guard writer.partialPack.downloadedBytes - reported >= Self.reportingStep else { return }
                    reported = writer.partialPack.downloadedBytes
                    report(.progress(bytes: reported, total: writer.partialPack.totalBytes))
                }
            }
            guard count == range.count else { throw TransferStop.network(retryAfter: nil, madeProgress: false) }
            received += count
        } catch TransferStop.network(let retryAfter, _) {
            report(.progress(bytes: writer.partialPack.downloadedBytes, total: writer.partialPack.totalBytes))
            throw TransferStop.network(retryAfter: retryAfter, madeProgress: received + count > 0)
        }
    }

    /// Fetches a range from the source. If the server rejects the authorization, requests the range once more.
    private func fetchFromSource(
        _ digest: ContentDigest, size: Int64, _ range: Range<Int64>, receive: (Tenure.ContentDelivery) throws -> Void
    ) async throws {
        var request = Tenure.ContentRequest(
            pack: pack.name, digest: digest.description, size: size, range: range, timeout: timeout,
            allowsExpensiveNetwork: allowsExpensiveNetwork, allowsConstrainedNetwork: allowsConstrainedNetwork)
        var hasDelivered = false
        for wasRefused in [false, true] {
            request.wasRefused = wasRefused
            do {
                return try await source.fetch(request) { delivery in
                    if case .bytes = delivery { hasDelivered = true }
                    try receive(delivery)
                }
            } catch Tenure.ContentSourceError.refused {
                // Don't repeat this request after bytes were delivered. The caller requests the rest as a new range.
                if hasDelivered { throw TransferStop.network(retryAfter: nil, madeProgress: true) }
            } catch Tenure.ContentSourceError.missing {
                throw TransferStop.gone
            } catch Tenure.ContentSourceError.unavailable(let seconds) {
                throw TransferStop.network(retryAfter: seconds.map { min(max($0, 0), 3600) }, madeProgress: false)
            } catch let error where Self.isThrownByTenure(error) {
                throw error
            } catch {
                if Task.isCancelled { throw CancellationError() }
                throw TransferStop.network(retryAfter: nil, madeProgress: false)
            }
        }
        throw TransferStop.refused
    }

    /// Whether Tenure itself threw the error, and not the source: while it wrote the bytes to the disk, or in
    /// `ServiceContent`, which throws `TransferStop`.
    private static func isThrownByTenure(_ error: any Error) -> Bool {
        error is DiskFailure || error is CorruptedContent || error is TransferLease.Lost || error is TransferStop
    }
}
