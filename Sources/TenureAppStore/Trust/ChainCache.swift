import Crypto
import Foundation
import TenureCore

/// A cache of checked certificate chains, so that many artifacts by the same signer need only one check.
///
/// Three tables of limited size hold valid chains, valid intermediates, and rejected pairs. A pair is the certificate
/// of a signer and the intermediate certificate above it. The third table has only a digest and the reason of each
/// rejected pair, so a repeated bad chain costs only a lookup.
///
/// An attacker can invent any number of bad chains, and each would cost a signature check. So there is a budget for
/// failed signature checks. Once the budget is used up, unknown chains are rejected without a check. Rejections that
/// need no signature check don't use the budget.
///
/// A separate list has the headers of verified JWS, because comparing bytes with a known header is faster than
/// decoding it. A header that isn't in the list may still have a known pair, so its chain is looked up in the tables.
package final class ChainCache: Sendable {
    /// The tables. The lock is held only while they are read or changed, and never while a signature is checked.
    private let tables = Locked(Tables())
    /// The trusted certificates of each environment.
    package let trust: TrustConfiguration
    private let budget: Budget

    /// How many failed signature checks are allowed: `burst` at once, and `perSecond` on average. Intermediates and
    /// signers have separate budgets of this size.
    package struct Budget: Sendable {
        let burst: Double
        let perSecond: Double

        package init(burst: Double, perSecond: Double) {
            self.burst = burst
            self.perSecond = perSecond
        }

        /// With this budget, bad chains use at most about a tenth of one core for intermediates, and as much for
        /// signers.
        package static let standard = Budget(burst: 1000, perSecond: 200)
    }

    package init(trust: TrustConfiguration, budget: Budget = .standard) {
        self.trust = trust
        self.budget = budget
    }

    /// Returns the chain of a signer's certificate (`leaf`), an intermediate, and a trusted root of Production or
    /// Sandbox. The certificates are in DER.
    func chain(leaf: [UInt8], intermediate: [UInt8], purpose: ChainPurpose) throws(Rejection) -> TrustedChain {
        guard let roots = trust.roots else {
            throw Rejection(
                .untrustedChain, "only Xcode's certificates are trusted, and another certificate signed the artifact",
                missingTrust: .appStore)
        }
        let pair = ChainID(leaf: leaf, intermediate: intermediate, purpose: purpose)
        let (knownChain, knownRejection) = tables.withLock { ($0.chains[pair], $0.rejections[pair]) }
        if let knownChain { return knownChain }
        if let knownRejection { throw knownRejection }
        do {
            let chain = try validate(leaf: leaf, intermediate: intermediate, roots: roots, purpose: purpose)
            tables.withLock { $0.chains.insert(chain, for: pair) }
            return chain
        } catch {
            // Don't remember this rejection: the chain wasn't checked, so it may be valid.
            if error.code != .tooManyUnknownSigners { tables.withLock { $0.rejections.insert(error, for: pair) } }
            throw error
        }
    }

    /// Returns the chain of a single certificate, with which Xcode signs.
    func localChain(certificate: [UInt8], purpose: ChainPurpose) throws(Rejection) -> TrustedChain {
        guard let signers = trust.localSigners else {
            throw Rejection(
                .untrustedChain,
                "the artifact has one certificate, as Xcode's artifacts do, and artifacts of Xcode aren't accepted",
                missingTrust: .xcode)
        }
        return try locallyTrusted(certificate: certificate, anchors: signers, purpose: purpose)
    }

    /// The maximum size of a header in the cache, in bytes.
    static let maximumHeader = 16 * 1024

    /// Returns the known header with exactly these bytes; nil if there is no such header.
    package func known(header: UnsafeBufferPointer<UInt8>) -> KnownHeader? {
        tables.withLock { $0.headers.first { $0.hasBytes(header) } }
    }

    /// Remembers the header of a JWS after its signature was verified. Headers larger than `maximumHeader` aren't
    /// remembered. Genuine headers have 4.5 KB.
    package func remember(header: ArraySlice<UInt8>, of chain: TrustedChain) {
        guard header.count <= Self.maximumHeader else { return }
        let known = KnownHeader(bytes: Array(header), chain: chain)
        tables.withLock { $0.add(known) }
    }

    /// Checks a chain that isn't in the tables. An intermediate that is in the table of intermediates isn't checked
    /// again.
    private func validate(
        leaf: [UInt8], intermediate: [UInt8], roots: TrustAnchors, purpose: ChainPurpose
    ) throws(Rejection) -> TrustedChain {
        let id = ChainID(intermediate: intermediate, purpose: purpose)
        let signer = try ParsedCertificate(der: leaf)
        let issued: IssuedIntermediate
        if let known = tables.withLock({ $0.intermediates[id] }) {
            issued = known
        } else {
            let certificate = try ParsedCertificate(der: intermediate)
            let anchor = try withBudget(for: .intermediates) { (useBudget: BudgetUse) throws(Rejection) in
                try certificate.anchor(among: roots, purpose: purpose, useBudget: useBudget)
            }
            issued = IssuedIntermediate(certificate: certificate, anchor: anchor)
            tables.withLock { $0.intermediates.insert(issued, for: id) }
        }
        return try withBudget(for: .signers) { (useBudget: BudgetUse) throws(Rejection) in
            try trustedChain(
                leaf: signer, intermediate: issued.certificate, anchor: issued.anchor, purpose: purpose,
                useBudget: useBudget)
        }
    }

    /// Runs `check`, and subtracts each signature check in it from the budget. If `check` succeeds, its signature
    /// checks are given back, because the budget is only for failed checks.
    private func withBudget<Value>(
        for kind: BudgetKind, _ check: (BudgetUse) throws(Rejection) -> Value
    ) throws(Rejection) -> Value {
        var checksUsed = 0.0
        let value = try check { () throws(Rejection) in
            guard tables.withLock({ $0.useCheck(from: kind, at: .now, of: budget) }) else {
                throw Rejection(
                    .tooManyUnknownSigners,
                    "too many unknown signers came in a short time; send the artifact again later")
            }
            checksUsed += 1
        }
        tables.withLock { $0.giveBack(checksUsed, to: kind, of: budget) }
        return value
    }
}

