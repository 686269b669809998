import Foundation
import TenureAPI
import TenureCore

extension Engine {
    private static let day: TimeInterval = 86_400

    /// Seconds until the service may be asked again without need. Nil: it may be asked now.
    var retryWait: Double? {
        guard let seconds = retryAt?.timeIntervalSince(setup.clock()) else { return nil }
        // A longer wait comes from a clock that was set back. A timer may end slightly early.
        return seconds > 1 && seconds <= Backoff.longest ? seconds : nil
    }

    /// Whenever there is new evidence, once an hour while something isn't granted, otherwise once a day.
    private var isServiceDue: Bool {
        guard let asked = memory.account.askedAt else { return true }
        let clock = setup.clock()
        let age = clock.timeIntervalSince(asked)
        if age < 0 || age >= Self.day { return true }
        guard !setup.isListening else { return false }
        if !unsent.isEmpty { return true }
        let now = memory.time.now(clock)
        guard let claims, !memory.account.told.isEmpty else { return age >= Self.hour }
        // A right that has ended may have been renewed.
        let told = memory.account.told
        let hasEnded = told.contains { $1.outcome == .granted && $1.until.map { $0 <= now && $0 > asked } ?? false }
        let isAllGranted = told.keys.allSatisfy { name in
            claims.rights[name].map { $0.until.map { now < $0 } ?? true } ?? false
        }
        return hasEnded || !isAllGranted && age >= Self.hour
    }

    /// Transactions about which the service hasn't answered yet, as far as the next request can contain them.
    var unsent: Set<String> {
        guard !memory.account.unanswered.isEmpty, let listed = snapshot.transactions else { return [] }
        return memory.account.unanswered.intersection(
            SyncRequest.mostTelling(listed).lazy.map(\.purchase.transactionID))
    }

    func askService() async {
        guard let service = setup.service else { return }
        let isWanted = isServiceWanted
        isServiceWanted = false
        // A purchase or a tap still gets through.
        if !isWanted, retryWait != nil {
            return snapshot.note(.service, .skipped("the service is busy and asked to be called later"))
        }
        guard isWanted || isServiceDue else {
            // Its last response is about the same evidence, if this start has read all of it.
            let hasSeenAll = snapshot.knowsPurchases && (snapshot.appTransaction != nil || !asksForAppTransaction)
            if fresh == nil, hasSeenAll, !setup.isListening { fresh = memory.account.told }
            return snapshot.note(.service, .skipped("it was asked a short while ago, and there is no new evidence"))
        }
        let changes = accountChanges
        let news = newsCount
        guard var request = await SyncRequest(snapshot, from: setup.access) else {
            let why = "nothing that the App Store signed could be read, so that there is nothing to send"
            return snapshot.note(.service, asksForAppTransaction ? .failed(why) : .skipped(why))
        }
        request.nonce = UUID().uuidString.lowercased()
        request.persona = personaToken
        snapshot.note(
            .receipt, request.receipt == nil ? .skipped("there is an app transaction, or no receipt") : .done)
        do throws(ServiceFailure) {
            let response = try await service.sync(request, languages: setup.options.languages)
            retryAt = nil
            // The response isn't about the present account.
            guard changes == accountChanges, request.appTransaction == snapshot.appTransaction?.jws else {
                return snapshot.note(.service, .failed("another account was signed in meanwhile"))
            }
            take(response, to: request)
            // Evidence that was added in the meantime isn't covered.
            if news != newsCount { memory.account.askedAt = nil }
        } catch {
            if case .refused(_, let seconds) = error {
                retryAt = seconds.map { setup.clock().addingTimeInterval(min($0, Backoff.longest)) }
            }
            snapshot.note(.service, .failed("\(error)"))
        }
    }

