import Foundation
import TenureCore

/// An act that names thousands of identities, adds thousands of entries, or concerns a customer of whom thousands of
/// purchases are known.
///
/// What it adds is worked out before any transaction. Identities and artifacts are written in pieces, between which
/// others write. The artifacts count with the last transaction, which writes what they prove. Where the customer changed
/// meanwhile, it is worked out again.
struct LargeAmendment<Database: SQLStore, Outcome: Sendable>: Sendable {
    let store: Database
    let plan: PlannedAmendment<Outcome>

    func run() async throws(StoreError) -> (Customer, Outcome)? {
        guard let strongest = plan.identities.min(by: { $0.kind < $1.kind }) else {
            throw .failed("an act names no customer")
        }
        // Large acts on one customer would make each other begin anew.
        return try await store.turns.take(strongest.key(in: plan.realm)) { () throws(StoreError) in
            var pieces = Pieces()
            for number in 0..<Self.tries {
                // Other processes take no turns with this one.
                if number > 2 { try? await Task.sleep(for: .milliseconds(Int.random(in: 1...10 * number))) }
                switch try await attempt(&pieces) {
                case .done(let done):
                    if pieces.haveLeftovers { try await store.removeLeftovers(at: plan.now) }
                    return done
                case .ended: return nil
                case .unfinished: continue
                }
            }
            throw .busy
        }
    }

    private static var tries: Int { 20 }

    /// What several attempts share.
    private struct Pieces {
        /// Stands for this act beside the artifacts that it wrote.
        var act = Int64.random(in: 1 ... .max)
        /// Whose artifacts they are; nil before the first piece.
        var member: Int64?
        var written: Set<[UInt8]> = []
        /// The customer whom it made.
        var newcomer: Int64?
        var haveLeftovers = false

        /// The artifacts written so far are left to the next act, or removed.
        mutating func beginAnew() {
            haveLeftovers = haveLeftovers || member != nil
            (act, member, written) = (.random(in: 1 ... .max), nil, [])
        }
    }

    private func attempt(_ pieces: inout Pieces) async throws(StoreError) -> Attempt<(Customer, Outcome)> {
        var subject: Subject
        switch try await self.subject(newcomer: pieces.newcomer) {
        case .done(let found?): subject = found
        case .done(nil):
            switch try await newSubject() {
            case .done(let made): subject = made
            case .ended: return .ended
            case .unfinished: return .unfinished
            }
            pieces.newcomer = subject.customer.id
        case .ended: return .ended
        case .unfinished:
            // The IDs of a customer who is being erased identify no customer afterward.
            try await store.removeLeftovers(at: plan.now)
            return .unfinished
        }
        if !subject.others.isEmpty {
            guard let joined = try await join(subject) else { return .unfinished }
            subject.customer = joined
        }
        let prepared = try await prepare(subject)
        guard try await claim(subject.unknown, for: prepared) else { return .unfinished }
        guard let artifacts = try await writeArtifacts(of: prepared, &pieces) else {
            pieces.beginAnew()
            return .unfinished
        }
        let attempt = try await finish(prepared, artifacts, pieces)
        if case .unfinished = attempt, pieces.member != nil, try await !isUnderWay(pieces) { pieces.beginAnew() }
        return attempt
    }

    // MARK: Whom it is about

    private struct Subject {
        var customer: Customer
        /// What names them; nil for somebody new.
        let identity: Identity?
        /// Of each other customer whom the identities name, the strongest one.
        let others: [Identity]
        /// What names nobody yet.
        let unknown: [Identity]
    }

    private func read<Value: Sendable>(
        _ body: @escaping @Sendable (Ledger) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let now = plan.now
        return try await store.turns.take(Turns.reading) { () throws(StoreError) in
            try await store.read { session throws(StoreError) in try body(Ledger(session, at: now)) }
        }
    }

    private func write<Value: Sendable>(
        locking identities: some Collection<Identity>, _ keys: [String] = [],
        _ body: @escaping @Sendable (Ledger) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        try await store.writePiece(at: plan.now, locking: identities.map { $0.key(in: plan.realm) } + keys, body)
    }

    /// Returns the customer that the identities name; nil if there is none, unfinished while one of them is being erased.
    private func subject(newcomer: Int64?) async throws(StoreError) -> Attempt<Subject?> {
        let plan = plan
        return try await read { ledger throws(StoreError) in
            let named = try ledger.resolve(plan.identities, in: plan.realm)
            guard !named.areSomeErased else { return .unfinished }
            let found = try ledger.find(named, adopting: plan.adopting, forUpdate: false, limit: 1).known.first
            var customer = found
            if found == nil, let newcomer { customer = try ledger.customer(newcomer) }
            guard let customer else { return .done(nil) }
            let leading = named.known.first { $0.root == customer.id }
            return .done(
                Subject(
                    customer: customer, identity: found == nil ? nil : leading?.identity,
                    others: named.strongestOfEach(but: customer.id), unknown: named.unknown))
        }
    }

