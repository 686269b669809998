import Foundation
import Hummingbird
import TenureAPI
import TenureCore
import TenureStore

/// `POST /v1/trials/{entitlement}/sessions`: begins a session of a trial, once for each ID that the app sends.
struct TrialRoute: Sendable {
    let store: Store
    let policies: ActivePolicy
    let access: CustomerAccess
    let personas: ActivePersonas
    let now: @Sendable () -> Date

    /// The largest body of a request, in bytes.
    private static let bodySize = 4096
    private static let maximumIDLength = 64

    @Sendable func respond(to request: Request, context: ServiceContext) async throws -> Response {
        let now = now()
        let token = try access.token(of: request, now: now)
        try await policies.refresh()
        let encodedName = context.parameters.get("entitlement") ?? ""
        let name = encodedName.removingPercentEncoding ?? encodedName
        guard let trial = policies.current.entitlement(named: name)?.trial else {
            throw Problem(
                .notFound,
                "the policy has no trial of this entitlement; check the entitlement's name, or add its `trial` to the policy"
            )
        }
        let id = try Self.id(in: try await request.json(upTo: Self.bodySize, in: context))
        let answer = try await policies.upToDate { try await begin(id, of: trial, named: name, for: token, now: now) }
        return .json(capacity: 128) { $0.value(answer) }
    }

    /// Reads the session's ID from the body.
    private static func id(in body: Data) throws(Problem) -> String {
        guard let id = try? JSONDecoder().decode(TrialRequest.self, from: body).id else {
            throw Problem(.malformedRequest, "the body must be a JSON object with a string `id`")
        }
        // Bytes are limited too, because one character may consist of many.
        guard !id.isEmpty, id.count <= maximumIDLength, id.utf8.count <= 4 * maximumIDLength,
            !id.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
        else {
            throw Problem(
                .malformedRequest, "`id` must have 1 to \(maximumIDLength) characters, and no control characters")
        }
        return id
    }

    /// Begins the session unless it began already, and returns what is left of the trial.
    private func begin(
        _ id: String, of trial: Trial, named name: String, for token: AccessToken, now: Date
    ) async throws -> TrialResponse {
        let persona = try await personas.persona(of: token, at: now)
        let begun = try await store.write(at: now) {
            transaction -> (customer: Customer, use: TrialUse, isCounted: Bool)? in
            guard let (customer, use) = try transaction.trialUse(of: name, by: token.customer, session: id) else {
                return nil
            }
            // If another process published a policy that this process hasn't read yet, `isGranted` fails and no session
            // begins. After the transaction, `isGranted` throws, and `upToDate` calls `begin` again.
            let isGranted = try? policies.isGranted(name, to: customer, as: persona, at: now)
            guard use.sessionBegan == nil, customer.realm == token.realm, isGranted == false,
                trial.admits(after: use, at: now)
            else { return (customer, use, false) }
            try transaction.beginTrialSession(id, of: name, for: token.customer)
            return (customer, use, true)
        }
        // `begun` is nil if the customer was erased or is unbound: what their device sent doesn't prove that the
        // purchases belong to the sender.
        guard let (customer, use, isCounted) = begun else {
            guard try await store.lookUp(token.customer) != nil else { throw Problem.accessTokenRefused }
            throw Problem(
                .notBound, "a trial needs proof that is bound to the device; send `deviceVerificationID` with the sync")
        }
        guard customer.realm == token.realm else { throw Problem.accessTokenRefused }
        if !isCounted, try policies.isGranted(name, to: customer, as: persona, at: now) {
            return TrialResponse(entitlement: name, isOwner: true)
        }
        let answer = TrialResponse(name, trial, use, isCounted: isCounted, at: now)
        guard let end = answer.ends, now < end else {
            let detail =
                (answer.sessionsLeft ?? 0) > 0
                ? "this session is over; begin another session with a new `id`" : "the trial of `\(name)` is used up"
            throw Problem(.trialOver, detail, trial: answer)
        }
        return answer
    }
}

extension ActivePolicy {
    /// Whether the customer has the entitlement, and so needs no trial.
    fileprivate func isGranted(
        _ entitlement: String, to customer: Customer, as persona: Persona?, at now: Date
    ) throws(Problem) -> Bool {
        try decide(customer.facts, customer.evidence(as: persona), at: now)
            .contains { $0.entitlement == entitlement && $0.outcome == .granted }
    }
}

extension Trial {
    /// Whether the trial allows one more session after the sessions in `use`. In a trial of days, only the first
    /// session is counted.
    func admits(after use: TrialUse, at now: Date) -> Bool {
        switch self {
        case .sessions(let count): use.sessions < count
        case .days: use.since == nil
        }
    }
}

extension TrialResponse {
    /// Creates the response about a customer's progress in the trial of an entitlement, with the requested session.
    ///
    /// - Parameters:
    ///   - use: The customer's sessions before this request.
    ///   - isCounted: Whether the requested session begins now.
    init(_ entitlement: String, _ trial: Trial, _ use: TrialUse, isCounted: Bool, at now: Date) {
        switch trial {
        case .sessions(let count):
            let began = isCounted ? now : use.sessionBegan
            self.init(
                entitlement: entitlement, sessions: count,
                sessionsLeft: max(0, count - use.sessions - (isCounted ? 1 : 0)),
                // Nil if the requested session hasn't begun, because no session is left.
                ends: began?.addingTimeInterval(Trial.maximumSessionDuration))
        case .days(let count):
            self.init(entitlement: entitlement, ends: (use.since ?? now).addingTimeInterval(Double(count) * 86_400))
        }
    }
}
