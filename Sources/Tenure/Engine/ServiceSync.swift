import Foundation
import TenureAPI

/// Sends the customer's artifacts (what the App Store signed) to the service, and applies the response. Only the
/// engine's actor uses it.
final class ServiceSync {
    private let device: DeviceState
    private var setup: Setup { device.setup }
    /// The time until which the service asked not to be called. Nil if it didn't ask for a wait.
    private var retryAt: Date?
    /// Whether the next search of the App Store must ask the service even if the next request isn't due.
    var isWanted = false
    /// Whether the next search must request the service's list of products even if that isn't due.
    var areProductsWanted = false

    init(_ device: DeviceState) { self.device = device }

    // In seconds.
    private static let hour: TimeInterval = 3600
    private static let day: TimeInterval = 86_400

    /// The seconds until the service may be asked again. Nil if it may be asked now. A purchase or `restore()` asks in
    /// any case.
    var retryWait: Double? {
        guard let seconds = retryAt?.timeIntervalSince(setup.clock()) else { return nil }
        // Ignore a wait that is longer than any server requests: the clock was set back. Also ignore less than a
        // second: a timer may end slightly early.
        return seconds > 1 && seconds <= Backoff.longest ? seconds : nil
    }

    /// Whether to ask the service:
    ///
    /// - at once if there is new evidence, or if a right has ended
    /// - after an hour if an entitlement isn't granted, or if there is no token or answer
    /// - otherwise after a day
    ///
    /// A release that only collects evidence for the dry run of a new policy (`Tenure.listening`) asks only if there is
    /// new evidence, or after a day.
    private var isServiceDue: Bool {
        guard let asked = device.stored.account.answeredAt else { return true }
        let clock = setup.clock()
        let age = clock.timeIntervalSince(asked)
        if age < 0 || age >= Self.day { return true }
        guard !setup.isListening else { return false }
        if !unanswered.isEmpty { return true }
        let now = device.stored.time.now(clock)
        guard let claims = device.facts.claims, !device.stored.account.serviceAnswers.isEmpty else {
            return age >= Self.hour
        }
        // If a right has ended since the last response, it may have been renewed. Use the service's time of the
        // response, but at most the tolerance before the device's time. Otherwise a device with a fast clock would ask
        // in every search.
        let answers = device.stored.account.serviceAnswers
        let decided = max(min(asked, claims.issuedAt), asked.addingTimeInterval(-DeviceTime.tolerance))
        let hasEnded = answers.values.contains { answer in
            answer.outcome == .granted && (answer.until.map { $0 <= now && $0 > decided } ?? false)
        }
        let isAllGranted = answers.keys.allSatisfy { name in
            guard let right = claims.rights[name] else { return false }
            return right.until.map { now < $0 } ?? true
        }
        return hasEnded || (!isAllGranted && age >= Self.hour)
    }

    /// The IDs of the transactions that the service hasn't answered about yet and that the next request can contain.
    var unanswered: Set<String> {
        guard !device.stored.account.unansweredTransactions.isEmpty, let listed = device.snapshot.transactions else {
            return []
        }
        return device.stored.account.unansweredTransactions.intersection(
            SyncRequest.mostRelevant(listed).lazy.map(\.purchase.transactionID))
    }

    /// Asks the service if the next request is due or wanted, and stores what the response says.
    nonisolated(nonsending) func askService() async {
        guard let service = setup.service else { return }
        let isWanted = isWanted
        self.isWanted = false
        // A purchase or `restore()` sets `isWanted`, and asks the service even if it asked the client to wait.
        if !isWanted, retryWait != nil {
            return device.snapshot.note(
                .service, .skipped("the service asked the client to wait before the next request"))
        }
        guard isWanted || isServiceDue else {
            // The last response is about the same evidence, if all evidence was read since the app started.
            let hasSeenAll =
                device.snapshot.knowsPurchases
                && (device.snapshot.appTransaction != nil || !device.mayReadAppTransaction)
            if device.facts.freshAnswers == nil, hasSeenAll, !setup.isListening {
                device.facts.freshAnswers = device.stored.account.serviceAnswers
            }
            return device.snapshot.note(
                .service, .skipped("the service was asked a short while ago, and there is no new evidence"))
        }
        // Remember the counters, to notice another account or new evidence during the request.
        let accountChangesBefore = device.facts.accountChanges
        let evidenceChangesBefore = device.evidenceChanges
        guard var request = await SyncRequest(device.snapshot, from: setup.access) else {
            let why = "no app transaction, transaction or receipt could be read, so there is nothing to send"
            return device.snapshot.note(.service, device.mayReadAppTransaction ? .failed(why) : .skipped(why))
        }
        request.nonce = UUID().uuidString.lowercased()
        request.persona = personaToken
        device.snapshot.note(
            .receipt, request.receipt == nil ? .skipped("there is an app transaction, or there is no receipt") : .done)
        do throws(ServiceFailure) {
            let response = try await service.sync(request, languages: setup.options.languages)
            retryAt = nil
            // If the account has changed, the response is about the previous account, so discard it.
            guard accountChangesBefore == device.facts.accountChanges,
                request.appTransaction == device.snapshot.appTransaction?.jws
            else { return device.snapshot.note(.service, .failed("another account was signed in during the request")) }
            applyResponse(response, to: request)
            // If evidence was added during the request, the response doesn't cover it. Ask again soon.
            if evidenceChangesBefore != device.evidenceChanges { device.stored.account.answeredAt = nil }
        } catch {
            if case .refused(_, let seconds) = error {
                retryAt = seconds.map { setup.clock().addingTimeInterval(min($0, Backoff.longest)) }
            }
            device.snapshot.note(.service, .failed("\(error)"))
        }
    }

