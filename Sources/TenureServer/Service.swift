import Foundation
import HTTPTypes
import Hummingbird
import Logging
import TenureAPI
import TenureAppStore
import TenureCore
import TenureStore

/// The wired parts of one running service.
struct TenureService: Sendable {
    let store: any Store
    let policies: PolicyBook
    let accessTokenKey: AccessTokenKey
    let certificateKey: CertificateKey
    /// Nil where nobody listens.
    let announcer: Announcer?
    let configuration: ServiceConfiguration

    init(_ configuration: ServiceConfiguration) async throws(ServiceError) {
        if let mistake = configuration.mistake { throw mistake }
        self.configuration = configuration
        do {
            store = try SQLiteStore(path: configuration.databasePath)
        } catch {
            throw ServiceError(error)
        }
        try await configuration.registerWebhooks(policy: PolicyBook.digest(of: configuration.policy), in: store)
        policies = try await PolicyBook(configuration.policy, in: store, at: configuration.now())
        announcer = configuration.webhooks.isEmpty ? nil : Announcer(policies, configuration.webhookTerms)
        certificateKey = try CertificateKey(folder: configuration.folderOfKeys)
        accessTokenKey = try AccessTokenKey(folder: configuration.folderOfKeys, recordID: store.recordID)
    }

    func router() throws(ServiceError) -> Router<ServiceContext> {
        let trust: TrustConfiguration
        do {
            trust = try TrustConfiguration(anchors: configuration.anchors)
        } catch {
            throw .noEnvironment
        }
        let sync = SyncService(
            verifier: AppStoreVerifier(app: configuration.app, trust: trust), store: store, policies: policies,
            certificateKey: certificateKey, accessTokenKey: accessTokenKey, terms: configuration.terms,
            bundleID: configuration.policy.app.bundleID, announcer: announcer)
        let syncRoute = SyncRoute(service: sync, limits: configuration.limits, now: configuration.now)
        let customerRoute = CustomerRoute(
            store: store, policies: policies, accessTokenKey: accessTokenKey,
            verifiedRealms: AcceptedRealms(configuration.anchors), now: configuration.now)
        let keys = certificateKey.jsonWebKeySet
        let health = HealthRoutes(store: store)

        let router = Router(context: ServiceContext.self)
        router.add(middleware: ProblemMiddleware())
        router.post("v1/sync", use: syncRoute.respond)
        router.get("v1/customer", use: customerRoute.respond)
        router.get("v1/keys") { _, _ in Response.json(keys) }
        router.get("health/live", use: health.live)
        router.get("health/ready", use: health.ready)
        return router
    }
}
