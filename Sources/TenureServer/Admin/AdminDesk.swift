import Foundation
import HTTPTypes
import Hummingbird
import Logging
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureStore

/// The admin interface: what people, and the app's own server, do with the record.
///
/// Each file beside this one answers the routes of one concept.
struct AdminDesk: Sendable {
    let store: Store
    let policies: ActivePolicy
    let verifier: AppStoreVerifier
    /// Nil without a key.
    let appStore: AppStoreConnection?
    let derivation: Derivation
    let gate: AdminKeyCheck
    let accessTokenKey: AccessTokenKey
    let personas: ActivePersonas
    let realms: AcceptedRealms
    let transfer: Transfer
    let limits: ServiceConfiguration.Limits
    let now: @Sendable () -> Date

    init(_ service: TenureService, verifier: AppStoreVerifier, appStore: AppStoreConnection?) {
        store = service.store
        policies = service.policies
        self.verifier = verifier
        self.appStore = appStore
        derivation = Derivation(verifier: verifier)
        accessTokenKey = service.accessTokenKey
        personas = service.personas
        realms = AcceptedRealms(service.configuration.anchors)
        transfer = service.configuration.transfer
        limits = service.configuration.limits
        now = service.configuration.now
        gate = AdminKeyCheck(store: store, configuredKey: service.configuration.adminKey, now: now)
    }

    func addRoutes(to router: Router<ServiceContext>) {
        router.get("v1/admin/customers", use: find)
        router.post("v1/admin/customers/find", use: findByArtifact)
        router.get("v1/admin/orders/:order", use: findByOrder)
        router.get("v1/admin/customers/:id", use: customer)
        router.delete("v1/admin/customers/:id", use: erase)
        router.get("v1/admin/customers/:id/timeline", use: timeline)
        router.get("v1/admin/customers/:id/export", use: export)
        router.post("v1/admin/customers/:id/grants", use: grant)
        router.post("v1/admin/customers/:id/revocations", use: revoke)
        router.post("v1/admin/customers/:id/links", use: link)
        router.delete("v1/admin/customers/:id/links/:user", use: unlink)
        router.post("v1/admin/customers/:id/merges", use: merge)
        router.delete("v1/admin/customers/:id/merges/:other", use: unmerge)
        router.get("v1/admin/audit", use: audit)
        router.get("v1/admin/personas", use: listPersonas)
        router.post("v1/admin/personas", use: createPersona)
        router.post("v1/admin/personas/ready-made", use: createReadyMadePersonas)
        router.delete("v1/admin/personas/:name", use: revokePersona)
        router.post("v1/link", use: linkByServer)
        addPolicyRoutes(to: router)
    }

    // MARK: Parts of requests

    /// The public id in the path.
    func publicID(in context: ServiceContext) throws(Problem) -> String { try parameter("id", in: context) }

    func parameter(_ name: String, in context: ServiceContext) throws(Problem) -> String {
        guard let text = context.parameters.get(name)?.removingPercentEncoding, Self.isID(text) else {
            throw Problem(.malformedRequest, "the path names nobody")
        }
        return text
    }

    /// A name or id that a request gives: on one line, and not longer than anything is.
    func id(_ text: String, _ field: String) throws(Problem) -> String {
        guard Self.isID(text) else {
            throw Problem(.malformedRequest, "`\(field)` must have 1 to \(Self.longestID) bytes, on one line")
        }
        return text
    }

    /// Control characters are in no id, and PostgreSQL keeps no text with a NUL.
    static func isID(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= longestID
            && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }

    func reason(_ text: String) throws(Problem) -> String {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty, text.utf8.count <= Self.longestReason,
            text.unicodeScalars.allSatisfy({
                $0.properties.generalCategory != .control || CharacterSet.whitespacesAndNewlines.contains($0)
            })
        else {
            throw Problem(
                .malformedRequest,
                "`reason` must have 1 to \(Self.longestReason) bytes, and no control characters but line breaks")
        }
        return text
    }

