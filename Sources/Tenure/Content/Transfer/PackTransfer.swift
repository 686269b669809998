import Foundation
import TenureContent
import TenureCore
import TenureHTTP

/// Where a version can be downloaded.
struct PackLinks: Sendable {
    let manifest: URL
    let archive: URL
}

/// Why a download stopped before its end. What has arrived stays.
enum TransferStop: Error {
    /// Trouble with the network or a server: to be tried again.
    case network(retryAfter: Double?, madeProgress: Bool)
    /// No space is left.
    case space(missing: Int64)
    case failed(Tenure.AssetPackError)
}

/// Downloads one version of a pack and installs it.
struct PackTransfer: Sendable {
    enum Event: Sendable {
        case progress(bytes: Int64, total: Int64)
        case installing
    }

    let pack: ContentCatalog.Pack
    let version: ContentCatalog.Version
    let store: PackStore
    let transport: any Transport
    /// Seconds without a byte after which a connection counts as lost.
    let timeout: Double
    let allowsExpensiveNetwork: Bool
    let allowsConstrainedNetwork: Bool
    /// Gets links; new ones if an earlier one was refused.
    let links: @Sendable (_ isFresh: Bool) async throws -> PackLinks
    let freeSpace: @Sendable (String) -> Int64?
    let report: @Sendable (Event) -> Void

    /// Space that stays free for the system.
    private static let reserve: Int64 = 16 << 20
    private static let reportingStep: Int64 = 256 << 10

    func run() async throws {
        do {
            try await transferAndInstall()
        } catch DiskFailure.full {
            throw TransferStop.space(missing: Self.reserve)
        } catch let failure as DiskFailure {
            throw TransferStop.failed(.storage(failure.description))
        } catch is CorruptedContent {
            throw TransferStop.failed(.corrupted(pack.name))
        }
    }

    private func transferAndInstall() async throws {
        let folder = try store.prepareFolder(of: pack.name, isPurgeable: pack.isPurgeable)
        let manifest = try await manifest(in: folder)
        var known = PartialPack(version.manifest, manifest, in: folder)
        if known == nil {
            let reusable = ReusableFiles(store.names.compactMap { store.installed($0) })
            known = try PartialPack.begin(version.manifest, manifest, in: folder, reusing: reusable)
        }
        guard let partial = known else { return }
        let writer = PackWriter(partial)
        if try writer.finishInstallation() { return }
        repeat {
            try await fetch(into: writer, folder)
            report(.installing)
            try writer.makeEmptyFiles()
        } while try !writer.verify()
        try Task.checkCancellation()
        try writer.install()
    }

    private func manifest(in folder: String) async throws -> PackManifest {
        if let known = store.manifest(version.manifest, inFolder: folder) { return known }
        var text = Data()
        try await exchange(
            { links in
                var request = TransportRequest(links.manifest, timeout: timeout, bodyLimit: version.manifestSize)
                request.headers["Accept-Encoding"] = "identity"
                return request
            }, accept: { $0.status == 200 }, body: { text += $0 })
        guard ContentDigest(of: text) == version.manifest, let manifest = try? PackManifest(json: text),
            manifest.archiveSize == version.archiveSize
        else { throw TransferStop.failed(.corrupted(pack.name)) }
        try store.store(text, as: version.manifest, inFolder: folder)
        return manifest
    }

    private func fetch(into writer: PackWriter, _ folder: String) async throws {
        report(.progress(bytes: writer.partial.bytes, total: writer.partial.total))
        var received = 0
        while let range = writer.nextRange() {
            try Task.checkCancellation()
            if let free = freeSpace(folder), free < writer.partial.missingBytes + Self.reserve {
                throw TransferStop.space(missing: writer.partial.missingBytes + Self.reserve - free)
            }
            writer.begin(range)
            defer { writer.end() }
            let size = version.archiveSize
            var reported = writer.partial.bytes
            do {
                try await exchange(
                    { links in
                        var request = TransportRequest(
                            links.archive, timeout: timeout, bodyLimit: range.count)
                        request.ask(for: range)
                        return request
                    },
                    accept: { head in
                        head.status == 206
                            && head.header("Content-Range")
                                == "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
                    },
                    body: { piece in
                        try writer.write(piece)
                        received += piece.count
                        guard writer.partial.bytes - reported >= Self.reportingStep else { return }
                        reported = writer.partial.bytes
                        report(.progress(bytes: reported, total: writer.partial.total))
                    })
            } catch TransferStop.network(let retryAfter, _) {
                report(.progress(bytes: writer.partial.bytes, total: writer.partial.total))
                throw TransferStop.network(retryAfter: retryAfter, madeProgress: received > 0)
            }
            report(.progress(bytes: writer.partial.bytes, total: writer.partial.total))
        }
    }

    /// Sends a request. A link that is refused is replaced once.
    private func exchange(
        _ request: (PackLinks) -> TransportRequest, accept: @escaping @Sendable (TransportResponse) -> Bool,
        body: (Data) throws -> Void
    ) async throws {
        for isFresh in [false, true] {
            var request = request(try await links(isFresh))
            request.allowsExpensiveNetwork = allowsExpensiveNetwork
            request.allowsConstrainedNetwork = allowsConstrainedNetwork
            let head: TransportResponse
            do {
                head = try await transport.receive(request, accept: accept, body: body)
            } catch let failure as TransportFailure {
                if case .canceled = failure { throw CancellationError() }
                throw TransferStop.network(retryAfter: nil, madeProgress: false)
            }
            if accept(head) { return }
            guard [401, 403].contains(head.status) else {
                let seconds = head.header("Retry-After").flatMap { Double($0) }
                throw TransferStop.network(retryAfter: seconds.map { min(max($0, 0), 3600) }, madeProgress: false)
            }
        }
        throw TransferStop.failed(.refused(pack.name))
    }
}
