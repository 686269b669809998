import Foundation
import Hummingbird
import Logging
import TenureAppStore
import TenureCore
import TenureStore

/// The parts of the service for one app, and how they are connected: keys, policy, database, routes and jobs.
struct TenureService: Sendable {
    let store: Store
    let policies: ActivePolicy
    let accessTokenKey: AccessTokenKey
    let signingKeys: SigningKeys
    let keyAgreement: KeyAgreement
    /// Compares entitlements before and after a change, to find the messages for webhooks; nil if there are no
    /// webhooks.
    let entitlementComparer: EntitlementComparer?
    /// The asset packs and the download links to their files; nil if the service delivers no content.
    let content: ContentDelivery?
    let configuration: ServiceConfiguration
    let metrics: ServiceMetrics
    /// The transport for the App Store; connections are opened by the first call.
    let http = HTTPTransport()
    /// The transport that the service uses: `http`, or the replacement of a test.
    private let transport: AppStoreTransport

    /// Creates the service on an open database, or on the SQLite file in the configuration. Throws if the configuration
    /// has a mistake, or if the database, a key or the policy can't be used.
    ///
    /// - Parameters:
    ///   - transport: Sends requests to the App Store; nil for `HTTPTransport`.
    ///   - downloads: Counts the downloads of several apps together; nil to count the downloads of this service alone.
    ///   - registeringWebhooks: Whether to store the configured webhooks in the database, so that changes queue
    ///     messages for them.
    init(
        _ configuration: ServiceConfiguration, store: Store? = nil, appStore transport: AppStoreTransport? = nil,
        downloads: Downloads? = nil, metrics: ServiceMetrics = ServiceMetrics(), registeringWebhooks: Bool = true
    ) async throws(ServiceError) {
        if let error = ServiceError(configuration.mistakes) { throw error }
        self.configuration = configuration
        self.metrics = metrics
        self.transport = transport ?? http.transport
        let openStore = if let store { store } else { try Self.openStore(configuration) }
        self.store = openStore
        if registeringWebhooks { try await configuration.registerWebhooks(in: openStore) }
        policies = try await ActivePolicy(
            configuration.policy, in: openStore, at: configuration.now(), staleness: configuration.policyStaleness)
        let notice = TimeInterval(configuration.webhookSettings.expiringDays) * 86_400
        entitlementComparer =
            configuration.webhooks.isEmpty ? nil : EntitlementComparer(policies: policies, notice: notice)
        (signingKeys, accessTokenKey, keyAgreement) = try await KeyAgreement.keys(
            in: configuration.folderOfKeys, openStore, tokenLife: configuration.tokenLifetimes.entitlementToken,
            staleness: configuration.signingKeyStaleness, at: configuration.now())
        content = try ContentDelivery(
            configuration, databaseID: openStore.databaseID, downloads: downloads ?? configuration.downloads)
    }

    /// Opens the SQLite file in the configuration.
    static func openStore(_ configuration: ServiceConfiguration) throws(ServiceError) -> Store {
        if let finding = configuration.findingOfDatabase { throw finding }
        do {
            let opening = DatabaseOpening(bundleID: configuration.policy.app.bundleID)
            return Store(try SQLiteDatabase(path: configuration.databasePath, opening))
        } catch {
            throw ServiceError(error)
        }
    }

    /// Creates the service that answers syncs.
    func syncService() throws(ServiceError) -> SyncService {
        try SyncService(
            configuration, store: store, policies: policies, signingKeys: signingKeys, accessTokenKey: accessTokenKey,
            entitlementComparer: entitlementComparer, personas: personas)
    }

    /// Finds the personas (test customers) that syncs and access tokens contain.
    var personas: ActivePersonas {
        ActivePersonas(store: store, keys: signingKeys, bundleID: configuration.policy.app.bundleID)
    }

    private func notificationService(verifier: AppStoreVerifier) -> NotificationService {
        NotificationService(
            verifier: verifier, store: store, policies: policies, entitlementComparer: entitlementComparer,
            metrics: metrics)
    }

    /// Makes the jobs that fetch histories and missed notifications from the App Store; nil if there is no key for the
    /// App Store Server API.
    func appStoreJobs(logger: Logger) throws(ServiceError) -> AppStoreJobs? {
        guard let client = try appStoreClient(logger: logger) else { return nil }
        let histories = HistoryBackfill(client: client, store: store, policies: policies, now: configuration.now)
        let notifications = MissedNotifications(
            client: client, store: store, notifications: notificationService(verifier: client.verifier), logger: logger,
            now: configuration.now)
        return (histories.runner(idle: configuration.appStoreIdle, logger: logger), notifications)
    }

