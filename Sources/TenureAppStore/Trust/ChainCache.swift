import Crypto
import Foundation
import TenureCore

/// The chains that were checked under one configuration, so that many artifacts of one signer need one check.
/// Three bounded tables have validated chains, validated intermediates and rejected pairs. Only certificates that a
/// trusted root signed enter the first two. A rejected pair is a digest and a reason, so a repeated bad chain costs a
/// look-up. Distinct bad chains would cost a signature check each: beyond a budget they are rejected unchecked. A
/// rejection without computing a signature costs none of it.
/// Spellings of JWS headers have a separate table, because comparing bytes with a known header avoids decoding it. An
/// endless number of headers lead to one genuine pair (`x5c[2]` is ignored), so the pair is what is trusted.
package final class ChainCache: Sendable {
    /// The lock covers look-ups only: no signature is checked under it.
    private let tables = Locked(Tables())
    package let trust: TrustConfiguration
    private let budget: Budget

    /// How many bad signatures are computed: `burst` at once, and `perSecond` in the long run. Intermediates and
    /// signers have the same numbers.
    package struct Budget: Sendable {
        let burst: Double
        let perSecond: Double

        package init(burst: Double, perSecond: Double) {
            self.burst = burst
            self.perSecond = perSecond
        }

        /// Chains that fail take about a tenth of one core at most, for each of the two.
        package static let standard = Budget(burst: 1000, perSecond: 200)
    }

    package init(trust: TrustConfiguration, budget: Budget = .standard) {
        self.trust = trust
        self.budget = budget
    }

    /// The chain of signer, intermediate and a root of Production or Sandbox. Certificates in DER.
    func chain(
        leaf: [UInt8],
        intermediate: [UInt8],
        purpose: ChainPurpose
    ) throws(Rejection) -> TrustedChain {
        guard let roots = trust.roots else {
            throw Rejection(.untrustedChain, "only Xcode's certificates are trusted here, and it was signed by another")
        }
        let pair = Pair(leaf: leaf, intermediate: intermediate, purpose: purpose)
        switch tables.withLock({ ($0.chains[pair], $0.refusals[pair]) }) {
        case (let chain?, _): return chain
        case (nil, let rejection?): throw rejection
        case (nil, nil): break
        }
        do {
            let chain = try validate(leaf: leaf, intermediate: intermediate, roots: roots, purpose: purpose)
            tables.withLock { $0.chains.keep(chain, for: pair) }
            return chain
        } catch {
            // An unchecked chain may be valid.
            if error.code != .tooManyUnknownSigners { tables.withLock { $0.refusals.keep(error, for: pair) } }
            throw error
        }
    }

    /// The chain of the one certificate that Xcode signs with.
    func localChain(certificate: [UInt8], purpose: ChainPurpose) throws(Rejection) -> TrustedChain {
        guard let signers = trust.localSigners else {
            throw Rejection(
                .untrustedChain, "it has one certificate, as artifacts of Xcode do, and Xcode isn't accepted here")
        }
        return try locallyTrusted(certificate: certificate, anchors: signers, purpose: purpose)
    }

    static let maximumHeader = 16 * 1024

    /// What is known about a header that was seen before with exactly these bytes.
    package func known(header: UnsafeBufferPointer<UInt8>) -> KnownHeader? {
        tables.withLock { $0.headers.first { $0.hasBytes(header) } }
    }

    /// Genuine headers have 4.5 KB; larger ones than `maximumHeader` are decoded each time.
    package func remember(header: ArraySlice<UInt8>, of chain: TrustedChain) {
        guard header.count <= Self.maximumHeader else { return }
        let known = KnownHeader(bytes: Array(header), chain: chain)
        tables.withLock { $0.keep(known) }
    }

    private func validate(
        leaf: [UInt8],
        intermediate: [UInt8],
        roots: TrustAnchors,
        purpose: ChainPurpose
    ) throws(Rejection) -> TrustedChain {
        let id = Intermediate(der: intermediate, purpose: purpose)
        let signer = try ParsedCertificate(der: leaf)
        let known: IssuedIntermediate
        if let found = tables.withLock({ $0.intermediates[id] }) {
            known = found
        } else {
            known = try issued(ParsedCertificate(der: intermediate), id: id, roots: roots)
        }
        return try charging(to: .signers) { (charge: SignatureCharge) throws(Rejection) in
            try trustedChain(
                leaf: signer, intermediate: known.certificate, anchor: known.anchor, purpose: purpose, charging: charge)
        }
    }

    private func issued(
        _ authority: ParsedCertificate, id: Intermediate, roots: TrustAnchors
    ) throws(Rejection) -> IssuedIntermediate {
        let anchor = try charging(to: .intermediates) { (charge: SignatureCharge) throws(Rejection) in
            try authority.anchor(among: roots, purpose: id.purpose, charging: charge)
        }
        let issued = IssuedIntermediate(certificate: authority, anchor: anchor)
        tables.withLock { $0.intermediates.keep(issued, for: id) }
        return issued
    }

    /// Takes from a budget for each signature that `check` computes, and returns it if the check succeeds: a valid
    /// chain is remembered, and costs nothing later.
    private func charging<Value>(
        to reserve: Reserve,
        _ check: (SignatureCharge) throws(Rejection) -> Value
    ) throws(Rejection) -> Value {
        var charged = 0.0
        let value = try check { () throws(Rejection) in
            guard tables.withLock({ $0.take(from: reserve, at: .now, of: budget) }) else {
                throw Rejection(
                    .tooManyUnknownSigners, "too many unknown signers came in a short time; send it again later")
            }
            charged += 1
        }
        tables.withLock { $0.giveBack(charged, to: reserve, of: budget) }
        return value
    }
}

