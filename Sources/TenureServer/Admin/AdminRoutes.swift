import Foundation
import HTTPTypes
import Hummingbird
import TenureAPI
import TenureAppStore
import TenureStore

extension TenureService {
    /// Adds the routes of the admin API, which people, command-line tools and the app's server use. A route's handler is
    /// called only if the request has an admin key with the right of the route.
    ///
    /// - Parameter appStore: The client of the App Store Server API; nil if no key is configured.
    func addAdminRoutes(to router: Router<ServiceContext>, verifier: AppStoreVerifier, appStore: AppStoreClient?) {
        let (now, bodySize) = (configuration.now, configuration.limits.bodySize)
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

        on(.get, "v1/admin/personas", .persona, persona.list)
        on(.post, "v1/admin/personas", .persona, persona.create)
        on(.post, "v1/admin/personas/ready-made", .persona, persona.createReadyMade)
        on(.delete, "v1/admin/personas/:name", .persona, persona.revoke)

        on(.get, "v1/admin/policies", .policies, policy.list)
        on(.post, "v1/admin/policies", .publish, policy.publish)
        on(.get, "v1/admin/policies/:version", .policies, policy.show)
        on(.post, "v1/admin/policies/rehearsals", .policies, policy.rehearse)
        on(.get, "v1/admin/policies/rehearsals/:id", .policies, policy.showRehearsal)
        on(.post, "v1/admin/policies/rollback", .publish, policy.rollBack)
    }
}

/// The route that lists the audit trail: what admin keys changed or exported, and which of their requests were refused.
struct AuditHandler: Sendable {
    let store: Store

    /// `GET /v1/admin/audit?customer=…&before=…&limit=…`: newest entries first.
    @Sendable func list(_ call: AdminCall) async throws -> Response {
        let size = try call.request.pageSize()
        let before = try call.request.position("before", from: "next")
        let customer = try call.request.uri.queryParameters["customer"].map { text throws(Problem) in
            try AdminParameter.id(String(text), "customer")
        }
        let entries = try await store.read { try $0.audit(before: before, of: customer, limit: size) }
        let next = entries.count == size ? entries.last?.id : nil
        return .json(capacity: 8192) { $0.page("entries", of: entries, next: next) { $0.fields(of: $1) } }
    }
}

/// A request to the admin API that has a valid admin key with the right for its route.
struct AdminCall {
    let request: Request
    let context: ServiceContext
    let bodySize: Int
    /// The name of the admin key, for the audit trail.
    let actor: String

    /// Reads the request's body. See `Request.decoded`.
    func body<Body: AdminRequest>(_ type: Body.Type) async throws -> Body {
        try await request.decoded(type, upTo: bodySize, in: context)
    }
}

/// The rules for IDs and reasons in requests to the admin API.
enum AdminParameter {
    private static let maximumIDLength = 256
    private static let maximumReasonLength = 1000

    /// Whether the text can be an ID: 1 to 256 bytes without control characters. PostgreSQL rejects text with a NUL.
    static func isID(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= maximumIDLength
            && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }

    /// Returns the text of this field unchanged. Throws `malformedRequest` if it can't be an ID or a name.
    static func id(_ text: String, _ field: String) throws(Problem) -> String {
        guard isID(text) else {
            throw Problem(
                .malformedRequest, "`\(field)` must have 1 to \(maximumIDLength) bytes and no control characters")
        }
        return text
    }

    /// Returns the reason without surrounding whitespace. Throws `malformedRequest` if the reason is empty, too long,
    /// or has control characters other than tabs and line breaks.
    static func reason(_ text: String) throws(Problem) -> String {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty, text.utf8.count <= maximumReasonLength,
            text.unicodeScalars.allSatisfy({
                $0.properties.generalCategory != .control || CharacterSet.whitespacesAndNewlines.contains($0)
            })
        else {
            throw Problem(
                .malformedRequest,
                "`reason` must have 1 to \(maximumReasonLength) bytes and no control characters except line breaks")
        }
        return text
    }
}

extension ServiceContext {
    /// Returns the path parameter with this name, percent-decoded. Throws `malformedRequest` if it can't be an ID.
    func pathID(_ name: String = "id") throws(Problem) -> String {
        guard let text = parameters.get(name)?.removingPercentEncoding else {
            throw Problem(.malformedRequest, "`\(name)` in the path isn't valid percent-encoded text")
        }
        return try AdminParameter.id(text, name)
    }
}

extension Request {
    /// The query parameter `reason`, for requests without a body; nil if it's missing.
    func reason() throws(Problem) -> String? {
        guard let text = uri.queryParameters["reason"] else { return nil }
        return try AdminParameter.reason(String(text))
    }

    /// The query parameter `limit`; 100 if it's missing.
    func pageSize() throws(Problem) -> Int {
        guard let text = uri.queryParameters["limit"] else { return 100 }
        guard let number = Int(text), (1...500).contains(number) else {
            throw Problem(.malformedRequest, "`limit` must be a whole number from 1 to 500")
        }
        return number
    }

    /// The position from which a list continues: the query parameter `name`; nil if it's missing, for the first page.
    ///
    /// - Parameter field: The field of the previous page's response that has the position, for the error message.
    func position(_ name: String, from field: String) throws(Problem) -> Int64? {
        guard let text = uri.queryParameters[Substring(name)] else { return nil }
        guard let number = Int64(text), number > 0 else {
            throw Problem(.malformedRequest, "`\(name)` must be the `\(field)` of the previous page")
        }
        return number
    }

    /// The header `Idempotency-Key`, with which a repeated request is performed only once; nil if it's missing.
    func idempotencyKey() throws(Problem) -> String? {
        guard let name = HTTPField.Name("Idempotency-Key"), let text = headers[name] else { return nil }
        return try AdminParameter.id(text, "Idempotency-Key")
    }
}
