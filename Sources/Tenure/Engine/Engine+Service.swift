import Foundation
import TenureAPI
import TenureCore

extension Engine {
    private static let day: TimeInterval = 86_400

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
        guard !memory.account.unanswered.isEmpty, let listed = reading.transactions else { return [] }
        return memory.account.unanswered.intersection(
            SyncRequest.mostTelling(listed).lazy.map(\.purchase.transactionID))
    }

    func askService() async {
        guard let service = setup.service else { return }
        let isWanted = isServiceWanted
        isServiceWanted = false
        guard isWanted || isServiceDue else {
            // What it said then is about the same evidence, if this start has seen all of that.
            let hasSeenAll = reading.knowsPurchases && (reading.appTransaction != nil || !asksForAppTransaction)
            if fresh == nil, hasSeenAll, !setup.isListening { fresh = memory.account.told }
            return reading.note(.service, .skipped("it was asked a short while ago, and there is no new evidence"))
        }
        let changes = accountChanges
        let news = newsCount
        guard var request = await SyncRequest(reading, from: setup.access) else {
            let why = "nothing that the App Store signed could be read, so that there is nothing to send"
            return reading.note(.service, asksForAppTransaction ? .failed(why) : .skipped(why))
        }
        request.nonce = UUID().uuidString.lowercased()
        request.persona = personaToken
        reading.note(
            .receipt, request.receipt == nil ? .skipped("there is an app transaction, or no receipt") : .done)
        do throws(ServiceFailure) {
            let response = try await service.sync(request, languages: setup.options.languages)
            retryAfter = nil
            // An account that changed meanwhile was not asked about.
            guard changes == accountChanges, request.appTransaction == reading.appTransaction?.jws else {
                return reading.note(.service, .failed("another account was signed in meanwhile"))
            }
            take(response, to: request)
            // What came meanwhile isn't covered.
            if news != newsCount { memory.account.askedAt = nil }
        } catch {
            if case .refused(_, let seconds) = error { retryAfter = seconds }
            reading.note(.service, .failed("\(error)"))
        }
    }

    /// The persona's token. Nil beside anything that was signed for production.
    private var personaToken: String? {
        let environments =
            [reading.appTransaction?.environment].compactMap(\.self)
            + (reading.transactions ?? []).map(\.environment)
        guard !environments.isEmpty, environments.allSatisfy({ !$0.isProduction }) else { return nil }
        return persona?.token
    }

    private func take(_ response: CustomerResponse, to request: SyncRequest) {
        let clock = setup.clock()
        if !setup.isListening {
            do throws(CertificateReader.Refusal) {
                try takeCertificate(response.certificate, inAnswerTo: request)
            } catch {
                // Whoever answers in the service's place can say what they like. It changes nothing.
                setup.options.log.error("the answer of the service does not count: its certificate \(error.rawValue)")
                return reading.note(.service, .failed("its certificate \(error.rawValue)"))
            }
            let answers = Dictionary(
                response.entitlements.map { ($0.key, Tenure.Answer($0.value, named: $0.key)) }
            ) { first, _ in first }
            fresh = answers
            memory.account.toldAll =
                request.transactions != nil && reading.knowsRenewals
                && (request.appTransaction != nil || !distribution.hasAppTransaction)
            memory.account.told = answers
        }
        memory.account.askedAt = clock
        if let given = response.accessToken {
            token = AccessToken(value: given.value, expiresAt: min(given.expiresAt, clock.addingTimeInterval(3600)))
        }
        acknowledge(request, but: response.problems)
        reading.note(.service, .done)
    }

    private func takeCertificate(
        _ text: String?, inAnswerTo request: SyncRequest
    ) throws(CertificateReader.Refusal) {
        guard let text else {
            if request.canBeBound { throw .missing }
            return
        }
        let account = memory.account
        let holder = CertificateReader.Holder(
            device: device, bundleID: setup.access.bundleID ?? account.bundleID, kind: setup.host.kind,
            appTransactionID: account.key?.appTransactionID, environment: account.environment)
        let claims = try certificates.read(text, for: holder)
        if let nonce = claims.nonce {
            // Made for this request, it is of this moment, however wrong a clock there was before, here or at the service.
            guard nonce == request.nonce else { throw .replayed }
            look()
            learn { $0.learn(toldAt: claims.issuedAt, clock: $1) }
        } else {
            // One that was caught before and is played again says less than is known.
            if let known = self.claims, claims.issuedAt < known.issuedAt.addingTimeInterval(-300) { throw .old }
            // It may say that it is later, never that it is earlier.
            memory.time.raise(to: claims.issuedAt)
        }
        self.claims = claims
        memory.account.certificate = text
    }

    /// What was sent and not refused is in the service's database. What was refused is answered, too.
    private func acknowledge(_ request: SyncRequest, but problems: [ArtifactProblem]) {
        let refused = Set(problems.map(\.artifact))
        guard let sent = request.transactions else { return }
        let ids = Dictionary((reading.transactions ?? []).map { ($0.jws, $0.purchase.transactionID) }) { first, _ in
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
    /// Whether the service can tie its answer to this device, and so must sign it.
    fileprivate var canBeBound: Bool { appTransaction != nil && deviceVerificationID != nil }
}