/// Which budget pays for computing a signature. They are separate, so that endless invented intermediates leave enough
/// for a new signer under an intermediate that a trusted root signed.
private enum Reserve: Hashable {
    case intermediates
    case signers
}

/// How many more bad signatures will be computed now.
private struct Allowance {
    var left: Double
    var refilled: ContinuousClock.Instant
}

private struct Tables {
    var chains = BoundedTable<Pair, TrustedChain>(capacity: 64)
    /// Separate from the chains, so that bad ones never displace a good one.
    var refusals = BoundedTable<Pair, Rejection>(capacity: 1024)
    var intermediates = BoundedTable<Intermediate, IssuedIntermediate>(capacity: 32)
    private(set) var headers: [KnownHeader] = []
    private var nextHeader = 0
    private var allowances: [Reserve: Allowance] = [:]

    mutating func take(from reserve: Reserve, at now: ContinuousClock.Instant, of budget: ChainCache.Budget) -> Bool {
        var allowance = allowances[reserve] ?? Allowance(left: budget.burst, refilled: now)
        let seconds = (now - allowance.refilled) / .seconds(1)
        allowance.left = min(budget.burst, allowance.left + max(0, seconds) * budget.perSecond)
        allowance.refilled = max(now, allowance.refilled)
        let isEnough = allowance.left >= 1
        if isEnough { allowance.left -= 1 }
        allowances[reserve] = allowance
        return isEnough
    }

    mutating func giveBack(_ amount: Double, to reserve: Reserve, of budget: ChainCache.Budget) {
        guard amount > 0, let allowance = allowances[reserve] else { return }
        allowances[reserve]?.left = min(budget.burst, allowance.left + amount)
    }

    mutating func keep(_ known: KnownHeader) {
        // Several tasks may have checked it at the same time.
        guard !headers.contains(where: { $0.bytes == known.bytes }) else { return }
        if headers.count < 16 {
            headers.append(known)
        } else {
            headers[nextHeader % headers.count] = known
            nextHeader = (nextHeader + 1) % headers.count
        }
    }
}

/// A header with a valid signature. A reference, like its chain.
package final class KnownHeader: Sendable {
    fileprivate let bytes: [UInt8]
    let chain: TrustedChain
    /// The hash of its bytes, to be continued with what follows: a fifth of the cost of hashing everything.
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

private struct IssuedIntermediate {
    let certificate: ParsedCertificate
    let anchor: ParsedCertificate
}

/// Two certificates, identified by a digest, so that an attacker's certificates take no memory.
private struct Pair: Hashable {
    let digest: SHA256Digest
    let purpose: ChainPurpose

    init(leaf: [UInt8], intermediate: [UInt8], purpose: ChainPurpose) {
        var hash = SHA256()
        // The length distinguishes two ways of dividing the same bytes.
        withUnsafeBytes(of: leaf.count) { hash.update(bufferPointer: $0) }
        hash.update(data: leaf)
        hash.update(data: intermediate)
        digest = hash.finalize()
        self.purpose = purpose
    }
}

private struct Intermediate: Hashable {
    let digest: SHA256Digest
    let purpose: ChainPurpose

    init(der: [UInt8], purpose: ChainPurpose) {
        digest = SHA256.hash(data: der)
        self.purpose = purpose
    }
}

/// Starts again when it is full: its content can always be computed again.
private struct BoundedTable<Key: Hashable, Value> {
    private let capacity: Int
    private var values: [Key: Value] = [:]

    init(capacity: Int) {
        self.capacity = capacity
    }

    subscript(key: Key) -> Value? { values[key] }

    mutating func keep(_ value: Value, for key: Key) {
        if values.count >= capacity { values.removeAll(keepingCapacity: true) }
        values[key] = value
    }
}
