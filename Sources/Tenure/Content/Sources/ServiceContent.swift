import Foundation
import TenureAPI
import TenureContent
import TenureCore

/// Delivers asset packs through links (URLs that expire) from the Tenure service. The service gives links only to packs
/// that the customer may use.
final class ServiceContent: LinkedContentSource {
    let identifier = "service"
    let http: HTTPContent
    private let engine: Engine
    private let appVersion: AppVersion?
    /// The path of the file in which links are stored. A download of an older version continues with its stored link,
    /// because the service gives links only to versions in its current catalog.
    private let file: String
    /// The links by the digests of their files.
    private let links: Locked<[String: URL]>

    init(_ engine: Engine, _ http: HTTPContent, appVersion: AppVersion?, folder: URL) {
        self.engine = engine
        self.http = http
        self.appVersion = appVersion
        file = folder.path + "/links.json"
        links = Locked(Disk.decoded([String: URL].self, at: file, maximumSize: Self.maximumFileSize) ?? [:])
    }

    private static let maximumFileSize = 1 << 20
    /// If more links than this are stored, all of them are dropped before new links are added. This limits the size of
    /// the file. Versions that are no longer in the catalog then have no link. A catalog of 100 packs has 200 links:
    /// each version has a manifest and an archive.
    private static let linkCleanupThreshold = 400

    func list() async throws -> [Tenure.ContentListing] {
        do {
            return [.catalog(Data(try await requestLinks().catalog.utf8))]
        } catch ServiceFailure.refused(let problem, _) where problem.code == .notFound {
            throw Tenure.ContentSourceError.missing
        }
    }

    /// Returns the link of a file. Requests a new link if the server rejected the last link.
    func link(to request: Tenure.ContentRequest) async throws -> URL {
        if request.wasRefused { links.withLock { $0[request.digest] = nil } }
        if let stored = link(to: request.digest) { return stored }
        _ = try await requestLinksAsSource()
        if let new = link(to: request.digest) { return new }
        // The service may not know the newest purchase, and this device may not know the newest refund. So read the App
        // Store, send what is new to the service, and request the links again.
        guard await engine.syncAgain() else { throw Tenure.ContentSourceError.unavailable() }
        let answer = try await requestLinksAsSource()
        if let new = link(to: request.digest) { return new }
        guard answer.packs[request.pack] == nil else { throw Tenure.ContentSourceError.missing }
        // Don't throw `refused`: that would make the library check the customer's right, which was just checked.
        throw TransferStop.failed(.refused(request.pack))
    }

    private func link(to digest: String) -> URL? { links.withLock { $0[digest] } }

    /// Like `requestLinks`, but throws the errors of a content source.
    private func requestLinksAsSource() async throws -> ContentResponse {
        do {
            return try await requestLinks()
        } catch ServiceFailure.refused(_, let seconds) {
            throw Tenure.ContentSourceError.unavailable(retryAfter: seconds)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw Tenure.ContentSourceError.unavailable()
        }
    }

    /// Asks the service for the catalog and the links, and stores the links.
    private func requestLinks() async throws -> ContentResponse {
        let answer = try await engine.content(appVersion: appVersion)
        guard let service = engine.setup.service else { return answer }
        let new = answer.packs.values.flatMap { [$0.manifest, $0.archive] }.compactMap { service.resolve($0) }
        let all = links.withLock { links in
            if links.count > Self.linkCleanupThreshold { links = [:] }
            // The last part of a link is the file's digest.
            for link in new where ContentDigest(link.lastPathComponent) != nil { links[link.lastPathComponent] = link }
            return links
        }
        // If the links can't be stored, the next start requests new links.
        if let data = try? JSONEncoder().encode(all) { try? Disk.replace(file, with: data, isLasting: false) }
        return answer
    }
}