    /// Makes a customer with the strongest identities, so that nobody else does.
    private func newSubject() async throws(StoreError) -> Attempt<Subject> {
        let plan = plan
        let identities = plan.identities.sorted { $0.kind < $1.kind }
        let first = Array(identities.prefix(Ledger.mostKeys - plan.keys.count))
        return try await write(locking: first, plan.keys) { ledger throws(StoreError) in
            guard try plan.condition(ledger) else { return .ended }
            let named = try ledger.resolve(first, in: plan.realm)
            guard !named.areSomeErased else { return .unfinished }
            let (customer, _) = try ledger.amend(named, adopting: plan.adopting) { known in
                var amendment = Amendment(of: known)
                if first.contains(where: { $0.kind == .visit }) {
                    amendment.leaveUnbound()
                    amendment.announcement = .never
                }
                return (amendment, ())
            }
            return .done(
                Subject(
                    customer: customer, identity: nil, others: [], unknown: Array(identities.dropFirst(first.count))))
        }
    }

    // MARK: Customers who are one

    /// So many customers are joined by one piece.
    private static var customersPerPiece: Int { 20 }

    /// The customer with those others who are the same; nil where one of them changed meanwhile.
    private func join(_ subject: Subject) async throws(StoreError) -> Customer? {
        let (plan, others) = (plan, subject.others)
        var customer = subject.customer
        let count = try await read { [customer] ledger throws(StoreError) in try ledger.group(of: customer.id).count }
        // More can't be one.
        let candidates = Array(others.prefix(max(0, Ledger.mostMembers - count)))
        for chunk in candidates.chunks(of: Self.customersPerPiece) {
            let lead = [plan.identities.min { $0.kind < $1.kind }, subject.identity].compactMap(\.self)
            let identities = Array(Set(lead + chunk)).sorted { ($0.kind, $0.value) < ($1.kind, $1.value) }
            var attempt = try await write(locking: identities) { ledger throws(StoreError) -> Attempt<Customer?> in
                let named = try ledger.resolve(identities, in: plan.realm)
                guard named.factsSize <= Ledger.mostFactsInOnePiece else { return .unfinished }
                return .done(try ledger.joined(try ledger.find(named, adopting: plan.adopting).known))
            }
            if case .unfinished = attempt { attempt = .done(try await joinLarge(identities, customer)) }
            guard case .done(let joined?) = attempt, joined.id == customer.id else { return nil }
            customer = joined.named(as: customer.member)
        }
        return customer
    }

    /// Puts together what is known of them before the transaction. Nil where one of them changed meanwhile.
    private func joinLarge(_ identities: [Identity], _ customer: Customer) async throws(StoreError) -> Customer? {
        let plan = plan
        let prepared = try await read { ledger throws(StoreError) -> PreparedJoining? in
            let named = try ledger.resolve(identities, in: plan.realm)
            let known = try ledger.find(named, adopting: plan.adopting, forUpdate: false).known
            return try ledger.joining(known).map { PreparedJoining($0) }
        }
        guard let prepared else { return customer }
        return try await write(locking: identities) { ledger throws(StoreError) -> Customer? in
            var ledger = ledger
            ledger.remembered = prepared.remembered
            let named = try ledger.resolve(identities, in: plan.realm)
            let known = try ledger.find(named, adopting: plan.adopting).known
            guard let joining = try ledger.joining(known), prepared.isOf(joining) else { return nil }
            return try ledger.join(joining, as: prepared.encoded.facts, encoded: prepared.encoded)
        }
    }

    // MARK: Pieces

    /// By which nobody is found who sends something, so that no lock is needed for them.
    private static var otherIdentitiesPerPiece: Int { 2 * Ledger.identitiesPerStatement }
    private static var artifactsPerPiece: Int { 64 }
    /// So many artifacts are left to the last transaction.
    private static var artifactsOfLastPiece: Int { 32 }

    private func prepare(_ subject: Subject) async throws(StoreError) -> PreparedAmendment<Outcome> {
        let customer = subject.customer
        let former = try await read { ledger throws(StoreError) in try ledger.knowingOthers(customer) } ?? customer
        let (amendment, outcome) = plan.change(former)
        return PreparedAmendment(of: former, by: subject.identity, amendment, outcome)
    }