    /// `?reason=…`, for acts whose requests have no body.
    func reason(of request: Request) throws(Problem) -> String? {
        try request.uri.queryParameters["reason"].map { text throws(Problem) in try reason(String(text)) }
    }

    /// `?limit=…`
    func pageSize(of request: Request) throws(Problem) -> Int {
        guard let text = request.uri.queryParameters["limit"] else { return 100 }
        guard let number = Int(text), (1...500).contains(number) else {
            throw Problem(.malformedRequest, "`limit` is a number from 1 to 500")
        }
        return number
    }

    static let longestID = 256
    private static let longestReason = 1000
    private static let requestID = HTTPField.Name("Idempotency-Key")

    // MARK: Customers and acts

    /// Without the id: a refusal is logged, and it may be anybody's name.
    static let nobody = Problem(.notFound, "there is no customer with this id")

    /// The customer with that public id, of a realm that counts here, with the parts that are wanted.
    func details(
        _ id: String, with parts: CustomerDetails.Parts = [], unboundAfter visit: Int64 = 0
    ) async throws -> CustomerDetails {
        guard
            let details = try await store.read({ try $0.details(of: .publicID(id), with: parts, unboundAfter: visit) }),
            realms.contain(details.customer.realm)
        else { throw Self.nobody }
        return details
    }

    /// Performs an act; a refused one is a problem with its reason.
    func perform(
        _ change: CustomerChange, on customer: CustomerName, by holder: KeyHolder, reason: String? = nil,
        _ request: Request, _ context: ServiceContext
    ) async throws -> ChangeOutcome {
        let id = try Self.requestID.flatMap { request.headers[$0] }.map { text throws(Problem) in
            try self.id(text, "Idempotency-Key")
        }
        try await checkRealm(of: customer, for: change, by: holder)
        let requested = RequestedChange(change, actor: holder.name, reason: reason, at: now(), request: id)
        let rederivation =
            change.mayPart ? try await derivation.rederivation(of: customer, in: store) : derivation.rederivation
        let outcome = try await store.perform(requested, on: customer, by: rederivation)
        var metadata: Logger.Metadata = ["action": "\(change.name)", "key": "\(holder.name)"]
        if case .refused(let refusal) = outcome { metadata["refused"] = "\(refusal.rawValue)" }
        context.logger.info("customer change", metadata: metadata)
        if case .refused(let refusal) = outcome { throw Problem(refusal) }
        return outcome
    }

    /// A customer for whom others vouched than this service trusts is nobody here.
    private func checkRealm(of customer: CustomerName, for change: CustomerChange, by holder: KeyHolder) async throws {
        guard case .publicID(let id) = customer, let known = try await store.read({ try $0.customer(named: id) }),
            !realms.contain(known.realm)
        else { return }
        let entry = AuditEntry(
            at: now(), actor: holder.name, action: change.name, customer: id,
            detail: ["refused": ChangeOutcome.Refusal.noSuchCustomer.rawValue])
        try await store.write { try $0.audit(entry) }
        throw Problem(.noSuchCustomer)
    }

    /// What a customer may use now, and why, with titles in the languages of whoever asks.
    func answer(for customer: Customer, to request: Request) async throws -> CustomerAnswer {
        guard let customer = try await store.answered(customer) else { throw Self.nobody }
        let (evidence, now) = (customer.evidence, now())
        let decisions = try await policies.upToDate { try policies.decide(customer.facts, evidence, at: now) }
        var answer = CustomerAnswer(customer, evidence: evidence, decisions: decisions)
        answer.languages = request.languages
        return answer
    }

    /// The answer to an act: the customer as they are now.
    func answer(_ outcome: ChangeOutcome, to request: Request) async throws -> Response {
        guard case .done(let customer, _) = outcome else { throw Problem(.internalError, "the act had no answer") }
        let answer = try await answer(for: customer, to: request)
        var json = JSONWriter(capacity: 4096)
        json.value(answer)
        return .json(json)
    }
}
