import Foundation
import TenureAPI
import TenureCore

/// Asks the service about the customer, and takes its response. Belongs to the engine's actor.
final class ServiceSync {
    private let setup: Setup
    private let device: DeviceState
    /// Until when the service asked not to be called. Nil: it is ready.
    private var retryAt: Date?
    /// Whether the service must be asked even if it isn't due.
    var isWanted = false
    /// Whether the service's products must be asked for even if they aren't due.
    var areProductsWanted = false

    init(_ device: DeviceState) {
        setup = device.setup
        self.device = device
    }

    private static let hour: TimeInterval = 3600
    private static let day: TimeInterval = 86_400

    /// Seconds until the service may be asked again without need. Nil: it may be asked now.
    var retryWait: Double? {
        guard let seconds = retryAt?.timeIntervalSince(setup.clock()) else { return nil }
        // A longer wait comes from a clock that was set back. A timer may end slightly early.
        return seconds > 1 && seconds <= Backoff.longest ? seconds : nil
    }

    /// Whenever there is new evidence, once an hour while something isn't granted, otherwise once a day.
    private var isServiceDue: Bool {
        guard let asked = device.memory.account.askedAt else { return true }
        let clock = setup.clock()
        let age = clock.timeIntervalSince(asked)
        if age < 0 || age >= Self.day { return true }
        guard !setup.isListening else { return false }
        if !unsent.isEmpty { return true }
        let now = device.memory.time.now(clock)
        guard let claims = device.facts.claims, !device.memory.account.serviceAnswers.isEmpty else {
            return age >= Self.hour
        }
        // A right that has ended may have been renewed.
        let answers = device.memory.account.serviceAnswers
        let hasEnded = answers.contains { $1.outcome == .granted && $1.until.map { $0 <= now && $0 > asked } ?? false }
        let isAllGranted = answers.keys.allSatisfy { name in
            claims.rights[name].map { $0.until.map { now < $0 } ?? true } ?? false
        }
        return hasEnded || !isAllGranted && age >= Self.hour
    }

    /// Transactions about which the service hasn't answered yet, as far as the next request can contain them.
    var unsent: Set<String> {
        guard !device.memory.account.unanswered.isEmpty, let listed = device.snapshot.transactions else { return [] }
        return device.memory.account.unanswered.intersection(
            SyncRequest.mostRelevant(listed).lazy.map(\.purchase.transactionID))
    }

    nonisolated(nonsending) func askService() async {
        guard let service = setup.service else { return }
        let isWanted = isWanted
        self.isWanted = false
        // A purchase or a tap still gets through.
        if !isWanted, retryWait != nil {
            return device.snapshot.note(.service, .skipped("the service is busy and asked to be called later"))
        }
        guard isWanted || isServiceDue else {
            // Its last response is about the same evidence, if this start has read all of it.
            let hasSeenAll =
                device.snapshot.knowsPurchases
                && (device.snapshot.appTransaction != nil || !device.asksForAppTransaction)
            if device.facts.fresh == nil, hasSeenAll, !setup.isListening {
                device.facts.fresh = device.memory.account.serviceAnswers
            }
            return device.snapshot.note(
                .service, .skipped("it was asked a short while ago, and there is no new evidence"))
        }
        let changes = device.facts.accountChanges
        let news = device.newsCount
        guard var request = await SyncRequest(device.snapshot, from: setup.access) else {
            let why = "no app transaction, transaction or receipt could be read, so there is nothing to send"
            return device.snapshot.note(.service, device.asksForAppTransaction ? .failed(why) : .skipped(why))
        }
        request.nonce = UUID().uuidString.lowercased()
        request.persona = personaToken
        device.snapshot.note(
            .receipt, request.receipt == nil ? .skipped("there is an app transaction, or no receipt") : .done)
        do throws(ServiceFailure) {
            let response = try await service.sync(request, languages: setup.options.languages)
            retryAt = nil
            // The response isn't about the present account.
            guard changes == device.facts.accountChanges, request.appTransaction == device.snapshot.appTransaction?.jws
            else {
                return device.snapshot.note(.service, .failed("another account was signed in meanwhile"))
            }
            take(response, to: request)
            // Evidence that was added in the meantime isn't covered.
            if news != device.newsCount { device.memory.account.askedAt = nil }
        } catch {
            if case .refused(_, let seconds) = error {
                retryAt = seconds.map { setup.clock().addingTimeInterval(min($0, Backoff.longest)) }
            }
            device.snapshot.note(.service, .failed("\(error)"))
        }
    }