    /// Writes the identities, piece by piece. False where one was somebody else's by then, or the customer is gone.
    private func claim(
        _ unknown: [Identity], for prepared: PreparedAmendment<Outcome>
    ) async throws(StoreError) -> Bool {
        for piece in unknown.chunks(of: Ledger.mostKeys) {
            guard try await claim(Array(piece), for: prepared.former, alone: true) else { return false }
        }
        let all = Set(plan.identities)
        let realm = plan.realm
        var others = prepared.amendment.identities.filter { !all.contains($0) }
        // Those of an unbound record are the customer's beside it.
        if !plan.identities.contains(where: { $0.kind == .visit }) {
            others += prepared.amendment.facts.renewals(beyond: prepared.former.facts)
        }
        guard !others.isEmpty else { return true }
        let new = try await read { [others] ledger throws(StoreError) in
            let known = try ledger.members(by: others, in: realm)
            return others.filter { known[$0] == nil }
        }
        for piece in new.chunks(of: Self.otherIdentitiesPerPiece) {
            guard try await claim(Array(piece), for: prepared.former, alone: false) else { return false }
        }
        return true
    }

    private func claim(
        _ identities: [Identity], for customer: Customer, alone: Bool
    ) async throws(StoreError) -> Bool {
        let realm = plan.realm
        return try await write(locking: alone ? identities : []) { ledger throws(StoreError) in
            guard try ledger.isThere(customer) else { return false }
            let count = try ledger.insert(identities, ofMember: customer.member, in: realm)
            return !alone || count == identities.count
        }
    }

    /// Writes all artifacts but the last ones, which are returned. Nil where the customer is gone, or another act took
    /// some of them.
    private func writeArtifacts(
        of prepared: PreparedAmendment<Outcome>, _ pieces: inout Pieces
    ) async throws(StoreError) -> [Artifact]? {
        let (former, artifacts) = (prepared.former, prepared.amendment.artifacts)
        guard !artifacts.isEmpty || pieces.member != nil else { return [] }
        let new = try await read { ledger throws(StoreError) -> [Artifact] in
            let known = try ledger.knownArtifacts(among: artifacts, of: former.member)
            return artifacts.filter { known[$0.sha256]?.doesCount != true }
        }
        if let member = pieces.member {
            // Worked out again, it may be about another one, or prove less.
            let all = Set(artifacts.map(\.sha256))
            if member != former.member || !pieces.written.isSubset(of: all) { pieces.beginAnew() }
        }
        let left = new.filter { !pieces.written.contains($0.sha256) }
        guard left.count > Self.artifactsPerPiece else { return left }
        for piece in Array(left.dropLast(Self.artifactsOfLastPiece)).chunks(of: Self.artifactsPerPiece) {
            let (act, isFirst) = (pieces.act, pieces.member == nil)
            let isWritten = try await write(locking: []) { ledger throws(StoreError) in
                guard try ledger.isThere(former) else { return false }
                if isFirst { try ledger.begin(act, of: former.member) }
                guard try ledger.isUnderWay(act, of: former.member) else { return false }
                try ledger.insert(Array(piece), of: former, isNew: false, act: act)
                return true
            }
            guard isWritten else { return nil }
            pieces.member = former.member
            pieces.written.formUnion(piece.map(\.sha256))
        }
        return Array(left.suffix(Self.artifactsOfLastPiece))
    }

    private func isUnderWay(_ pieces: Pieces) async throws(StoreError) -> Bool {
        guard let member = pieces.member else { return true }
        return try await read { ledger throws(StoreError) in try ledger.isUnderWay(pieces.act, of: member) }
    }

    // MARK: The last transaction

    private func finish(
        _ prepared: PreparedAmendment<Outcome>, _ artifacts: [Artifact], _ pieces: Pieces
    ) async throws(StoreError) -> Attempt<(Customer, Outcome)> {
        let plan = plan
        let (act, member) = (pieces.act, pieces.member)
        return try await write(locking: prepared.identity.map { [$0] } ?? [], plan.keys) { ledger throws(StoreError) in
            guard try plan.condition(ledger) else { return .ended }
            var ledger = ledger
            ledger.remembered = [prepared.former.id: prepared.remembered]
            guard let former = try ledger.unchanged(prepared, in: plan.realm) else { return .unfinished }
            if let member, try !ledger.finish(act, of: member) { return .unfinished }
            let customer = try ledger.write(
                prepared.amendment, of: former, in: plan.realm, encoded: prepared.encoded)
            try ledger.record(prepared.amendment, of: customer, instead: former, artifacts: artifacts)
            try plan.completion(ledger, customer)
            return .done((customer, prepared.outcome))
        }
    }
}
