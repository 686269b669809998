import Hummingbird
import Logging
import ServiceLifecycle
import TenureStore

/// Puts together what runs as long as the process: the server, and the services beside it.
extension TenureService {
    /// Returns the application of a service with one app: the server and the other services that run as long as the
    /// process.
    ///
    /// - Parameter router: The routes; nil for the routes of `router()`.
    func application(
        logger: Logger, router: Router<ServiceContext>? = nil,
        onServerRunning: @escaping @Sendable (_ port: Int) async -> Void
    ) throws(ServiceError) -> Application<RouterResponder<ServiceContext>> {
        let routes = if let router { router } else { try self.router() }
        let certificate = try configuration.serverCertificate()
        let reloading = SecretReloading(certificate: certificate, bucket: content?.s3, metrics: metrics, logger: logger)
        let services = databaseServices(logger: logger) + (try configuredServices(logger: logger)) + [reloading]
        return try configuration.application(
            routes.responder(), metrics, certificate, services: services, logger: logger,
            onServerRunning: onServerRunning)
    }

    /// The services that run as long as the database is open, in addition to the server. Services end in reverse order,
    /// so the database closes last.
    func databaseServices(logger: Logger) -> [any Service] {
        let watch = DatabaseWatch(store: store, logger: logger)
        return [
            DatabaseClosing(store: store, metrics: metrics, watch: watch, logger: logger),
            watch,
            LeftoverRemoval(store: store, now: configuration.now, logger: logger),
            LogClearing(store: store),
        ]
    }

    /// Returns the services that depend on the configuration: webhooks, content, signing keys and the App Store. Logs
    /// warnings about the configuration.
    func configuredServices(logger: Logger) throws(ServiceError) -> [any Service] {
        logWarnings(logger)
        var services: [any Service] = [
            EndpointRegistry(configuration: configuration, store: store, logger: logger),
            SigningKeyWatch(keys: signingKeys, agreement: keyAgreement, now: configuration.now, logger: logger),
        ]
        if let content { services.append(ContentWatch(folder: content.folder, logger: logger)) }
        if let webhooks = try configuration.webhookServices(
            entitlementComparer, store: store, metrics: metrics, logger: logger)
        {
            services += [webhooks.entitlementChanges, webhooks.deliveries]
        }
        // Services end in reverse order, so the transport ends after the jobs that send requests through it.
        if let jobs = try appStoreJobs(logger: logger) { services += [http, jobs.histories, jobs.notifications] }
        return services
    }

    /// Warns if the policy file isn't the policy in effect, and if there is a copy of a database file that was
    /// replaced.
    private func logWarnings(_ logger: Logger) {
        if let database = configuration.databaseFile, let copy = SQLiteDatabase.savedCopy(of: database) {
            logger.warning(
                """
                `\(copy)` was saved when the database's file was replaced; restore it with `tenure database restore`, or \
                remove it if you don't need it
                """)
        }
        let inEffect = policies.inEffect
        guard ActivePolicy.digest(of: configuration.policy) != inEffect.sha256 else { return }
        logger.warning(
            """
            the policy file isn't the policy in effect; publish it with `tenure policy publish`, or replace it with the \
            output of `tenure policy show \(inEffect.version)`
            """, metadata: ["version": "\(inEffect.version)"])
    }
}