    /// The token of the service's persona, a test customer that replaces the real customer. Nil without a persona or
    /// an artifact, or if an artifact is from Production.
    private var personaToken: String? {
        let environments =
            [device.snapshot.appTransaction?.environment].compactMap(\.self)
            + (device.snapshot.transactions ?? []).map(\.environment)
        let isSandbox = !environments.isEmpty && environments.allSatisfy { !$0.isProduction }
        return isSandbox ? device.facts.persona?.token : nil
    }

    /// Stores what a response says. If its entitlement token is rejected, uses only the response's list of revoked
    /// keys.
    private func applyResponse(_ response: CustomerResponse, to request: SyncRequest) {
        let clock = setup.clock()
        if !setup.isListening {
            device.addRevocations(response.signingKey?.revocations)
            do throws(EntitlementTokenReader.Refusal) {
                try verifyAndStoreToken(of: response, inAnswerTo: request)
            } catch {
                // The response may be from another server, so ignore it.
                setup.options.log.error("the service's response is ignored: its entitlement token \(error.rawValue)")
                return device.snapshot.note(.service, .failed("the service's entitlement token \(error.rawValue)"))
            }
            let answers = Dictionary(
                response.entitlements.map { ($0.key, Tenure.Answer($0.value, named: $0.key)) }
            ) { first, _ in first }
            device.facts.freshAnswers = answers
            device.stored.account.serviceAnswers = answers
            device.stored.account.sentEverything =
                request.transactions != nil && device.snapshot.knowsRenewals
                && (request.appTransaction != nil || !device.facts.distribution.hasAppTransaction)
        }
        device.stored.account.answeredAt = clock
        if let token = response.accessToken {
            device.accessToken = (token.value, min(token.expiresAt, clock.addingTimeInterval(Self.hour)))
        }
        acknowledge(request, except: response.problems)
        device.snapshot.note(.service, .done)
    }

    /// Verifies and stores the response's entitlement token. Throws if the token is invalid, or if it is missing
    /// although the service must send a token.
    private func verifyAndStoreToken(
        of response: CustomerResponse, inAnswerTo request: SyncRequest
    ) throws(EntitlementTokenReader.Refusal) {
        guard let text = response.entitlementToken else {
            // The service can issue a token for this device, and so must send one.
            if request.appTransaction != nil, request.deviceVerificationID != nil { throw .missing }
            return
        }
        guard let nonce = request.nonce else { throw .replayed }
        device.observeClock()
        let signingKey = response.signingKey
        let token = EntitlementTokenReader.Token(
            text: text, statements: (signingKey?.chain ?? []) + [signingKey?.root].compactMap(\.self),
            revocations: device.stored.revocations)
        let claims = try device.tokenReader.read(
            new: token, for: device.holder(device.deviceID), answering: nonce,
            latest: device.stored.time.now(setup.clock()))
        // The token was issued for this request, so its date is the current time. Use it even if a clock was wrong
        // before.
        device.updateTime { $0.update(serviceTime: claims.issuedAt, clock: $1) }
        device.facts.claims = claims
        device.stored.account.entitlementToken = text
        device.stored.account.keyStatements = KeyRing.statementsToStore(of: token.statements)
    }

