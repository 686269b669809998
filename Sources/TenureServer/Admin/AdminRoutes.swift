import Hummingbird
import TenureAppStore

extension TenureService {
    /// Adds the routes of the admin API, which people, command-line tools and the app's server use.
    ///
    /// - Parameter appStore: The client of the App Store Server API; nil if no key is configured.
    func addAdminRoutes(
        to router: Router<ServiceContext>, verifier: AppStoreVerifier, appStore: AppStoreClient?
    ) {
        let (now, bodySize) = (configuration.now, configuration.limits.bodySize)
        let realms = AcceptedRealms(configuration.anchors)
        let keys = AdminKeyCheck(store: store, configuredKey: configuration.adminKey, now: now)
        let customers = CustomerReader(store: store, policies: policies, realms: realms, now: now)
        let changes = CustomerChanges(customers: customers, derivation: Derivation(verifier: verifier))

        let search = SearchHandlers(keys: keys, customers: customers, verifier: verifier, bodySize: bodySize)
        router.get("v1/admin/customers", use: search.find)
        router.post("v1/admin/customers/find", use: search.findByArtifact)
        let orders = OrderHandler(keys: keys, store: store, appStore: appStore)
        router.get("v1/admin/orders/:order", use: orders.find)

        let customer = CustomerHandlers(keys: keys, customers: customers, changes: changes)
        router.get("v1/admin/customers/:id", use: customer.show)
        router.delete("v1/admin/customers/:id", use: customer.erase)
        router.get("v1/admin/customers/:id/timeline", use: customer.timeline)
        router.get("v1/admin/customers/:id/export", use: customer.export)
        let support = SupportHandlers(keys: keys, customers: customers, changes: changes, bodySize: bodySize)
        router.post("v1/admin/customers/:id/grants", use: support.grant)
        router.post("v1/admin/customers/:id/revocations", use: support.revoke)
        let links = LinkHandlers(
            keys: keys, customers: customers, changes: changes, accessTokenKey: accessTokenKey,
            transfer: configuration.transfer, bodySize: bodySize)
        router.post("v1/admin/customers/:id/links", use: links.link)
        router.delete("v1/admin/customers/:id/links/:user", use: links.unlink)
        router.post("v1/link", use: links.linkByServer)
        let merges = MergeHandlers(keys: keys, changes: changes, bodySize: bodySize)
        router.post("v1/admin/customers/:id/merges", use: merges.merge)
        router.delete("v1/admin/customers/:id/merges/:other", use: merges.unmerge)

        router.get("v1/admin/audit", use: AuditHandler(keys: keys, store: store).list)

        let personas = PersonaHandlers(
            keys: keys, personas: self.personas, policies: policies, bodySize: bodySize, now: now)
        router.get("v1/admin/personas", use: personas.list)
        router.post("v1/admin/personas", use: personas.create)
        router.post("v1/admin/personas/ready-made", use: personas.createReadyMade)
        router.delete("v1/admin/personas/:name", use: personas.revoke)

        let policy = PolicyHandlers(
            keys: keys,
            publisher: PolicyPublisher(
                store: store, policies: policies, bundleID: self.personas.bundleID, now: now),
            bodySize: bodySize)
        router.get("v1/admin/policies", use: policy.list)
        router.post("v1/admin/policies", use: policy.publish)
        router.get("v1/admin/policies/:version", use: policy.show)
        router.post("v1/admin/policies/rehearsals", use: policy.rehearse)
        router.get("v1/admin/policies/rehearsals/:id", use: policy.showRehearsal)
        router.post("v1/admin/policies/rollback", use: policy.rollBack)
    }
}
