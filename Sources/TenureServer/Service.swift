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
    let configuration: ServiceConfiguration

    init(_ configuration: ServiceConfiguration) async throws(ServiceError) {
        if let mistake = configuration.mistake { throw mistake }
        self.configuration = configuration
        do {
            store = try SQLiteStore(path: configuration.databasePath)
        } catch {
            throw ServiceError(error)
        }
        policies = try await PolicyBook(configuration.policy, in: store, at: configuration.now())
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
        let verifier = AppStoreVerifier(app: configuration.app, trust: trust)
        let sync = SyncService(
            verifier: verifier, store: store, policies: policies,
            certificateKey: certificateKey, accessTokenKey: accessTokenKey, terms: configuration.terms,
            bundleID: configuration.policy.app.bundleID, deviceLimit: configuration.deviceLimit)
        let syncRoute = SyncRoute(service: sync, limits: configuration.limits, now: configuration.now)
        let access = CustomerAccess(
            accessTokenKey: accessTokenKey, verifiedRealms: AcceptedRealms(configuration.anchors))
        let customerRoute = CustomerRoute(store: store, policies: policies, access: access, now: configuration.now)
        let notifications = NotificationRoute(
            service: NotificationService(verifier: verifier, store: store, policies: policies), now: configuration.now)
        let trials = TrialRoute(store: store, policies: policies, access: access, now: configuration.now)
        let products = ProductsRoute(policies: policies)
        let keys = certificateKey.jsonWebKeySet
        let health = HealthRoutes(store: store)

        let router = Router(context: ServiceContext.self)
        router.add(middleware: ProblemMiddleware())
        router.post("v1/sync", use: syncRoute.respond)
        router.get("v1/customer", use: customerRoute.respond)
        router.get("v1/products", use: products.respond)
        router.post("v1/trials/:entitlement/sessions", use: trials.respond)
        router.post("v1/notifications/apple", use: notifications.respond)
        router.get("v1/keys") { _, _ in Response.json(keys) }
        router.get("health/live", use: health.live)
        router.get("health/ready", use: health.ready)
        return router
    }
}