/// What a budget for failed signature checks is for. Intermediates and signers have separate budgets, so that many
/// invented intermediates don't prevent the check of a new signer under a genuine intermediate.
private enum BudgetKind: Hashable { case intermediates, signers }

/// The number of failed signature checks that one budget still allows.
private struct Allowance {
    var checksLeft: Double
    /// When `checksLeft` was last refilled. It grows by `Budget.perSecond` each second.
    var refilled: ContinuousClock.Instant
}

/// The contents of the cache.
private struct Tables {
    /// The valid chains.
    var chains = BoundedTable<ChainID, TrustedChain>(capacity: 64)
    /// The rejected pairs. This table is separate from `chains`, so that bad chains never displace a valid chain.
    var rejections = BoundedTable<ChainID, Rejection>(capacity: 1024)
    /// The valid intermediates.
    var intermediates = BoundedTable<ChainID, IssuedIntermediate>(capacity: 32)
    /// The headers of verified JWS, at most 16.
    private(set) var headers: [KnownHeader] = []
    /// The index of the header that is replaced next, once there are 16 headers.
    private var nextHeader = 0
    /// What is left of each budget. A missing budget is full.
    private var allowances: [BudgetKind: Allowance] = [:]

    /// Subtracts one signature check from a budget, after adding the checks that the passed time allows. Returns false
    /// if the budget is used up.
    mutating func useCheck(from kind: BudgetKind, at now: ContinuousClock.Instant, of budget: ChainCache.Budget) -> Bool
    {
        var allowance = allowances[kind] ?? Allowance(checksLeft: budget.burst, refilled: now)
        let seconds = (now - allowance.refilled) / .seconds(1)
        allowance.checksLeft = min(budget.burst, allowance.checksLeft + max(0, seconds) * budget.perSecond)
        allowance.refilled = max(now, allowance.refilled)
        let isEnough = allowance.checksLeft >= 1
        if isEnough { allowance.checksLeft -= 1 }
        allowances[kind] = allowance
        return isEnough
    }

    /// Gives signature checks back to a budget, because the checked certificate is valid.
    mutating func giveBack(_ checks: Double, to kind: BudgetKind, of budget: ChainCache.Budget) {
        guard let allowance = allowances[kind] else { return }
        allowances[kind]?.checksLeft = min(budget.burst, allowance.checksLeft + checks)
    }

    /// Adds a header. If there are already 16 headers, the new header replaces the oldest header.
    mutating func add(_ header: KnownHeader) {
        // Another task may have added the same header meanwhile.
        guard !headers.contains(where: { $0.bytes == header.bytes }) else { return }
        if headers.count < 16 {
            headers.append(header)
        } else {
            headers[nextHeader] = header
            nextHeader = (nextHeader + 1) % headers.count
        }
    }
}

/// A header with a valid signature. This type is a class, so that many threads share one copy of a header.
package final class KnownHeader: Sendable {
    fileprivate let bytes: [UInt8]
    let chain: TrustedChain
    /// The hash state after the header's bytes. Continuing it with the payload costs a fifth of hashing the whole JWS.
    let hash: SHA256

    fileprivate init(bytes: [UInt8], chain: TrustedChain) {
        self.bytes = bytes
        self.chain = chain
        var hash = SHA256()
        hash.update(data: bytes)
        self.hash = hash
    }

    fileprivate func hasBytes(_ header: UnsafeBufferPointer<UInt8>) -> Bool {
        guard bytes.count == header.count else { return false }
        return bytes.withUnsafeBytes { bytes in
            guard let left = bytes.baseAddress, let right = header.baseAddress else { return false }
            return memcmp(left, right, header.count) == 0
        }
    }
}

/// An intermediate certificate, and the trusted root that signed it.
private struct IssuedIntermediate {
    let certificate: ParsedCertificate
    let anchor: ParsedCertificate
}

/// A signer and an intermediate, or an intermediate alone, identified by a digest, so that an attacker's certificates
/// use little memory.
private struct ChainID: Hashable {
    let digest: SHA256Digest
    let purpose: ChainPurpose

    init(leaf: [UInt8] = [], intermediate: [UInt8], purpose: ChainPurpose) {
        var hash = SHA256()
        // Include the length. Otherwise the same bytes, divided differently into two certificates, would have the same
        // digest.
        withUnsafeBytes(of: leaf.count) { hash.update(bufferPointer: $0) }
        hash.update(data: leaf)
        hash.update(data: intermediate)
        digest = hash.finalize()
        self.purpose = purpose
    }
}

/// A table of limited size. When it is full, all entries are removed, because they can be computed again.
private struct BoundedTable<Key: Hashable, Value> {
    private let capacity: Int
    private var values: [Key: Value] = [:]

    init(capacity: Int) { self.capacity = capacity }

    subscript(key: Key) -> Value? { values[key] }

    mutating func insert(_ value: Value, for key: Key) {
        if values.count >= capacity { values.removeAll(keepingCapacity: true) }
        values[key] = value
    }
}