    /// Makes the client of the App Store Server API; nil if there is no key for that API.
    private func appStoreClient(logger: Logger) throws(ServiceError) -> AppStoreClient? {
        guard let settings = configuration.appStore else { return nil }
        var time = AppStoreTime.system
        time.now = configuration.now
        return try AppStoreClient(
            settings, verifier: try configuration.verifier(), transport: transport, time: time,
            share: configuration.appStoreRateShare, logger: logger)
    }

    /// Returns the source of what `/metrics` reports about this app.
    ///
    /// - Parameter app: The label of the app's metrics; nil in a service with one app, which needs none.
    func metricsSource(of app: String?) -> MetricsSource {
        MetricsSource(
            app: app, metrics: metrics, store: store, database: configuration.databaseFile, signingKeys: signingKeys,
            webhooks: configuration.webhooks.map(\.name),
            environments: configuration.appStore.map { _ in Array(configuration.anchors.keys) })
    }

    /// Creates all routes of one app, with their handlers and middleware.
    func router() throws(ServiceError) -> Router<ServiceContext> {
        // The handlers.
        let now = configuration.now
        let sync = try syncService()
        let syncRoute = SyncRoute(service: sync, limits: configuration.limits, now: now, metrics: metrics)
        let access = CustomerAccess(
            accessTokenKey: accessTokenKey, acceptedRealms: AcceptedRealms(configuration.anchors))
        let customerRoute = CustomerRoute(
            store: store, policies: policies, access: access, personas: personas, now: now, metrics: metrics,
            lookUp: store.database.lookUpNow)
        let notifications = NotificationRoute(service: notificationService(verifier: sync.verifier), now: now)
        let trials = TrialRoute(store: store, policies: policies, access: access, personas: personas, now: now)
        let content = ContentRoute(
            delivery: content, access: access, contentAccess: ContentAccess(store: store, policies: policies),
            personas: personas, now: now, metrics: metrics)
        let health = HealthRoutes(store: store)
        let metricsRoute = MetricsRoute(
            sources: [metricsSource(of: nil)], access: configuration.metrics,
            adminKey: AdminKey(configuration.adminKey), now: now)
        let description = try OpenAPIDocument.json()

        let router = configuration.emptyRouter(metrics)
        router.post("v1/sync", use: syncRoute.respond)
        router.get("v1/customer", use: customerRoute.respond)
        router.get("v1/products", use: ProductsRoute(policies: policies).respond)
        router.get("v1/content", use: content.list)
        router.get("v1/content/:digest", use: content.download)
        router.post("v1/trials/:entitlement/sessions", use: trials.respond)
        router.post(NotificationRoute.path, use: notifications.respond)
        router.get(SigningKeysRoute.path, use: SigningKeysRoute(keys: signingKeys, now: now).respond)
        router.get("v1/openapi.json") { _, _ in Response.json(description) }
        router.get("metrics", use: metricsRoute.respond)
        // If a call of the admin API to the App Store fails, the response of the admin API says why. So the log doesn't
        // have to.
        let silent = Logger(label: "tenure") { _ in SwiftLogNoOpLogHandler() }
        addAdminRoutes(to: router, verifier: sync.verifier, appStore: try appStoreClient(logger: silent))
        // Only a service with several apps has these routes. In a service with one app, the response is an error that
        // says so.
        router.get(AppsHandlers.listPath, use: AppsHandlers.refuse)
        router.post(AppsHandlers.reloadPath, use: AppsHandlers.refuse)
        router.get(HealthRoutes.livePath, use: health.live)
        router.get(HealthRoutes.readyPath, use: health.ready)
        return router
    }
}

extension ServiceConfiguration {
    /// Returns a router without routes, with the middlewares that every request passes.
    func emptyRouter(
        _ metrics: ServiceMetrics, _ problems: ProblemMiddleware = ProblemMiddleware()
    ) -> Router<ServiceContext> {
        let router = Router<ServiceContext>.empty
        router.add(middleware: AccessMiddleware(proxies: proxies, metrics: metrics, bodies: bodies))
        router.add(middleware: problems)
        router.add(middleware: RateLimitMiddleware(self))
        router.add(middleware: PathSpelling())
        router.add(middleware: QueryCheck())
        return router
    }
}

/// The jobs that use the App Store Server API: one fetches the purchase history of each new customer, and one fetches
/// the notifications that the service missed.
typealias AppStoreJobs = (histories: JobRunner<StoredJob>, notifications: MissedNotifications)
