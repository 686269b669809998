import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import TenureAPI
import TenureContent
import TenureCore
import TenureStore

/// `GET` and `HEAD /v1/content/{digest}`: a manifest or an archive, by a link of `GET /v1/content`.
///
/// The customer's right is checked on each request, so a refund counts from the next one.
struct DownloadRoute: Sendable {
    /// Nil if the service delivers no content.
    let delivery: ContentDelivery?
    let verifiedRealms: AcceptedRealms
    let rights: ContentAccess
    let personas: ActivePersonas
    let now: @Sendable () -> Date
    let metrics: ServiceMetrics

    private static let nothing = Problem(.notFound, "nothing is at this path")

    @Sendable func respond(to request: Request, context: ServiceContext) async throws -> Response {
        guard let delivery, let digest = ContentDigest(context.parameters.get("digest") ?? "") else {
            throw Self.nothing
        }
        let (link, customer) = try await holder(of: request, digest, by: delivery)
        guard let file = try await ContentFile.open(digest, in: delivery.folder.path) else {
            throw Problem(.notFound, "this file isn't published any more; ask `GET /v1/content` for a new link")
        }
        let representation = ContentRepresentation(link.file, digest, size: file.size)
        switch representation.answer(to: request) {
        case .without(let response): return response
        case .bytes(let range, var response):
            // Only a body takes its time.
            guard request.method == .get else { return response }
            let slot: Downloads.Slot
            do throws(DownloadRejection) {
                slot = try delivery.downloads.begin(
                    for: .init(record: rights.store.databaseID, number: customer.id)
                ).get()
            } catch {
                metrics.rejectedDownload(error)
                throw error.problem
            }
            let download = Download(file, range, slot: slot, metrics: metrics)
            response.body = download.body(through: context.channel)
            return response
        }
    }

    /// The link in the request, and who may use it now.
    private func holder(
        of request: Request, _ digest: ContentDigest, by delivery: ContentDelivery
    ) async throws -> (ContentLink, Customer) {
        let invalid = Problem(.invalidLink, "the link is invalid or expired; ask `GET /v1/content` for a new one")
        let now = now()
        let tokens = request.uri.queryParameters.getAll("token")
        guard let token = tokens.first, tokens.count == 1, let link = delivery.linkKey.link(in: token.utf8),
            link.digest == digest, now < link.expiresAt, verifiedRealms.contain(link.realm),
            let customer = try await rights.store.lookUp(link.customer), customer.realm == link.realm
        else { throw invalid }
        let persona: Persona?
        do {
            persona = try await personas.persona(link.persona, in: link.realm, at: now)
        } catch let problem as Problem where problem.code == .notAuthenticated {
            throw invalid
        }
        // The newest catalog says what unlocks a pack. One that it dropped stays with those who began to download it.
        let unlock = delivery.folder.catalog?.catalog[link.pack]?.unlock ?? link.unlock
        guard try await rights.allowed([unlock], for: customer, as: persona, at: now).contains(unlock) else {
            throw Problem(.notEntitled, "the customer isn't entitled to this pack any more")
        }
        return (link, customer)
    }
}
