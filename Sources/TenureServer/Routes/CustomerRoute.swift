import Foundation
import HTTPTypes
import Hummingbird
import TenureAPI
import TenureCore
import TenureStore

/// `GET /v1/customer`: what a sync said, freshly decided.
struct CustomerRoute: Sendable {
    let store: any Store
    let policies: PolicyBook
    let accessTokenKey: AccessTokenKey
    let verifiedRealms: AcceptedRealms
    let now: @Sendable () -> Date
    let metrics: ServiceMetrics

    @Sendable func respond(to request: Request, context: ServiceContext) async throws -> Response {
        let now = now()
        let token = try token(of: request, now: now)
        guard let customer = try await store.customer(token.customer), customer.realm == token.realm else {
            throw Self.refused
        }
        let evidence = customer.evidence
        let decisions = try policies.decide(customer.facts, evidence, at: now)
        metrics.decided(decisions)
        var json = JSONWriter(capacity: 2048)
        json.value(CustomerAnswer(customer, evidence: evidence, decisions: decisions))
        return .json(json.bytes)
    }

    private static let refused = Problem(.notAuthenticated, "the access token is missing, wrong or over; sync again")

    private func token(of request: Request, now: Date) throws(Problem) -> AccessToken {
        guard let header = request.headers[.authorization]?.utf8 else { throw Self.refused }
        // RFC 9110, section 11.1: the scheme in any case.
        guard let start = header.index(header.startIndex, offsetBy: 7, limitedBy: header.endIndex),
            zip(header, "bearer ".utf8).allSatisfy({ $0 | 0x20 == $1 }),
            let token = accessTokenKey.token(in: header[start...]), now < token.expiresAt,
            verifiedRealms.contain(token.realm)
        else { throw Self.refused }
        return token
    }
}
