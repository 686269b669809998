package import Foundation
import TenureCore

/// The record: a ledger of what the App Store signed and what people decided, with what it proves beside it.
///
/// Each verb is one transaction. What returned was flushed to the disk.
package protocol Store: Sendable {
    /// 16 random bytes that were made with the record: what was signed for another record counts for nothing here.
    var recordID: [UInt8] { get }

    /// The customer with this number, as the last finished act left them; nil where there is none.
    ///
    /// One who turned out to be another is that other. Waits for no writer.
    func customer(_ id: Int64) async throws(StoreError) -> Customer?

    /// The same at once; nil where a server has to be waited for. A function, and not an `async` one, since every
    /// request asks.
    var lookUp: (@Sendable (Int64) throws(StoreError) -> Customer?)? { get }

    /// By what clients and support people see.
    func customer(named publicID: String) async throws(StoreError) -> Customer?

    /// The next customers by number, those left out who turned out to be another.
    func customers(after id: Int64, limit: Int) async throws(StoreError) -> [Int64]

    /// Tells the customers whose numbers lie in this range (its beginning left out), in their order, those left out who
    /// turned out to be another: the code of the realm, the public id, and the encoded facts. The pointers are good until
    /// `body` returns.
    func forEachCustomer(
        after id: Int64, through last: Int64,
        _ body: (UInt8, UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Void
    ) async throws(StoreError)

    /// The highest number that any customer has; 0 where there is none.
    func newestCustomer() async throws(StoreError) -> Int64

    /// Finds a customer by what the App Store signed, or makes one, and adds to their record.
    ///
    /// The identities decide in the order of their kinds; several customers whom they name turn out to be one, unless
    /// each has an app transaction's id of their own. Acts on one customer happen one after the other: `change` sees
    /// what all earlier ones left, and may be called again where a transaction is repeated.
    ///
    /// A customer whom `adopting` refuses is passed over, whatever identity names them; an app transaction's id is
    /// beyond doubt.
    ///
    /// - Parameter size: about how many artifacts, purchases and renewals it adds. Many are written in several
    ///   transactions, and count with the last one.
    func amend<Outcome: Sendable>(
        _ identities: [Identity], in realm: Realm, at now: Date, adding size: Int,
        adopting: @escaping @Sendable (Customer) -> Bool,
        _ change: @escaping @Sendable (Customer?) -> (Amendment, Outcome)
    ) async throws(StoreError) -> (Customer, Outcome)

    /// Adds to the record of whom the identities name, as above, as long as this customer is there, of whom it was asked
    /// or told; nil where they were erased meanwhile.
    func amend<Outcome: Sendable>(
        _ customer: Customer, by identities: [Identity], at now: Date, adding size: Int,
        _ change: @escaping @Sendable (Customer?) -> (Amendment, Outcome)
    ) async throws(StoreError) -> (Customer, Outcome)?

    /// Keeps what was sent without proof that it is the sender's in a record of its own, beside the customers whom
    /// `identities` name; nil where there are none, as they were erased meanwhile.
    ///
    /// `visit` stands for these very artifacts, so that what `amendment` makes of them is always the same.
    func recordUnbound(
        _ visit: Identity, naming identities: [Identity], in realm: Realm, at now: Date, _ amendment: Amendment
    ) async throws(StoreError) -> UnboundRecord?

    /// The customers whom the artifacts of an unbound record name; empty for any other.
    func customers(namedBy unbound: Int64) async throws(StoreError) -> [Customer]

    /// Many acts in one transaction: all of them happen, or none.
    func amend(
        _ acts: [(identities: [Identity], realm: Realm, change: @Sendable (Customer?) -> Amendment)], at now: Date
    ) async throws(StoreError) -> [Customer]

    /// Keeps a notification, once however often it comes, and adds what it proves to the record of the customer whom
    /// the identities name, who is made where there is none; without identities it is kept for nobody.
    ///
    /// `change` is not asked for one that is known already. Of one that speaks of somebody who was erased nothing is
    /// kept.
    func receive(
        _ notification: StoredNotification, about identities: [Identity], at now: Date,
        _ change: @escaping @Sendable (Customer?) -> Amendment
    ) async throws(StoreError) -> Reception

    /// Begins a session of a trial where `admits` says so, and returns what was used before it and whether it was
    /// counted. Acts on one customer happen one after the other, so that no two of them take the last one.
    ///
    /// `admits` is not asked where the session was counted before. Nil where there is no such customer, or one whose
    /// proof may be somebody else's (`Identity.Kind.visit`).
    func beginTrialSession(
        _ session: String, of entitlement: String, for customer: Int64, at now: Date,
        if admits: @escaping @Sendable (Customer, TrialUse) -> Bool
    ) async throws(StoreError) -> (customer: Customer, use: TrialUse, isCounted: Bool)?

    /// When the sessions of the customer's trials began, by entitlement. Waits for no writer.
    func begunSessions(of customer: Int64) async throws(StoreError) -> [String: BegunSessions]

    /// Records a version of the policy, once however often it comes, and returns all versions with it.
    func record(policy compiled: [UInt8], sha256: [UInt8], at now: Date) async throws(StoreError) -> [RecordedPolicy]

    /// All versions of the policy, in their order.
    func policies() async throws(StoreError) -> [RecordedPolicy]

    /// What decides now: in a record that knows no policy yet, this one from now on.
    func start(with compiled: [UInt8], sha256: [UInt8], at now: Date) async throws(StoreError) -> RecordedPublication

    /// What decides now; nil before the service ever met this record.
    func publication() async throws(StoreError) -> RecordedPublication?

    /// All that ever decided, in their order.
    func publications() async throws(StoreError) -> [RecordedPublication]

    /// How far the ledger has come at an instant at which nobody writes.
    func ledgerMark() async throws(StoreError) -> LedgerMark

    /// The next customers of production by number, for a walk over all of them.
    func survey(after id: Int64, limit: Int) async throws(StoreError) -> [SurveyedCustomer]

    /// Promises that publications after this one ended, by customer; none for nil.
    func restorablePromises(after publication: Int64?) async throws(StoreError) -> [Int64: [RecordedPromise]]

    /// Lets a policy decide from now on, with its line in the audit trail and its message, or changes nothing.
    ///
    /// `survey` was made before; whoever changed since is judged again here, while nobody writes.
    func publish(
        _ request: RequestedPublication, after survey: PublicationSurvey,
        judging judge: @escaping @Sendable (SurveyedCustomer) throws(StoreError) -> PublicationVerdict
    ) async throws(StoreError) -> PublicationOutcome

    func record(_ rehearsal: RecordedRehearsal) async throws(StoreError)

    func rehearsal(_ id: String) async throws(StoreError) -> RecordedRehearsal?

    /// All that the ledger holds of a customer.
    func ledger(of customer: Int64) async throws(StoreError) -> CustomerLedger?

    /// The artifacts of a customer in the order in which they came, byte by byte as they came.
    func artifacts(of customer: Int64) async throws(StoreError) -> [Artifact]

    /// Says who is told what, beside those whom other processes named. Under other terms than before every customer is
    /// looked at once, by `announceAll`.
    func announce(to endpoints: [Endpoint], under terms: String, at now: Date) async throws(StoreError)

    /// Says that these are still served here; false where one is unknown, so that it must be announced to again.
    func keep(_ endpoints: [Endpoint], at now: Date) async throws(StoreError) -> Bool

    /// Who is told, each with the last sign that a process gave of it.
    func endpoints() async throws(StoreError) -> [NamedEndpoint]

    /// Those that have given no other sign since are told no more, and what waits for them is given up.
    func forget(_ silent: [NamedEndpoint], at now: Date) async throws(StoreError) -> [ForgottenEndpoint]

    /// Looks at customers of whom something may have to be told by now, some in a transaction; returns how many. Nothing
    /// happens where `judge` knows another publication as the last one than the record does.
    ///
    /// A customer for whom `judge` has no answer is looked at again a minute later.
    func announceDue(
        at now: Date, limit: Int, under publication: Int64?, _ judge: @escaping @Sendable (Customer) -> Announcement?
    ) async throws(StoreError) -> Int

    /// Goes on to look at all customers, where new terms ask for it; returns whether more may be left.
    func announceAll(
        at now: Date, limit: Int, under publication: Int64?, _ judge: @escaping @Sendable (Customer) -> Announcement?
    ) async throws(StoreError) -> Bool

    /// Takes what is due for an endpoint: nobody else takes it before the lease (seconds) has ended.
    ///
    /// Of one customer one message at a time, in their order, unless one has failed often.
    func claimDeliveries(
        to endpoint: String, at now: Date, limit: Int, lease: TimeInterval
    ) async throws(StoreError) -> [Delivery]

    /// Logs what came of an attempt.
    func settle(_ delivery: Delivery, as outcome: Delivery.Outcome, at now: Date) async throws(StoreError)

    /// Queues messages anew, delivered or not, for the endpoints that want them now; returns how many deliveries.
    func replay(_ selection: MessageSelection, at now: Date) async throws(StoreError) -> Int

    /// Messages with what became of them, the latest first.
    func messages(
        _ selection: MessageSelection, limit: Int
    ) async throws(StoreError) -> [(message: RecordedMessage, deliveries: [RecordedDelivery])]

    /// Removes messages from before an instant that no endpoint waits for; returns how many.
    func pruneMessages(before: Date, limit: Int) async throws(StoreError) -> Int
    /// One act of a person on a customer, with its line in the audit trail; a refused one changes nothing else.
    ///
    /// `rederivation` makes the facts of customers who part again.
    func perform(
        _ act: RequestedAct, on customer: CustomerName, by rederivation: Rederivation
    ) async throws(StoreError) -> ActOutcome

    /// Removes, in pieces, what is left of customers who were erased, and of acts that won't be finished.
    func removeLeftovers(at now: Date) async throws(StoreError)

    /// The numbers of all who are one with this customer; empty where there is none.
    func members(of customer: CustomerName) async throws(StoreError) -> [Int64]

    /// At most so many artifacts and notifications of one member after those at `position`; nil where there is none.
    func signedEntries(
        of member: Int64, after position: SignedEntries.Position, limit: Int
    ) async throws(StoreError) -> SignedEntries?

    /// Everything that the record holds of a customer, in the order in which it was written; nil where there is none.
    /// Visits come in pages, those first that came after `visit`.
    func dossier(
        of customer: CustomerName, with parts: CustomerDossier.Parts, visitsAfter visit: Int64
    ) async throws(StoreError) -> CustomerDossier?

    /// Whom an id of any kind names in these realms, by public id first.
    func customers(withAnyID id: String, in realms: [Realm]) async throws(StoreError) -> [Customer]

    /// Appends to the audit trail.
    func audit(_ entry: AuditEntry) async throws(StoreError)

    /// The latest lines of the audit trail first: those before `entry`, and of one customer, where these are given.
    func audit(before entry: Int64?, of publicID: String?, limit: Int) async throws(StoreError) -> [AuditEntry]

    /// Adds a key, with a line in the audit trail; false where one of that name is there, be it revoked.
    func create(_ key: RecordedKey, secret hash: [UInt8], actor: String) async throws(StoreError) -> Bool

    /// From now on it opens nothing. Nil where no key of that name is good.
    func revokeKey(named name: String, at now: Date, actor: String) async throws(StoreError) -> RecordedKey?

    /// All keys in the order in which they were made.
    func keys() async throws(StoreError) -> [RecordedKey]

    /// The key with this secret, unless it was revoked.
    func key(withSecret hash: [UInt8]) async throws(StoreError) -> RecordedKey?

    /// Adds personas, each with a line in the audit trail: all of them, or none where a good one has the name of one of
    /// them and they do not replace it. The names that are taken; empty where all were written.
    func create(
        _ personas: [RecordedPersona], replacing: Bool, actor: String, at now: Date
    ) async throws(StoreError) -> [String]

    /// From now on it stands for nobody. Nil where no good persona has that name.
    func revokePersona(named name: String, at now: Date, actor: String) async throws(StoreError) -> RecordedPersona?

    /// All personas in the order in which they were made.
    func personas() async throws(StoreError) -> [RecordedPersona]

    /// By the record's own number, whether it is good or not.
    func persona(_ number: Int64) async throws(StoreError) -> RecordedPersona?

    /// By what its token says.
    func persona(by publicID: String) async throws(StoreError) -> RecordedPersona?

    /// The work that has waited longest; nobody else takes it before the lease (seconds) has ended. Nil: none is due.
    func claimJob(_ kind: RecordedJob.Kind, at now: Date, lease: TimeInterval) async throws(StoreError) -> RecordedJob?

    /// How many pieces of work are not done, whether somebody has them in hand or not.
    func waiting(_ kind: RecordedJob.Kind) async throws(StoreError) -> Int

    /// That it is done, or given up.
    func finish(_ job: RecordedJob) async throws(StoreError)

    func postpone(_ job: RecordedJob, until instant: Date) async throws(StoreError)

    /// How far something got; nil before it was ever said.
    func mark(_ name: String) async throws(StoreError) -> String?

    func setMark(_ name: String, to value: String) async throws(StoreError)

    /// Throws unless the record answers.
    func check() async throws(StoreError)

    /// Ends all connections. Nothing may be asked afterwards.
    func close() async throws(StoreError)
}

extension Store {
    package var lookUp: (@Sendable (Int64) throws(StoreError) -> Customer?)? { nil }

    package func dossier(
        of customer: CustomerName, with parts: CustomerDossier.Parts
    ) async throws(StoreError) -> CustomerDossier? {
        try await dossier(of: customer, with: parts, visitsAfter: 0)
    }

    package func announceDue(
        at now: Date, limit: Int, _ judge: @escaping @Sendable (Customer) -> Announcement?
    ) async throws(StoreError) -> Int {
        try await announceDue(at: now, limit: limit, under: nil, judge)
    }

    package func announceAll(
        at now: Date, limit: Int, _ judge: @escaping @Sendable (Customer) -> Announcement?
    ) async throws(StoreError) -> Bool {
        try await announceAll(at: now, limit: limit, under: nil, judge)
    }

    /// Adds little, with every customer whom the identities name.
    package func amend<Outcome: Sendable>(
        _ identities: [Identity], in realm: Realm, at now: Date, adding size: Int = 0,
        _ change: @escaping @Sendable (Customer?) -> (Amendment, Outcome)
    ) async throws(StoreError) -> (Customer, Outcome) {
        try await amend(identities, in: realm, at: now, adding: size, adopting: { _ in true }, change)
    }

    package func amend<Outcome: Sendable>(
        _ customer: Customer, by identities: [Identity], at now: Date,
        _ change: @escaping @Sendable (Customer?) -> (Amendment, Outcome)
    ) async throws(StoreError) -> (Customer, Outcome)? {
        try await amend(customer, by: identities, at: now, adding: 0, change)
    }
}
