import Foundation
import TenureAPI
import TenureContent
import TenureCore
import TenureHTTP

/// The service, which gives links to the packs that the customer may use.
final class ServiceContent: LinkedContentSource {
    let identifier = "service"
    let http: HTTPContent
    private let engine: Engine
    private let appVersion: AppVersion?
    /// Where links are stored: a download that began with a version that was replaced since goes on with its link.
    private let file: String
    /// By the digest of the file.
    private let links: Locked<[String: URL]>

    init(_ engine: Engine, _ http: HTTPContent, appVersion: AppVersion?, folder: URL) {
        self.engine = engine
        self.http = http
        self.appVersion = appVersion
        file = folder.path + "/links.json"
        let stored = Disk.contents(of: file, most: Self.largestFile)
        links = Locked(stored.flatMap { try? JSONDecoder().decode([String: URL].self, from: $0) } ?? [:])
    }

    private static let largestFile = 1 << 20
    /// 100 packs have 200 links.
    private static let mostLinks = 400

    func list() async throws -> [Tenure.ContentListing] {
        do {
            return [.catalog(Data(try await ask().catalog.utf8))]
        } catch ServiceFailure.refused(let problem, _) where problem.code == .notFound {
            throw Tenure.ContentSourceError.missing
        }
    }

    func remove(_ pack: String) {}

    /// Gets a link, and a new one if the service refused the last.
    func link(to request: Tenure.ContentRequest) async throws -> URL {
        if request.wasRefused { links.withLock { $0[request.digest] = nil } }
        if let known = link(to: request.digest) { return known }
        var answer = try await answer()
        if let new = link(to: request.digest) { return new }
        // The service may not know the newest purchase, and this device not the newest refund.
        guard await engine.asksService() else { throw Tenure.ContentSourceError.unavailable() }
        answer = try await self.answer()
        if let new = link(to: request.digest) { return new }
        guard answer.packs[request.pack] == nil else { throw Tenure.ContentSourceError.missing }
        // Not `refused`: the right was just checked, and checking it again would change nothing.
        throw TransferStop.failed(.refused(request.pack))
    }

    private func link(to digest: String) -> URL? { links.withLock { $0[digest] } }

    private func answer() async throws -> ContentResponse {
        do {
            return try await ask()
        } catch ServiceFailure.refused(_, let seconds) {
            throw Tenure.ContentSourceError.unavailable(retryAfter: seconds)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw Tenure.ContentSourceError.unavailable()
        }
    }

    private func ask() async throws -> ContentResponse {
        let answer = try await engine.content(appVersion: appVersion)
        guard let service = engine.setup.service else { return answer }
        let new = answer.packs.values.flatMap { [$0.manifest, $0.archive] }.compactMap { service.resolve($0) }
        let all = links.withLock { links in
            if links.count > Self.mostLinks { links = [:] }
            // A file's name is its digest, wherever it is.
            for link in new where ContentDigest(link.lastPathComponent) != nil { links[link.lastPathComponent] = link }
            return links
        }
        // Without it, a later start asks for new links.
        if let data = try? JSONEncoder().encode(all) { try? Disk.replace(file, with: data, isLasting: false) }
        return answer
    }
}