    /// The persona's token. Nil if any artifact is from Production.
    private var personaToken: String? {
        let environments =
            [snapshot.appTransaction?.environment].compactMap(\.self)
            + (snapshot.transactions ?? []).map(\.environment)
        guard !environments.isEmpty, environments.allSatisfy({ !$0.isProduction }) else { return nil }
        return persona?.token
    }

    private func take(_ response: CustomerResponse, to request: SyncRequest) {
        let clock = setup.clock()
        if !setup.isListening {
            learnRevocations(response.signingKey?.revocations)
            do throws(EntitlementTokenReader.Refusal) {
                try takeToken(of: response, inAnswerTo: request)
            } catch {
                // The response may be another server's, so it has no effect.
                setup.options.log.error(
                    "the answer of the service does not count: its entitlement token \(error.rawValue)")
                return snapshot.note(.service, .failed("its entitlement token \(error.rawValue)"))
            }
            let answers = Dictionary(
                response.entitlements.map { ($0.key, Tenure.Answer($0.value, named: $0.key)) }
            ) { first, _ in first }
            fresh = answers
            memory.account.toldAll =
                request.transactions != nil && snapshot.knowsRenewals
                && (request.appTransaction != nil || !distribution.hasAppTransaction)
            memory.account.told = answers
        }
        memory.account.askedAt = clock
        if let given = response.accessToken {
            token = AccessToken(value: given.value, expiresAt: min(given.expiresAt, clock.addingTimeInterval(3600)))
        }
        acknowledge(request, but: response.problems)
        snapshot.note(.service, .done)
    }

    /// Reads the offline root's list of revoked keys. The root signed it, so it counts from any sender.
    private func learnRevocations(_ text: String?) {
        guard let news = text.flatMap({ tokenReader.keys.revocations(in: $0) }) else { return }
        let known = memory.revocations.map { $0.root == news.root ? $0.merging(news) : news } ?? news
        guard known != memory.revocations else { return }
        memory.revocations = known
        readStoredToken(at: setup.clock())
    }

    private func takeToken(
        of response: CustomerResponse, inAnswerTo request: SyncRequest
    ) throws(EntitlementTokenReader.Refusal) {
        guard let text = response.entitlementToken else {
            if request.canBeBound { throw .missing }
            return
        }
        guard let nonce = request.nonce else { throw .replayed }
        look()
        let vouchers = response.signingKey
        let token = EntitlementTokenReader.Token(
            text: text, statements: (vouchers?.chain ?? []) + [vouchers?.root].compactMap(\.self),
            revocations: memory.revocations)
        let claims = try tokenReader.read(
            new: token, for: holder(device), answering: nonce, latest: memory.time.now(setup.clock()))
        // The token was made for this request, so its date is the present, even if a clock was wrong before.
        learn { $0.learn(toldAt: claims.issuedAt, clock: $1) }
        self.claims = claims
        memory.account.entitlementToken = text
        memory.account.keyStatements = KeyRing.kept(of: token.statements)
    }

    /// Marks the sent artifacts as answered. The service has stored those that it didn't reject.
    private func acknowledge(_ request: SyncRequest, but problems: [ArtifactProblem]) {
        let refused = Set(problems.map(\.artifact))
        guard let sent = request.transactions else { return }
        let ids = Dictionary((snapshot.transactions ?? []).map { ($0.jws, $0.purchase.transactionID) }) { first, _ in
            first
        }
        for (place, jws) in sent.enumerated() {
            guard let id = ids[jws] else { continue }
            memory.account.unanswered.remove(id)
            if refused.contains("transactions[\(place)]") {
                memory.account.refused.insert(id)
            } else {
                memory.account.refused.remove(id)
            }
        }
        for problem in problems {
            setup.options.log.error("the service does not count `\(problem.artifact)`: \(problem.code)")
        }
    }
}

extension SyncRequest {
    /// Whether the service can bind its response to this device, and so must sign it.
    fileprivate var canBeBound: Bool { appTransaction != nil && deviceVerificationID != nil }
}
