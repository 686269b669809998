import HTTPTypes
import Hummingbird
import TenureAppStore

extension TenureService {
    /// Adds the routes of the admin API, which people, command-line tools and the app's server use. A route's handler
    /// is called only if the request has an admin key with the right of the route.
    ///
    /// - Parameter appStore: The client of the App Store Server API; nil if no key is configured.
    func addAdminRoutes(to router: Router<ServiceContext>, verifier: AppStoreVerifier, appStore: AppStoreClient?) {
        let (now, bodySize) = (configuration.now, configuration.limits.bodySize)
        // A realm is the environment or test authority that signed a customer's artifacts.
        let realms = AcceptedRealms(configuration.anchors)
        let keys = AdminKeyCheck(store: store, configuredKey: AdminKey(configuration.adminKey), now: now)
        let search = SearchHandlers(store: store, realms: realms, verifier: verifier, appStore: appStore, now: now)
        let reader = CustomerReader(store: store, policies: policies, realms: realms, now: now)
        let customer = CustomerHandlers(customers: reader)
        let changes = ChangeHandlers(
            customers: reader, verifier: verifier, accessTokenKey: accessTokenKey, transfer: configuration.transfer)
        let audit = AuditHandler(store: store)
        let persona = PersonaHandlers(store: store, policies: policies, personas: personas, now: now)
        let publisher = PolicyPublisher(store: store, policies: policies, bundleID: personas.bundleID, now: now)
        let policy = PolicyHandlers(store: store, policies: policies, publisher: publisher)

        /// Adds a route for requests with this right.
        func on(
            _ method: HTTPRequest.Method, _ path: RouterPath, _ right: AdminRight,
            _ handler: @escaping @Sendable (AdminCall) async throws -> Response
        ) {
            router.on(path, method: method) { request, context -> Response in
                let actor = try await keys.keyName(of: request, context, needing: right)
                return try await handler(
                    AdminCall(request: request, context: context, bodySize: bodySize, actor: actor))
            }
        }
        /// Adds a route about the customer with the public ID `:id`, which the handler gets too.
        func onCustomer(
            _ method: HTTPRequest.Method, _ path: RouterPath, _ right: AdminRight,
            _ handler: @escaping @Sendable (AdminCall, _ id: String) async throws -> Response
        ) {
            router.on(path, method: method) { request, context -> Response in
                let id = try context.pathID()
                let actor = try await keys.keyName(of: request, context, needing: right, on: id)
                return try await handler(
                    AdminCall(request: request, context: context, bodySize: bodySize, actor: actor), id)
            }
        }

        on(.get, "v1/admin/customers", .read, search.find)
        on(.post, "v1/admin/customers/find", .read, search.findByArtifact)
        on(.get, "v1/admin/orders/:order", .read, search.findByOrder)

        onCustomer(.get, "v1/admin/customers/:id", .read, customer.show)
        onCustomer(.get, "v1/admin/customers/:id/timeline", .read, customer.timeline)
        onCustomer(.get, "v1/admin/customers/:id/export", .export, customer.export)
        onCustomer(.delete, "v1/admin/customers/:id", .erase, changes.erase)
        onCustomer(.post, "v1/admin/customers/:id/grants", .support, changes.grant)
        onCustomer(.post, "v1/admin/customers/:id/revocations", .support, changes.revoke)
        onCustomer(.post, "v1/admin/customers/:id/links", .link, changes.link)
        onCustomer(.delete, "v1/admin/customers/:id/links/:user", .link, changes.unlink)
        onCustomer(.post, "v1/admin/customers/:id/merges", .merge, changes.merge)
        onCustomer(.delete, "v1/admin/customers/:id/merges/:other", .merge, changes.unmerge)
        on(.post, "v1/link", .link, changes.linkByServer)

        on(.get, "v1/admin/audit", .audit, audit.list)

        // Personas are test customers for sandbox builds.
        on(.get, "v1/admin/personas", .persona, persona.list)
        on(.post, "v1/admin/personas", .persona, persona.create)
        on(.post, "v1/admin/personas/ready-made", .persona, persona.createReadyMade)
        on(.delete, "v1/admin/personas/:name", .persona, persona.revoke)

        // A rehearsal is a dry run of a new policy over all customers.
        on(.get, "v1/admin/policies", .policies, policy.list)
        on(.post, "v1/admin/policies", .publish, policy.publish)
        on(.get, "v1/admin/policies/:version", .policies, policy.show)
        on(.post, "v1/admin/policies/rehearsals", .policies, policy.rehearse)
        on(.get, "v1/admin/policies/rehearsals/:id", .policies, policy.showRehearsal)
        on(.post, "v1/admin/policies/rollback", .publish, policy.rollBack)
    }
}
