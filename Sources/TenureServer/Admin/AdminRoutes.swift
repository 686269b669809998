import Foundation
import HTTPTypes
import Hummingbird
import TenureAPI
import TenureAppStore
import TenureStore

/// The routes of the admin API, which people, command-line tools and the app's server use. The handlers of each
/// resource are in an extension.
struct AdminRoutes: Sendable {
    let keys: AdminKeyCheck
    let store: Store
    let policies: ActivePolicy
    let personas: ActivePersonas
    /// The signing authorities that the service accepts. Customers of other realms are treated as not found. A realm is
    /// an environment of the App Store, or a test authority that replaces it.
    let realms: AcceptedRealms
    let verifier: AppStoreVerifier
    /// The App Store Server API; nil if the service has no key for it.
    let appStore: AppStoreClient?
    let accessTokenKey: AccessTokenKey
    /// What happens if a customer's acquisition of the app is linked to another user already.
    let transfer: Transfer
    let bodySize: Int
    let now: @Sendable () -> Date

    /// Adds all routes. A route's handler is called only if the request has an admin key with the right of the route.
    func add(to router: Router<ServiceContext>) {
        func on(
            _ method: HTTPRequest.Method, _ path: RouterPath, _ right: AdminRight,
            _ handler: @escaping @Sendable (AdminCall) async throws -> Response
        ) {
            router.on(path, method: method) { request, context -> Response in
                try await handler(try await call(request, context, needing: right))
            }
        }
        /// Adds a route about the customer with the public ID `:id`, which the handler gets too.
        func onCustomer(
            _ method: HTTPRequest.Method, _ path: RouterPath, _ right: AdminRight,
            _ handler: @escaping @Sendable (AdminCall, _ id: String) async throws -> Response
        ) {
            router.on(path, method: method) { request, context -> Response in
                let id = try context.pathID()
                return try await handler(try await call(request, context, needing: right, on: id), id)
            }
        }
        on(.get, "v1/admin/customers", .read, find)
        on(.post, "v1/admin/customers/find", .read, findByArtifact)
        on(.get, "v1/admin/orders/:order", .read, findByOrder)

        onCustomer(.get, "v1/admin/customers/:id", .read, show)
        onCustomer(.delete, "v1/admin/customers/:id", .erase, erase)
        onCustomer(.get, "v1/admin/customers/:id/timeline", .read, timeline)
        onCustomer(.get, "v1/admin/customers/:id/export", .export, export)
        onCustomer(.post, "v1/admin/customers/:id/grants", .support, grant)
        onCustomer(.post, "v1/admin/customers/:id/revocations", .support, revoke)
        onCustomer(.post, "v1/admin/customers/:id/links", .link, link)
        onCustomer(.delete, "v1/admin/customers/:id/links/:user", .link, unlink)
        onCustomer(.post, "v1/admin/customers/:id/merges", .merge, merge)
        onCustomer(.delete, "v1/admin/customers/:id/merges/:other", .merge, unmerge)
        on(.post, "v1/link", .link, linkByServer)

        on(.get, "v1/admin/audit", .audit, audit)

        on(.get, "v1/admin/personas", .persona, listPersonas)
        on(.post, "v1/admin/personas", .persona, createPersona)
        on(.post, "v1/admin/personas/ready-made", .persona, createReadyMadePersonas)
        on(.delete, "v1/admin/personas/:name", .persona, revokePersona)

        on(.get, "v1/admin/policies", .policies, listPolicies)
        on(.post, "v1/admin/policies", .publish, publish)
        on(.get, "v1/admin/policies/:version", .policies, showPolicy)
        on(.post, "v1/admin/policies/rehearsals", .policies, rehearse)
        on(.get, "v1/admin/policies/rehearsals/:id", .policies, showRehearsal)
        on(.post, "v1/admin/policies/rollback", .publish, rollBack)
    }

    /// Checks the request's admin key.
    ///
    /// - Parameter customer: The public ID of the customer whom the request is about, for the audit trail.
    private func call(
        _ request: Request, _ context: ServiceContext, needing right: AdminRight, on customer: String? = nil
    ) async throws -> AdminCall {
        let actor = try await keys.keyName(of: request, context, needing: right, on: customer)
        return AdminCall(request: request, context: context, bodySize: bodySize, actor: actor)
    }

    /// `GET /v1/admin/audit?customer=…&before=…&limit=…`: the audit trail, newest entries first: what admin keys changed
    /// or exported, and which of their requests were refused.
    @Sendable private func audit(_ call: AdminCall) async throws -> Response {
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

extension TenureService {
    /// Adds the routes of the admin API.
    ///
    /// - Parameter appStore: The client of the App Store Server API; nil if no key is configured.
    func addAdminRoutes(to router: Router<ServiceContext>, verifier: AppStoreVerifier, appStore: AppStoreClient?) {
        let now = configuration.now
        AdminRoutes(
            keys: AdminKeyCheck(store: store, configuredKey: AdminKey(configuration.adminKey), now: now),
            store: store, policies: policies, personas: personas, realms: AcceptedRealms(configuration.anchors),
            verifier: verifier, appStore: appStore, accessTokenKey: accessTokenKey, transfer: configuration.transfer,
            bodySize: configuration.limits.bodySize, now: now
        ).add(to: router)
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
