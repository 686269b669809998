import Foundation
import Hummingbird
import TenureAPI
import TenureContent
import TenureCore
import TenureJSON
import TenureStore

/// The routes that deliver asset packs.
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
        // Make links to the packs that the customer may use: to the bucket, or to the download route of this service.
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

/// The parts that deliver the content of one app: its catalog, download links and the downloads in progress.
struct ContentDelivery: Sendable {
    let folder: ContentFolder
    let linkKey: ContentLinkKey
    /// Makes links to the bucket with the files; nil if the service sends the files itself.
    let s3: S3Links?
    /// How long a download link works, in seconds.
    let linkLifetime: TimeInterval
    let downloads: Downloads

    /// Creates the parts; nil if no content is configured.
    ///
    /// - Parameter databaseID: The ID of the app's database. Download links are valid only for this database.
    init?(_ configuration: ServiceConfiguration, databaseID: [UInt8], downloads: Downloads) throws(ServiceError) {
        guard let settings = configuration.content else { return nil }
        folder = ContentFolder(
            path: settings.folder, bundleID: configuration.policy.app.bundleID,
            staleness: configuration.contentStaleness)
        linkKey = try ContentLinkKey(folder: configuration.folderOfKeys, databaseID: databaseID)
        s3 = try settings.s3.map { settings throws(ServiceError) in try S3Links(settings) }
        linkLifetime = settings.linkLifetime
        self.downloads = downloads
    }
}

/// Decides which asset packs (files that a purchase unlocks) a customer may download. The rules are those of the
/// client's `Tenure.allows`, as far as the service has the same data as the app.
struct ContentAccess: Sendable {
    let store: Store
    let policies: ActivePolicy

    /// Returns which of these entitlements and products the customer has. A running trial session of an entitlement
    /// counts. A decision that is undetermined for lack of artifacts counts too, while the policy's `whileUndetermined`
    /// allows it.
    ///
    /// An unbound customer has nothing: their artifacts came without proof that they belong to the sender, so they may
    /// be another person's.
    ///
    /// - Parameter persona: The test customer that replaces this customer in decisions; nil if there is no persona.
    func allowedUnlocks(
        _ unlocks: Set<ContentCatalog.Unlock>, for customer: Customer, as persona: Persona?, at now: Date
    ) async throws -> Set<ContentCatalog.Unlock> {
        guard !customer.facts.isUnbound, !unlocks.isEmpty else { return [] }
        return try await policies.upToDate {
            let policy = policies.current
            let evidence = customer.evidence(as: persona)
            var outcomes: [ContentCatalog.Unlock: Decision.Outcome] = [:]
            for decision in try policies.decide(customer.facts, evidence, at: now) {
                outcomes[.entitlement(decision.entitlement)] = decision.outcome
            }
            for case .product(let id) in unlocks {
                outcomes[.product(id)] = Self.outcome(ofProduct: id, evidence, under: policy, at: now)
            }
            // Whether undetermined decisions unlock packs now. Further packs may be unlocked by a trial.
            let hasGrace = policy.allowsUndetermined(since: customer.createdAt, at: now)
            var allowed = unlocks.filter { unlock in
                outcomes[unlock] == .granted || (hasGrace && outcomes[unlock] == .undetermined)
            }
            let unlocksWithTrial = unlocks.subtracting(allowed).filter { policy.trial(of: $0) != nil }
            guard !unlocksWithTrial.isEmpty else { return allowed }
            let begun = try await store.read { try $0.begunSessions(of: customer.id) }
            for unlock in unlocksWithTrial {
                guard case .entitlement(let name) = unlock, let sessions = begun[name] else { continue }
                if policy.trial(of: unlock)?.isOpen(sessions, at: now) == true { allowed.insert(unlock) }
            }
            return allowed
        }
    }

    /// Decides whether the customer has bought a product: whether they would have an entitlement that only this product
    /// grants.
    private static func outcome(
        ofProduct id: String, _ evidence: Evidence, under policy: Policy, at now: Date
    ) -> Decision.Outcome? {
        // The policy's entry for the product may say how long a non-renewing purchase of it is valid.
        let product = policy.entitlements.lazy.flatMap(\.products).first { $0.id == id } ?? .init(id: id)
        let entitlement = Entitlement(name: "product:\(id)", products: [product])
        let policyOfProduct = try? Policy(
            app: policy.app, eras: policy.eras, buildNumbers: policy.buildNumbers, releases: policy.releases,
            entitlements: [entitlement], inDoubt: policy.inDoubt, testEnvironments: policy.testEnvironments)
        return policyOfProduct.flatMap { decide(evidence, under: $0, at: now).first?.outcome }
    }
}

extension Policy {
    /// Whether an undetermined decision unlocks packs now. The policy's `whileUndetermined` may allow that for some
    /// time after the service first saw the customer.
    fileprivate func allowsUndetermined(since firstSeen: Date, at now: Date) -> Bool {
        guard case .allow(let seconds) = whileUndetermined else { return false }
        return now < firstSeen.addingTimeInterval(seconds)
    }

    /// The trial of the entitlement that unlocks a pack; nil if there is no such trial.
    fileprivate func trial(of unlock: ContentCatalog.Unlock) -> Trial? {
        guard case .entitlement(let name) = unlock else { return nil }
        return entitlement(named: name)?.trial
    }
}

extension Trial {
    /// Whether the trial is running: the latest session, or the days since the first session, aren't over.
    fileprivate func isOpen(_ sessions: BegunSessions, at now: Date) -> Bool {
        switch self {
        case .sessions: now < sessions.latest.addingTimeInterval(Trial.maximumSessionDuration)
        case .days(let count): now < sessions.first.addingTimeInterval(Double(count) * 86_400)
        }
    }
}
