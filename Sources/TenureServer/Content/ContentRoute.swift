import Foundation
import Hummingbird
import TenureAPI
import TenureContent
import TenureCore
import TenureStore

/// The routes that list and deliver asset packs: files that a purchase unlocks.
struct ContentRoute: Sendable {
    /// The content to deliver; nil if the service delivers no content.
    let delivery: ContentDelivery?
    let access: CustomerAccess
    let contentAccess: ContentAccess
    let personas: ActivePersonas
    let now: @Sendable () -> Date
    let metrics: ServiceMetrics

    static let path = "/v1/content"

    /// `GET /v1/content`: the signed catalog, and links to the packs that the customer may use.
    @Sendable func list(_ request: Request, context: ServiceContext) async throws -> Response {
        // Authenticate the request, and check that there is content.
        let now = now()
        let token = try access.token(of: request, now: now)
        guard let customer = try await contentAccess.store.lookUp(token.customer), customer.realm == token.realm else {
            throw Problem.accessTokenRefused
        }
        let persona = try await personas.persona(of: token, at: now)
        guard let delivery else {
            throw Problem(.notFound, "this service delivers no content; set `content.folder` in its configuration")
        }
        guard let signed = delivery.folder.catalog else {
            throw Problem(.notFound, "no content is published yet; publish it with `tenure content publish`")
        }
        // Make links to the packs that the customer may use: to the bucket, or to `download` of this route.
        let allowed = try await contentAccess.allowedUnlocks(
            Set(signed.catalog.packs.map(\.unlock)), for: customer, as: persona, at: now)
        // The expiry is in whole seconds, as in the links.
        let expiresAt = Date(timeIntervalSince1970: (now.timeIntervalSince1970 + delivery.linkLifetime).rounded(.down))
        var packs: [String: ContentResponse.Links] = [:]
        let bucket = delivery.s3?.presigner
        // Choose the version of each pack for the app's version in the request, or the newest version if the request
        // has none.
        let appVersion = request.uri.queryParameters["appVersion"].map { AppVersion(String($0)) }
        for pack in signed.catalog.packs where allowed.contains(pack.unlock) {
            let version = if let appVersion { pack.version(for: appVersion) } else { pack.versions.last }
            guard let version else { continue }
            func url(_ file: ContentLink.File, _ digest: ContentDigest) -> String {
                if let bucket { return bucket.url(of: digest, lifetime: delivery.linkLifetime, at: now) }
                let link = ContentLink(
                    file: file, digest: digest, pack: pack.name, unlock: pack.unlock, customer: token.customer,
                    realm: token.realm, persona: token.persona, expiresAt: expiresAt)
                return "\(context.pathPrefix)\(Self.path)/\(digest)?token=\(delivery.linkKey.token(of: link))"
            }
            packs[pack.name] = ContentResponse.Links(
                manifest: url(.manifest, version.manifest), archive: url(.archive, version.archive),
                expiresAt: expiresAt)
        }
        return .json(capacity: signed.text.utf8.count + 1024 * (1 + packs.count)) {
            $0.value(ContentResponse(catalog: signed.text, packs: packs))
        }
    }
}
