import Crypto
import Foundation

/// The chains that were checked under one configuration, so that many artifacts of one signer cost one check.
///
/// Three bounded tables. Validated chains and validated intermediates: only certificates that a trusted root signed
/// enter them. Refused pairs: a digest and a reason each, so that a repeated bad chain costs a look-up. A stream of
/// *distinct* bad chains would cost a signature check each: beyond a budget they are turned away unchecked.
///
/// How a JWS header is spelled has a table of its own, since comparing its bytes with a known header spares decoding
/// it. An endless number of headers lead to one genuine pair (`x5c[2]` is ignored), so the pair is what is trusted.
package final class ChainCache: @unchecked Sendable {
    // Sound: all mutable state is `tables`, and every use of it stands between `lock.lock()` and `lock.unlock()`
    // in `withTables`. `Mutex` would say so by its type, but needs a newer system than the client supports.
    private let lock = NSLock()
    private var tables = Tables()

    package let trust: TrustConfiguration
    private let budget: Budget

    /// How many distinct bad chains are checked: `burst` at once, and `perSecond` in the long run.
    package struct Budget: Sendable {
        package let burst: Double
        package let perSecond: Double

        package init(burst: Double, perSecond: Double) {
            self.burst = burst
            self.perSecond = perSecond
        }

        /// At most about a tenth of one core goes into chains that fail.
        package static let standard = Budget(burst: 1000, perSecond: 200)
    }

    package init(trust: TrustConfiguration, budget: Budget = .standard) {
        self.trust = trust
        self.budget = budget
        tables.allowance = budget.burst
    }

    /// The chain of signer, intermediate and a root of Production or Sandbox. Certificates in DER.
    package func chain(
        leaf: [UInt8],
        intermediate: [UInt8],
        purpose: ChainPurpose
    ) throws(Rejection) -> TrustedChain {
        guard let roots = trust.roots else {
            throw Rejection(.untrustedChain, "only Xcode's certificates are trusted here, and it was signed by another")
        }
        let pair = Pair(leaf: leaf, intermediate: intermediate, purpose: purpose)
        switch withTables({ ($0.chains[pair], $0.refusals[pair]) }) {
        case (let chain?, _): return chain
        case (nil, let rejection?): throw rejection
        case (nil, nil): break
        }
        guard withTables({ $0.hasAllowance(at: .now, of: budget) }) else {
            throw Rejection(
                .tooManyUnknownSigners, "too many unknown signers came in a short time; send it again later")
        }
        do {
            let chain = try validate(leaf: leaf, intermediate: intermediate, roots: roots, purpose: purpose)
            withTables { $0.chains.keep(chain, for: pair) }
            return chain
        } catch {
            withTables {
                $0.refusals.keep(error, for: pair)
                // What could not even be read cost no more than a look at a sound artifact.
                if error.code != .malformed, error.code != .tooLarge { $0.allowance -= 1 }
            }
            throw error
        }
    }

    /// The chain of one certificate that Xcode signs with.
    package func localChain(certificate: [UInt8], purpose: ChainPurpose) throws(Rejection) -> TrustedChain {
        guard let signers = trust.localSigners else {
            throw Rejection(
                .untrustedChain, "it carries one certificate, as Xcode signs, and Xcode is not accepted here")
        }
        return try locallyTrusted(certificate: certificate, anchors: signers, purpose: purpose)
    }

    /// The chain of a header that was seen before with exactly these bytes.
    package func chain(ofHeader header: UnsafeBufferPointer<UInt8>) -> TrustedChain? {
        lock.lock()
        defer { lock.unlock() }
        for known in tables.headers where known.bytes.count == header.count {
            let isEqual = known.bytes.withUnsafeBytes { bytes in
                guard let left = bytes.baseAddress, let right = header.baseAddress else { return false }
                return memcmp(left, right, header.count) == 0
            }
            if isEqual { return known.chain }
        }
        return nil
    }

    package func remember(header: [UInt8], of chain: TrustedChain) {
        withTables { $0.keep(header: header, of: chain) }
    }

    private func validate(
        leaf: [UInt8],
        intermediate: [UInt8],
        roots: TrustAnchors,
        purpose: ChainPurpose
    ) throws(Rejection) -> TrustedChain {
        let id = Intermediate(der: intermediate, purpose: purpose)
        let signer = try ParsedCertificate(der: leaf)
        if let known = withTables({ $0.intermediates[id] }) {
            return try trustedChain(
                leaf: signer, intermediate: known.certificate, anchor: known.anchor, purpose: purpose)
        }
        let authority = try ParsedCertificate(der: intermediate)
        let anchor = try authority.anchor(among: roots, purpose: purpose)
        withTables { $0.intermediates.keep(IssuedIntermediate(certificate: authority, anchor: anchor), for: id) }
        return try trustedChain(leaf: signer, intermediate: authority, anchor: anchor, purpose: purpose)
    }

    /// The lock covers look-ups only: no signature is checked under it.
    private func withTables<Value>(_ body: (inout Tables) -> Value) -> Value {
        lock.lock()
        defer { lock.unlock() }
        return body(&tables)
    }
}

private struct Tables {
    var chains = BoundedTable<Pair, TrustedChain>(capacity: 64)
    /// Apart from the chains, so that bad ones never push out a good one.
    var refusals = BoundedTable<Pair, Rejection>(capacity: 1024)
    var intermediates = BoundedTable<Intermediate, IssuedIntermediate>(capacity: 32)
    private(set) var headers: [KnownHeader] = []
    private var nextHeader = 0
    /// How many more bad chains will be checked now.
    var allowance: Double = 0
    private var refilled: ContinuousClock.Instant?

    mutating func hasAllowance(at now: ContinuousClock.Instant, of budget: ChainCache.Budget) -> Bool {
        if let refilled {
            let seconds = (now - refilled) / .seconds(1)
            allowance = min(budget.burst, allowance + seconds * budget.perSecond)
        }
        refilled = now
        return allowance >= 1
    }

    mutating func keep(header: [UInt8], of chain: TrustedChain) {
        let known = KnownHeader(bytes: header, chain: chain)
        if headers.count < 16 {
            headers.append(known)
        } else {
            headers[nextHeader % headers.count] = known
            nextHeader = (nextHeader + 1) % headers.count
        }
    }
}

private struct KnownHeader {
    let bytes: [UInt8]
    let chain: TrustedChain
}

private struct IssuedIntermediate {
    let certificate: ParsedCertificate
    let anchor: ParsedCertificate
}

/// Two certificates, known by a digest so that what an attacker sends takes no room.
private struct Pair: Hashable {
    let digest: SHA256Digest
    let purpose: ChainPurpose

    init(leaf: [UInt8], intermediate: [UInt8], purpose: ChainPurpose) {
        var hash = SHA256()
        // The length keeps two ways of cutting the same bytes apart.
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

/// Starts again when it is full: its content can always be computed anew.
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