    /// The persona's token. Nil if any artifact is from Production.
    private var personaToken: String? {
        let environments =
            [device.snapshot.appTransaction?.environment].compactMap(\.self)
            + (device.snapshot.transactions ?? []).map(\.environment)
        guard !environments.isEmpty, environments.allSatisfy({ !$0.isProduction }) else { return nil }
        return device.facts.persona?.token
    }

    private func take(_ response: CustomerResponse, to request: SyncRequest) {
        let clock = setup.clock()
        if !setup.isListening {
            device.learnRevocations(response.signingKey?.revocations)
            do throws(EntitlementTokenReader.Refusal) {
                try takeToken(of: response, inAnswerTo: request)
            } catch {
                // The response may be another server's, so it has no effect.
                setup.options.log.error(
                    "the service's response is ignored: its entitlement token \(error.rawValue)")
                return device.snapshot.note(.service, .failed("its entitlement token \(error.rawValue)"))
            }
            let answers = Dictionary(
                response.entitlements.map { ($0.key, Tenure.Answer($0.value, named: $0.key)) }
            ) { first, _ in first }
            device.facts.fresh = answers
            device.memory.account.sentEverything =
                request.transactions != nil && device.snapshot.knowsRenewals
                && (request.appTransaction != nil || !device.facts.distribution.hasAppTransaction)
            device.memory.account.serviceAnswers = answers
        }
        device.memory.account.askedAt = clock
        if let given = response.accessToken {
            device.token = AccessToken(
                value: given.value, expiresAt: min(given.expiresAt, clock.addingTimeInterval(3600)))
        }
        acknowledge(request, but: response.problems)
        device.snapshot.note(.service, .done)
    }

    private func takeToken(
        of response: CustomerResponse, inAnswerTo request: SyncRequest
    ) throws(EntitlementTokenReader.Refusal) {
        guard let text = response.entitlementToken else {
            if request.canBeBound { throw .missing }
            return
        }
        guard let nonce = request.nonce else { throw .replayed }
        device.look()
        let vouchers = response.signingKey
        let token = EntitlementTokenReader.Token(
            text: text, statements: (vouchers?.chain ?? []) + [vouchers?.root].compactMap(\.self),
            revocations: device.memory.revocations)
        let claims = try device.tokenReader.read(
            new: token, for: device.holder(device.deviceID), answering: nonce,
            latest: device.memory.time.now(setup.clock()))
        // The token was made for this request, so its date is the present, even if a clock was wrong before.
        device.learn { $0.learn(serviceTime: claims.issuedAt, clock: $1) }
        device.facts.claims = claims
        device.memory.account.entitlementToken = text
        device.memory.account.keyStatements = KeyRing.kept(of: token.statements)
    }

    /// Marks the sent transactions as answered. The service has stored all but the rejected ones.
    private func acknowledge(_ request: SyncRequest, but problems: [ArtifactProblem]) {
        let refused = Set(problems.map(\.artifact))
        guard let sent = request.transactions else { return }
        let ids = Dictionary((device.snapshot.transactions ?? []).map { ($0.jws, $0.purchase.transactionID) }) {
            first, _ in
            first
        }
        for (place, jws) in sent.enumerated() {
            guard let id = ids[jws] else { continue }
            device.memory.account.unanswered.remove(id)
            if refused.contains("transactions[\(place)]") {
                device.memory.account.refused.insert(id)
            } else {
                device.memory.account.refused.remove(id)
            }
        }
        for problem in problems {
            setup.options.log.error("the service rejected `\(problem.artifact)`: \(problem.code)")
        }
    }

    // MARK: Products

    /// Asks which products there are, unless that was asked less than a day ago.
    nonisolated(nonsending) func requestProducts() async {
        guard let service = setup.service else { return }
        let isWanted = areProductsWanted
        areProductsWanted = false
        let clock = setup.clock()
        // If this release can't read the stored list, it fetches the whole list again.
        let known = device.memory.catalog.flatMap { $0.catalog == nil ? nil : $0 }
        if !isWanted, let asked = known?.askedAt, abs(clock.timeIntervalSince(asked)) < Self.productsWait { return }
        do throws(ServiceFailure) {
            switch try await service.products(unlessTagged: known?.tag) {
            case .unchanged: device.memory.catalog?.askedAt = clock
            case .changed(let text, let tag):
                device.memory.catalog = CachedCatalog(text: text, tag: tag, askedAt: clock)
            }
        } catch {
            setup.options.log.info("the service did not return its products: \(error)")
        }
    }

    /// Somewhat less than a day, so that an app that opens once a day asks each time.
    private static let productsWait: TimeInterval = 82_800
}

extension SyncRequest {
    /// Whether the service can bind its response to this device, and so must sign it.
    fileprivate var canBeBound: Bool { appTransaction != nil && deviceVerificationID != nil }
}
