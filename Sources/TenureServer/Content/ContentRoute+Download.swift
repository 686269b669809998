import Hummingbird
import TenureAPI
import TenureContent
import TenureCore
import TenureStore

extension ContentRoute {
    /// `GET` and `HEAD /v1/content/{digest}`: sends the manifest (list of files) or the archive of an asset pack. The
    /// client needs a link from `GET /v1/content`.
    ///
    /// Each request checks whether the customer may still use the pack, so a refund takes effect with the next request.
    @Sendable func download(_ request: Request, context: ServiceContext) async throws -> Response {
        guard let delivery, let digest = ContentDigest(context.parameters.get("digest") ?? "") else {
            throw Problem(.notFound, "there is nothing at this path; check the path")
        }
        let (link, customer) = try await linkAndCustomer(of: request, digest, by: delivery)
        guard let file = try await ContentFile.open(digest, in: delivery.folder.path) else {
            throw Problem(.notFound, "this file isn't published anymore; get a new link from `GET /v1/content`")
        }
        let representation = ContentRepresentation(file: link.file, digest: digest, size: file.size)
        let answer = representation.answer(to: request)
        // The response to HEAD has no body, so it isn't counted as a download.
        guard let range = answer.bytes, request.method == .get else { return answer.response }
        let slot = try delivery.downloads.begin(
            for: .init(databaseID: contentAccess.store.databaseID, number: customer.id), metrics)
        var response = answer.response
        let download = Download(file: file, range: range, slot: slot, metrics: metrics)
        response.body = download.body(through: context.channel)
        return response
    }

    /// Returns the link in the request and its customer, after checking that the customer may use the link now.
    private func linkAndCustomer(
        of request: Request, _ digest: ContentDigest, by delivery: ContentDelivery
    ) async throws -> (ContentLink, Customer) {
        let invalid = Problem(.invalidLink, "the link is invalid or expired; get a new one from `GET /v1/content`")
        let now = now()
        let tokens = request.uri.queryParameters.getAll("token")
        guard let token = tokens.first, tokens.count == 1, let link = delivery.linkKey.link(in: token.utf8),
            link.digest == digest, now < link.expiresAt, access.acceptedRealms.contains(link.realm),
            let customer = try await contentAccess.store.lookUp(link.customer), customer.realm == link.realm
        else { throw invalid }
        let persona: Persona?
        do {
            persona = try await personas.persona(link.persona, in: link.realm, at: now)
        } catch let problem as Problem where problem.code == .notAuthenticated {
            throw invalid
        }
        // The newest catalog decides what unlocks a pack. If that catalog has dropped the pack, the link decides, so
        // that customers can complete a download.
        let unlock = delivery.folder.catalog?.catalog[link.pack]?.unlock ?? link.unlock
        guard try await contentAccess.allowedUnlocks([unlock], for: customer, as: persona, at: now).contains(unlock)
        else { throw Problem(.notEntitled, "the customer isn't entitled to this pack anymore; sync to see why") }
        return (link, customer)
    }
}