    /// Marks the sent transactions as answered by the service, which has stored all except the rejected transactions.
    private func acknowledge(_ request: SyncRequest, except problems: [ArtifactProblem]) {
        let refused = Set(problems.map(\.artifact))
        guard let sent = request.transactions else { return }
        let transactions = device.snapshot.transactions ?? []
        let ids = Dictionary(transactions.map { ($0.jws, $0.purchase.transactionID) }) { first, _ in first }
        for (index, jws) in sent.enumerated() {
            guard let id = ids[jws] else { continue }
            device.stored.account.unansweredTransactions.remove(id)
            if refused.contains("transactions[\(index)]") {
                device.stored.account.refusedTransactions.insert(id)
            } else {
                device.stored.account.refusedTransactions.remove(id)
            }
        }
        for problem in problems {
            setup.options.log.error("the service rejected `\(problem.artifact)`: \(problem.detail) (\(problem.code))")
        }
    }

    // MARK: Products

    /// Requests the list of products, unless it was requested less than a day ago.
    nonisolated(nonsending) func requestProducts() async {
        guard let service = setup.service else { return }
        let isWanted = areProductsWanted
        areProductsWanted = false
        let clock = setup.clock()
        // If this release can't read the stored list, it fetches the whole list again.
        let readable = device.stored.catalog.flatMap { $0.catalog == nil ? nil : $0 }
        if !isWanted, let asked = readable?.fetchedAt, abs(clock.timeIntervalSince(asked)) < Self.productsWait {
            return
        }
        do throws(ServiceFailure) {
            if let (text, tag) = try await service.products(unlessTagged: readable?.tag) {
                device.stored.catalog = CachedCatalog(text: text, tag: tag, fetchedAt: clock)
            } else {
                device.stored.catalog?.fetchedAt = clock
            }
        } catch {
            setup.options.log.info("the service didn't return its products: \(error)")
        }
    }

    /// The time between two requests, in seconds. It is slightly less than a day, so that an app that is opened once a
    /// day makes a request each time.
    private static let productsWait: TimeInterval = 82_800
}

/// Creates the request of a sync from what was read from the App Store.
extension SyncRequest {
    /// Creates the request with everything that was read from StoreKit and that the App Store signed. Nil if nothing
    /// was read.
    ///
    /// The request has a receipt only if there is no app transaction, which contains the same facts.
    init?(_ snapshot: AppStoreSnapshot, from access: any AppStoreAccess) async {
        self.init(appTransaction: snapshot.appTransaction?.jws)
        if let listed = snapshot.transactions {
            transactions = Self.mostRelevant(listed).map(\.jws)
            renewalInfos = Array(snapshot.renewals.prefix(Self.maximumRenewals)).map(\.jws)
        }
        if appTransaction == nil, let bytes = access.receipt, !bytes.isEmpty, bytes.count <= Self.maximumReceiptSize {
            receipt = bytes.base64EncodedString()
            // The service needs the device identifier to check the receipt's hash. The identifier isn't sent otherwise.
            if ReceiptAttributes(bytes)?.hasDeviceHash == true { deviceIdentifier = await access.deviceIdentifier }
        }
        guard appTransaction != nil || receipt != nil || transactions?.isEmpty == false else { return nil }
        deviceVerificationID = access.deviceVerificationID?.uuidString
    }

    /// Returns the transactions to send. The service accepts 2,000 transactions and 4 MiB in all. If there are more,
    /// old periods of subscriptions are left out.
    static func mostRelevant(_ transactions: [AppStoreTransaction]) -> [AppStoreTransaction] {
        let total = transactions.reduce(0) { $0 + $1.jws.utf8.count }
        guard transactions.count > maximumTransactions || total > maximumTransactionsSize else { return transactions }
        let ordered = transactions.sorted { left, right in
            let isLeftPeriod = left.purchase.type == .autoRenewable
            if isLeftPeriod != (right.purchase.type == .autoRenewable) { return !isLeftPeriod }
            return (left.purchase.purchaseDate ?? .distantPast) > (right.purchase.purchaseDate ?? .distantPast)
        }
        var size = 0
        return ordered.prefix(maximumTransactions).filter { transaction in
            size += transaction.jws.utf8.count
            return size <= maximumTransactionsSize
        }
    }

    // Limits of one request, sizes in bytes. The transactions leave room for a receipt and renewal infos.
    private static let maximumTransactions = 2000
    private static let maximumRenewals = 100
    private static let maximumTransactionsSize = 3 * 1024 * 1024
    private static let maximumReceiptSize = 512 * 1024
}
